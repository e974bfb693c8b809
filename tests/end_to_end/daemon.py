"""The daemon as a child process: its own command, data directory, home and process group, ended whatever happens.

Synchronous, so that one daemon can serve a whole module of trio tests. Whatever concerns another process is waited for
with a deadline.
"""

import json
import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import attrs

from supervisor.process_guard.marks import INSTANCE_MARK
from supervisor.process_guard.process_table import kill_exact, read_row

START_SECONDS = 20.0
STOP_SECONDS = 20.0
PROVIDERS_END_SECONDS = 6.0
"""The contract's 5 s, and what looking takes."""
PATH = "/usr/local/bin:/usr/bin:/bin"
COMMAND = (sys.executable, "-m", "runtime.cli", "serve")


@attrs.define(eq=False)
class Daemon:
    """One data directory and, while it runs, the daemon on it."""

    folder: Path
    settings: Mapping[str, Any] = attrs.field(factory=dict)
    """The keys of the configuration file."""
    options: Sequence[str] = ()
    """Further arguments of `serve`."""
    environment: Mapping[str, str] = attrs.field(factory=dict)
    """On top of the little that it is started with otherwise."""
    listen: str = "127.0.0.1:0"
    command: Sequence[str] = COMMAND
    ready: dict[str, Any] = attrs.field(factory=dict, init=False)
    """The ready line of the present run."""
    _process: subprocess.Popen[bytes] | None = attrs.field(default=None, init=False)

    @property
    def data_dir(self) -> Path:
        return self.folder / "data"

    @property
    def home(self) -> Path:
        return self.folder / "home"

    @property
    def log_file(self) -> Path:
        return self.folder / "daemon.log"

    @property
    def pid(self) -> int:
        assert self._process is not None, "the daemon does not run"
        return self._process.pid

    @property
    def port(self) -> int:
        return int(self.ready["url"].rpartition(":")[2].partition("/")[0])

    @property
    def token(self) -> str:
        return Path(self.ready["tokenFile"]).read_text().strip()

    # --- running ------------------------------------------------------------------------------------------------

    def start(self) -> None:
        """Start it and wait for its ready line."""
        assert self._process is None, "the daemon runs already"
        process = self._launch()
        deadline = time.monotonic() + START_SECONDS
        line = b""
        assert process.stdout is not None
        while not line.endswith(b"\n"):
            left = deadline - time.monotonic()
            if not select.select([process.stdout], [], [], max(0.0, left))[0]:
                self.kill()
                raise AssertionError(f"no ready line in {START_SECONDS} s\n{self.log_tail()}")
            piece = os.read(process.stdout.fileno(), 65536)
            if not piece:
                code = self._ended(STOP_SECONDS)
                raise AssertionError(f"the daemon ended with {code} before it was ready\n{self.log_tail()}")
            line += piece
        self.ready = json.loads(line)

    def run_to_end(self, seconds: float = START_SECONDS) -> int:
        """Start one that is expected to refuse; its exit code."""
        self._launch()
        return self._ended(seconds)

    def stop(self) -> int:
        """SIGTERM, and the exit code of the clean stop."""
        self.signal(signal.SIGTERM)
        return self._ended(STOP_SECONDS)

    def kill(self) -> None:
        """SIGKILL to the daemon alone: its providers are for its reapers to end."""
        self.signal(signal.SIGKILL)
        self._ended(STOP_SECONDS)

    def restart(self) -> None:
        """On the same data directory, after a clean stop if it runs."""
        if self._process is not None:
            assert self.stop() == 0, self.log_tail()
        self.start()

    def signal(self, number: int) -> None:
        os.kill(self.pid, number)

    def reap(self) -> int:
        """The exit code of one that ends by itself."""
        return self._ended(STOP_SECONDS)

    @property
    def running(self) -> bool:
        return self._process is not None and self._process.poll() is None

    def end(self) -> None:
        """However the test went: nothing of this daemon is left, and nothing of it ever was when all went well."""
        if self.running:
            self.kill()
        self._process = None
        left = self.providers_left()
        for pid in left:
            _kill(pid)
        assert not left, f"provider processes outlived the daemon: {left}\n{self.log_tail()}"

    def write_settings(self) -> Path:
        """The configuration file; a running daemon reads it at its next start, or its tokens on SIGHUP."""
        config_file = self.folder / "config.toml"
        config_file.write_text(toml({"targets": [], **self.settings}))
        return config_file

    def _launch(self) -> subprocess.Popen[bytes]:
        self.home.mkdir(parents=True, exist_ok=True)
        config_file = self.write_settings()
        arguments = ("--data-dir", str(self.data_dir), "--listen", self.listen, "--config", str(config_file))
        with self.log_file.open("ab") as log:
            self._process = subprocess.Popen(
                (*self.command, *arguments, *self.options),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=log,
                cwd=self.home,
                env={"HOME": str(self.home), "PATH": PATH, "LANG": "C.UTF-8", **self.environment},
                start_new_session=True,
            )
        return self._process

    def _ended(self, seconds: float) -> int:
        assert self._process is not None
        process, self._process = self._process, None
        try:
            return process.wait(seconds)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
            raise AssertionError(f"the daemon did not end in {seconds} s\n{self.log_tail()}") from None
        finally:
            if process.stdout is not None:
                process.stdout.close()

    # --- looking ------------------------------------------------------------------------------------------------

    def providers(self) -> list[int]:
        """Living processes that were started as providers by a daemon of this home, or by one of those."""
        home = os.fsencode(f"HOME={self.home}")
        mark = os.fsencode(f"{INSTANCE_MARK}=")
        found = []
        for name in os.listdir("/proc"):
            if not name.isdigit():
                continue
            try:
                environment = Path(f"/proc/{name}/environ").read_bytes().split(b"\0")
            except OSError:
                continue  # ended meanwhile, or not ours to look at
            if home in environment and any(entry.startswith(mark) for entry in environment):
                found.append(int(name))
        return [pid for pid in found if (row := read_row(pid)) is not None and row.living]

    def providers_left(self, seconds: float = PROVIDERS_END_SECONDS) -> list[int]:
        """Those that are still there after the time they have to end in; at once empty when there are none."""
        poll_until(lambda: not self.providers(), seconds)
        return self.providers()

    def log_lines(self) -> list[dict[str, Any]]:
        """What was logged in all runs, whole lines only."""
        data = self.log_file.read_bytes() if self.log_file.exists() else b""
        return [_log_line(line) for line in data.rpartition(b"\n")[0].splitlines() if line.strip()]

    def log_tail(self) -> str:
        return self.log_file.read_text(errors="replace")[-4000:] if self.log_file.exists() else ""


def poll_until(condition: Callable[[], object], seconds: float) -> bool:
    """Whether something outside this process came true in time."""
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.02)
    return True


def toml(table: Mapping[str, Any]) -> str:
    """The few shapes a configuration file needs."""
    plain, tables = [], []
    for key, value in table.items():
        if isinstance(value, Mapping):
            tables.append(f"[{key}]\n{_members(value)}")
        elif isinstance(value, list) and value and isinstance(value[0], Mapping):
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


def _kill(pid: int) -> None:
    row = read_row(pid)
    if row is not None:
        kill_exact(row.identity)
