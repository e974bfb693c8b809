"""How bytes get to a provider and back: the seam below a connection, with a child process's pipes behind it.

Owns what a connection may expect of any way to a provider, and the way through a process. The other way, to an
app-server that runs already, is `web_socket`. Neither knows lines, protocols or scopes.
"""

from collections.abc import Mapping
from typing import Protocol

import attrs
import trio

from runtime.providers.launch import LaunchSpecification
from runtime.providers.records import NoRecords, ReadRecord, RecordLimits, RecordReader
from supervisor.process_guard.port import ByteSink, ByteSource, LadderTimes, ProcessHandle, ProcessLauncher


class ConnectFailed(Exception):
    """No connection to a server that was to run already. `refused_with` is the HTTP status of a refused handshake."""

    def __init__(self, reason: str, refused_with: int | None = None) -> None:
        super().__init__(reason)
        self.refused_with = refused_with


class ProviderTransport(Protocol):
    """One open way to a provider, owned by the connection that opened it."""

    @property
    def label(self) -> str:
        """For people: logs and the sweeper."""

    @property
    def pid(self) -> int | None:
        """Of the provider's process, where we started one."""

    @property
    def input(self) -> ByteSink:
        """What the provider reads: whole lines."""

    @property
    def output(self) -> ByteSource:
        """What it says, as lines; its end comes last."""

    @property
    def errors(self) -> ByteSource | None:
        """What it says beside the protocol, where there is such a way."""

    @property
    def outlives_us(self) -> bool:
        """The provider goes on without this connection: what it does for us has to be stopped by words."""

    @property
    def ended(self) -> str | None:
        """How it ended, in a word or two; None as long as it has not."""

    async def wait_ended(self) -> None:
        """Until it has ended. Any number of tasks may wait."""

    async def read_record(self, wanted: ReadRecord, limits: RecordLimits) -> object | None:
        """What the provider keeps in a file, digested; None where its files are not here."""

    def kill(self) -> None:
        """End it now, without any politeness. Never waits."""

    async def close(self, times: LadderTimes) -> None:
        """End it in order and free everything, within the bounds of `times`, shielded.

        Raises:
            CloseFailed: something of it is still alive. May be called again.
        """


class TransportOpener(Protocol):
    """Opens the way that a launch asks for."""

    async def open(self, launch: LaunchSpecification, carrier: trio.Nursery) -> ProviderTransport:
        """Open it; what it needs in the background runs in `carrier`, which outlives its `close`.

        Raises:
            LaunchError: no process was started.
            ConnectFailed: there is no such server, or it does not want us.
        """


@attrs.frozen(eq=False)
class ProcessTransport:
    """Implements `ProviderTransport` with the pipes of a child process."""

    process: ProcessHandle
    records: RecordReader = attrs.field(factory=NoRecords)
    environment: Mapping[str, str] = attrs.field(factory=dict, repr=False)

    @property
    def label(self) -> str:
        """See `ProviderTransport`."""
        return self.process.label

    @property
    def pid(self) -> int | None:
        """See `ProviderTransport`."""
        return self.process.pid

    @property
    def input(self) -> ByteSink:
        """Its standard input."""
        return self.process.stdin

    @property
    def output(self) -> ByteSource:
        """Its standard output."""
        return self.process.stdout

    @property
    def errors(self) -> ByteSource | None:
        """Its standard error."""
        return self.process.stderr

    @property
    def outlives_us(self) -> bool:
        """Never: the guard ends it with all it forked."""
        return False

    @property
    def ended(self) -> str | None:
        """Its exit code or the signal that ended it."""
        return str(self.process.exited) if self.process.exited is not None else None

    async def wait_ended(self) -> None:
        """See `ProviderTransport`."""
        await self.process.wait()

    async def read_record(self, wanted: ReadRecord, limits: RecordLimits) -> object | None:
        """A file where the process keeps it."""
        return await self.records.read(wanted.place, self.environment, wanted.digest, limits)

    def kill(self) -> None:
        """See `ProviderTransport`."""
        self.process.kill_tree()

    async def close(self, times: LadderTimes) -> None:
        """See `ProviderTransport`."""
        await self.process.close(times)


@attrs.frozen
class ProcessTransports:
    """Implements `TransportOpener` for launches that are programs."""

    launcher: ProcessLauncher
    records: RecordReader = attrs.field(factory=NoRecords)

    async def open(self, launch: LaunchSpecification, carrier: trio.Nursery) -> ProviderTransport:
        """Start the program."""
        request = launch.request()
        return ProcessTransport(await self.launcher.launch(request), self.records, request.environment)
