"""The daemon under torture: a child process on a data directory of its own, started, killed and stopped.

Owns its process, its configuration file and the look at what its agents left behind. What ends it, and what has to
hold afterwards, is decided elsewhere.
"""

import json
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import attrs
import trio

from runtime.failpoints import VARIABLE
from supervisor.process_guard.process_table import LinuxProcessTable, read_row

START_SECONDS: Final = 40.0
STOP_SECONDS: Final = 40.0
"""The grace of a clean stop, and what a busy machine takes beside."""
PROVIDERS_END_SECONDS: Final = 6.0
"""The contract's 5 s (promise 7), and what looking takes."""
_LOOK_SECONDS: Final = 0.02
_MARK: Final = "GREENROOM_TORTURE"
_PATH: Final = "/usr/local/bin:/usr/bin:/bin"


class DaemonFailed(Exception):
    """Raised when it does not start, or does not end, as it should; the text has the end of its log."""


@attrs.define(eq=False)
class DaemonUnderTest:
    """One data directory and, while it runs, the daemon on it."""

    folder: Path
    targets: Sequence[Mapping[str, Any]]
    limits: Mapping[str, Any]
    environment: Mapping[str, str] = attrs.field(factory=dict)
    """On top of the little that it is started with otherwise."""
    port: int = attrs.field(default=0, init=False)
    _process: trio.Process | None = attrs.field(default=None, init=False)

    @property
    def data_dir(self) -> Path:
        """Its data directory."""
        return self.folder / "data"

    @property
    def home(self) -> Path:
        """Of the daemon, unless its environment says otherwise."""
        return self.folder / "home"

    @property
    def token(self) -> str:
        """Its first token; there is one once it has been started."""
        return (self.data_dir / "token").read_text(encoding="ascii").strip()

    async def start(self, failpoints: str = "") -> int | None:
        """Start it. None once it is ready, else how it ended: by a failpoint, if one was armed.

        Raises `DaemonFailed` when it neither gets ready nor ends.
        """
        assert self._process is None, "the daemon runs already"
        self.home.mkdir(parents=True, exist_ok=True)
        config_file = self.folder / "config.toml"
        config_file.write_text(self._configuration(), encoding="utf-8")
        arguments = (
            "--data-dir",
            str(self.data_dir),
            "--listen",
            "127.0.0.1:0",
            "--config",
            str(config_file),
        )
        environment = {"HOME": str(self.home), "PATH": _PATH, "LANG": "C.UTF-8", **self.environment}
        with (self.folder / "daemon.log").open("ab") as log:
            self._process = await trio.lowlevel.open_process(
                (sys.executable, "-m", "runtime.cli", "serve", "--enable-faults", *arguments),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=log,
                env={**environment, VARIABLE: failpoints},
                start_new_session=True,
            )
        with trio.move_on_after(START_SECONDS):
            line = await self._first_line()
            if line is None:
                return await self.ended()
            self.port = int(json.loads(line)["url"].rpartition(":")[2].partition("/")[0])
            return None
        self.signal(signal.SIGKILL)
        await self.ended()
        raise DaemonFailed(f"no ready line in {START_SECONDS:g} s\n{self.log_tail()}")

    def _configuration(self) -> str:
        targets = [{**one, "env": {**one.get("env", {}), **self.agents_mark}} for one in self.targets]
        return toml({"demo": False, "targets": targets, "limits": self.limits})

    async def _first_line(self) -> bytes | None:
        assert self._process is not None
        assert self._process.stdout is not None
        line = b""
        while not line.endswith(b"\n"):
            piece = await self._process.stdout.receive_some()
            if not piece:
                return None
            line += piece
        return line

    @property
    def running(self) -> bool:
        """Whether it was started and has not ended."""
        return self._process is not None and self._process.poll() is None

    def signal(self, number: int) -> None:
        """Send a signal to it, if it runs still."""
        if self._process is not None and self._process.poll() is None:
            self._process.send_signal(number)

    async def wait(self) -> None:
        """Until it has ended."""
        assert self._process is not None
        await self._process.wait()

    async def ended(self) -> int:
        """Wait for its end: the exit code, below 0 for a signal. Raises `DaemonFailed` when it does not come."""
        assert self._process is not None
        process, code = self._process, None
        with trio.move_on_after(STOP_SECONDS):
            code = await process.wait()
        if code is None:
            process.kill()
            await process.wait()
        self._process = None
        if process.stdout is not None:
            await process.stdout.aclose()
        if code is None:
            raise DaemonFailed(f"it did not end in {STOP_SECONDS:g} s\n{self.log_tail()}")
        return code

    @property
    def agents_mark(self) -> Mapping[str, str]:
        """What every target has in its `env`: processes that carry it were started as agents of this daemon."""
        return {_MARK: str(self.folder)}

    async def providers_left(self) -> list[int]:
        """Agents' processes that are still there after the time they have to end in."""
        with trio.move_on_after(PROVIDERS_END_SECONDS):
            while self._providers():  # noqa: ASYNC110 -- nobody tells of another process's end
                await trio.sleep(_LOOK_SECONDS)
        return self._providers()

    def _providers(self) -> list[int]:
        carriers = sorted(LinuxProcessTable().carriers(self.agents_mark))
        return [pid for pid in carriers if (row := read_row(pid)) is not None and row.living]

    def log_lines(self) -> list[dict[str, Any]]:
        """What it has logged in all its lives, whole lines only; one that is no JSON counts as an error."""
        file = self.folder / "daemon.log"
        data = file.read_bytes() if file.exists() else b""
        return [_log_line(line) for line in data.rpartition(b"\n")[0].splitlines() if line.strip()]

    def log_tail(self) -> str:
        """The end of its log."""
        return "\n".join(map(str, self.log_lines()[-20:]))


def toml(table: Mapping[str, Any]) -> str:
    """The few shapes a configuration file needs."""
    plain, tables = [], []
    for key, value in table.items():
        if isinstance(value, Mapping):
            tables.append(f"[{key}]\n{_members(value)}")
        elif isinstance(value, Sequence) and value and isinstance(value[0], Mapping):
            tables += [f"[[{key}]]\n{_members(entry)}" for entry in value]
        else:
            plain.append(f"{key} = {_inline(value)}\n")
    return "".join(plain) + "\n".join(tables)


def _members(table: Mapping[str, Any]) -> str:
    return "".join(f"{name} = {_inline(item)}\n" for name, item in table.items())


def _inline(value: Any) -> str:
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{json.dumps(key)} = {_inline(item)}" for key, item in value.items()) + " }"
    return json.dumps(value)


def _log_line(line: bytes) -> dict[str, Any]:
    try:
        parsed = json.loads(line)
    except ValueError:
        return {"level": "error", "event": line.decode(errors="replace")}
    return parsed if isinstance(parsed, dict) else {"level": "error", "event": str(parsed)}
