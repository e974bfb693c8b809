"""An app-server that runs by itself, as somebody else would have started it: on a loopback port, with its own home."""

import os
import re
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import attrs

from tests.doubles.model_server import ModelServer
from tests.end_to_end.client import Json
from tests.end_to_end.daemon import poll_until
from tests.providers_real.app_server.codex_server import TARGET, codex_server

_LISTENING = re.compile(r"listening on: ws://127\.0\.0\.1:(\d+)")
START_SECONDS = 20.0


@attrs.define
class RunningServer:
    """Started and ended by the test, never by the daemon."""

    program: str
    home: Path
    model: ModelServer
    arguments: tuple[str, ...] = ()
    port: int = 0
    _process: subprocess.Popen[bytes] | None = None

    @property
    def target(self) -> Json:
        """The `[[targets]]` entry for it."""
        return {"id": TARGET, "provider": "codex", "url": f"ws://127.0.0.1:{self.port}"}

    @property
    def is_running(self) -> bool:
        return self._process is not None and self._process.poll() is None

    def start(self) -> None:
        """Until it listens; again on the same port when it did before."""
        variables = codex_server(self.program, self.home, self.model)["env"]
        kept = {name: os.environ[name] for name in ("PATH", "LANG") if name in os.environ}
        listen = f"ws://127.0.0.1:{self.port}"
        log = self.home / "server.log"
        with log.open("wb") as errors:
            self._process = subprocess.Popen(
                [self.program, "app-server", "--listen", listen, *self.arguments],
                env={**kept, "HOME": str(self.home), **variables},
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=errors,
            )
        poll_until(lambda: not self.is_running or _LISTENING.search(log.read_text()), START_SECONDS)
        found = _LISTENING.search(log.read_text())
        assert found is not None, log.read_text()
        self.port = int(found.group(1))

    def kill(self) -> None:
        """As the system does that has no memory left."""
        assert self._process is not None
        self._process.kill()
        self._process.wait(START_SECONDS)

    def stop(self) -> None:
        if self.is_running:
            assert self._process is not None
            self._process.terminate()
            try:
                self._process.wait(5)
            except subprocess.TimeoutExpired:
                self.kill()


@contextmanager
def running_server(program: str, home: Path, model: ModelServer, *arguments: str) -> Iterator[RunningServer]:
    """One that listens, until the body ends."""
    server = RunningServer(program, home, model, arguments)
    server.start()
    try:
        yield server
    finally:
        server.stop()
