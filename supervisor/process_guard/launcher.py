"""The process guard: starts providers below reapers and answers for their ends (FC-03, contract §6 promise 7).

Owns the spawner with its restarts, the record made before use, the deadline of a launch and the undo of one
that failed. It must not know providers, sessions or protocols.
"""

from __future__ import annotations

import errno
import os
import socket
from contextlib import ExitStack
from itertools import count
from pathlib import Path

import attrs
import trio

from supervisor.failpoints import failpoints
from supervisor.process_guard.control import LaunchFailure, ReaperControl
from supervisor.process_guard.frames import encode_frame
from supervisor.process_guard.journal import SUFFIX, DiskRecordFile, InstanceJournal, RecordFile
from supervisor.process_guard.marks import INSTANCE_MARK, LAUNCH_MARK
from supervisor.process_guard.pipes import PipeSink, PipeSource
from supervisor.process_guard.port import (
    LaunchError,
    LaunchFailed,
    LaunchRequest,
    ProgramNotExecutable,
    ProgramNotFound,
    SpawnerUnavailable,
    WorkingDirectoryMissing,
)
from supervisor.process_guard.process_table import LinuxProcessTable, ProcessTable
from supervisor.process_guard.provider_process import ProviderProcess
from supervisor.process_guard.spawner_process import SpawnerLost, SpawnerProcess
from supervisor.restart_intensity import RestartIntensity

LAUNCH_ATTEMPTS = 2
"""A launch that meets a dead spawner is tried once more with a new one."""


@attrs.frozen
class GuardLimits:
    """The bounds of the process guard."""

    launch_timeout_seconds: float = 15.0
    """For one launch with everything in it."""
    spawner_answer_seconds: float = 5.0
    """After so long without a reaper the spawner is taken for dead."""
    spawner_restarts: RestartIntensity = attrs.field(factory=RestartIntensity)
    spawner_end_seconds: float = 5.0


class ProcessGuard:
    """`ProcessLauncher` in production.

    `start` before the daemon has its first thread, `launch` from any task, `close` when every process it
    launched is closed.
    """

    def __init__(
        self,
        instances: Path,
        instance_id: str,
        *,
        limits: GuardLimits | None = None,
        table: ProcessTable | None = None,
        record_file: RecordFile | None = None,
    ) -> None:
        """
        Args:
            instances: the folder of records, one file for each instance; `sweep` reads it.
            instance_id: of this run of the daemon, never used before; becomes a file name and a mark.
        """
        self._mark = {INSTANCE_MARK: instance_id}
        self._limits = GuardLimits() if limits is None else limits
        self._table = LinuxProcessTable() if table is None else table
        self._instances = instances
        file = DiskRecordFile(instances / f"{instance_id}{SUFFIX}") if record_file is None else record_file
        self._journal = InstanceJournal(file, self._table.boot_id())
        self._launches = count(1)
        self._living: dict[int, ProviderProcess] = {}
        self._spawner: SpawnerProcess | None = None
        self._restarts: tuple[float, ...] = ()
        self._open = False

    @property
    def spawner_pid(self) -> int | None:
        """For diagnosis; None while there is none."""
        return None if self._spawner is None else self._spawner.pid

    def start(self) -> None:
        """Record this daemon and start the spawner. Needs no event loop; to be called once.

        Raises:
            OSError: the folder cannot be written.
            SpawnerUnavailable: the spawner cannot be started.
        """
        self._instances.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._journal.record("daemon", self._table.rows()[self._table.own_pid()].identity)
        self._open = True
        self._start_spawner()

    async def launch(self, request: LaunchRequest) -> ProviderProcess:
        """See `ProcessLauncher.launch`. The marks are added to the environment asked for."""
        launch = next(self._launches)
        mark = self._mark | {LAUNCH_MARK: str(launch)}
        order = encode_order(request, mark)
        with trio.move_on_after(self._limits.launch_timeout_seconds):
            for _ in range(LAUNCH_ATTEMPTS):
                spawner = self._living_spawner()
                try:
                    return await self._launch_by(spawner, request, launch, mark, order)
                except SpawnerLost:
                    self._discard(spawner)
                except OSError as fault:
                    raise LaunchFailed(f"{request.label}: {fault}") from fault
            raise SpawnerUnavailable(
                f"{request.label}: the spawner was lost {LAUNCH_ATTEMPTS} times in a row"
            )
        raise LaunchFailed(f"{request.label}: not started within {self._limits.launch_timeout_seconds} s")

    async def close(self) -> None:
        """End the spawner, and with it what was not closed; remove the record if nothing can be left. Shielded."""
        self._open = False
        for process in self._living.values():
            process.kill_tree()
        if self._spawner is not None:
            await self._spawner.end(self._limits.spawner_end_seconds)
            self._spawner = None
        if not self._living:
            self._journal.remove()

    async def _launch_by(
        self, spawner: SpawnerProcess, request: LaunchRequest, launch: int, mark: dict[str, str], order: bytes
    ) -> ProviderProcess:
        with ExitStack() as undo:
            control, streams = await self._open_streams(spawner, undo)
            started = False
            try:
                await self._begin(spawner, control, request, launch, order)
                started = True
            finally:
                if not started:
                    await control.dismiss()
                    self._forget(launch)
            undo.pop_all()
        process = ProviderProcess(
            request.label,
            control,
            streams,
            mark=mark,
            table=self._table,
            on_closed=lambda: self._forget(launch),
        )
        self._living[launch] = process
        return process

    async def _open_streams(
        self, spawner: SpawnerProcess, undo: ExitStack
    ) -> tuple[ReaperControl, tuple[PipeSink, PipeSource, PipeSource]]:
        """Make a control socket and three pipes, and send the child's ends away."""
        with ExitStack() as theirs:
            control_end, reaper_end = socket.socketpair()
            control = ReaperControl(control_end)
            undo.callback(control.close)
            theirs.callback(reaper_end.close)
            stdin_read, stdin_write = os.pipe()
            stdin = PipeSink(stdin_write)
            undo.callback(stdin.close)
            theirs.callback(os.close, stdin_read)
            child_ends, sources = [reaper_end.fileno(), stdin_read], []
            for _ in ("stdout", "stderr"):
                read_end, write_end = os.pipe()
                sources.append(PipeSource(read_end))
                undo.callback(sources[-1].close)
                theirs.callback(os.close, write_end)
                child_ends.append(write_end)
            await spawner.send(child_ends)
        return control, (stdin, sources[0], sources[1])

    async def _begin(
        self,
        spawner: SpawnerProcess,
        control: ReaperControl,
        request: LaunchRequest,
        launch: int,
        order: bytes,
    ) -> None:
        """Meet the reaper, record it, give it its order, record the provider."""
        with trio.move_on_after(self._limits.spawner_answer_seconds) as answer:
            await control.until(lambda: control.reaper or control.failure)
        if answer.cancelled_caught:
            self._discard(spawner)  # now, since the undo waits for the descriptors it holds
        if control.failure is not None:
            raise launch_error(request, control.failure)
        if control.reaper is None:
            raise SpawnerLost("no reaper came")
        if failpoints.on:
            await failpoints.reach("provider.record.before")
        self._journal.record("reaper", control.reaper, launch=launch, label=request.label)
        if failpoints.on:
            await failpoints.reach("provider.record.after")
        await control.send(order)
        await control.until(lambda: control.provider or control.failure)
        if control.failure is not None:
            raise launch_error(request, control.failure)
        if control.provider is None:
            raise LaunchFailed(f"{request.label}: the reaper ended before the program started")
        self._journal.record("provider", control.provider, launch=launch, label=request.label)

    def _forget(self, launch: int) -> None:
        self._living.pop(launch, None)
        self._journal.forget(launch)

    def _living_spawner(self) -> SpawnerProcess:
        if not self._open:
            raise SpawnerUnavailable("the process guard is not open")
        if self._spawner is not None and not self._spawner.check_alive():
            self._discard(self._spawner)
        if self._spawner is not None:
            return self._spawner
        intensity = self._limits.spawner_restarts
        restarts = intensity.admit(self._restarts, trio.current_time())
        if restarts is None:
            raise SpawnerUnavailable(
                f"the spawner was restarted {intensity.restarts_max} times in {intensity.window_seconds:g} s"
            )
        self._restarts = restarts
        return self._start_spawner()

    def _start_spawner(self) -> SpawnerProcess:
        try:
            self._spawner = SpawnerProcess.start(self._mark)
            identity = self._spawner.identity
            if identity is not None:
                self._journal.record("spawner", identity)
        except OSError as fault:
            raise SpawnerUnavailable(f"the spawner cannot be started: {fault}") from fault
        return self._spawner

    def _discard(self, spawner: SpawnerProcess) -> None:
        spawner.discard()
        if self._spawner is spawner:
            self._spawner = None


def encode_order(request: LaunchRequest, mark: dict[str, str]) -> bytes:
    """The launch order as a frame. Raises LaunchFailed for text that the host cannot take."""
    environment = request.environment | mark
    variables = (f"{name}={value}" for name, value in environment.items())
    texts = (request.cwd, str(len(request.argv)), *request.argv, *variables)
    try:
        if any(not name or "=" in name for name in environment):
            raise ValueError("illegal environment variable name")
        return encode_frame((b"launch", *map(os.fsencode, texts)))
    except ValueError as fault:
        raise LaunchFailed(f"{request.label}: {fault}") from fault


def launch_error(request: LaunchRequest, failure: LaunchFailure) -> LaunchError:
    """What a failure reported by the reaper means."""
    reason = os.strerror(failure.errno)
    if failure.stage == "working_directory":
        return WorkingDirectoryMissing(f"{request.label}: {request.cwd}: {reason}")
    program = request.argv[0]
    if failure.stage == "program":
        if not failure.present and failure.errno in (errno.ENOENT, errno.ENOTDIR):
            return ProgramNotFound(f"{request.label}: {program}: {reason}")
        if failure.errno == errno.ENOENT:
            return ProgramNotExecutable(f"{request.label}: {program}: its interpreter is missing")
        if failure.errno in (errno.EACCES, errno.ENOEXEC, errno.ENOTDIR, errno.EISDIR, errno.ELIBBAD):
            return ProgramNotExecutable(f"{request.label}: {program}: {reason}")
    return LaunchFailed(f"{request.label}: {program}: {reason}")
