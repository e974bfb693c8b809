"""Drives the demo agent: as an object with a clock of its own, and as the real program over pipes."""

import json
import select
import subprocess
import time
from collections.abc import Callable

import attrs

from runtime.providers.demo import demo_command
from runtime.providers.demo.actions import Action, DemoSettings, SessionStore, WakeAt, Write
from runtime.providers.demo.agent import DemoAgent

DEADLINE_SECONDS = 20.0


class VirtualAgent:
    """A `DemoAgent` whose time passes only when somebody lets it."""

    def __init__(self, settings: DemoSettings | None = None, store: SessionStore | None = None) -> None:
        self.agent = DemoAgent(settings, store)
        self.now = 1000.0
        self.wake_at: float | None = None
        self.actions: list[Action] = []
        self.lines: list[bytes] = []
        self._ids = 0

    def send(self, method: str, **params: object) -> int:
        """A request of the client; answers its id."""
        self._ids += 1
        self.raw({"jsonrpc": "2.0", "id": self._ids, "method": method, "params": params})
        return self._ids

    def raw(self, message: object) -> None:
        """Any message of the client."""
        self._perform(self.agent.receive(json.dumps(message).encode(), self.now))

    def run(self, seconds: float = 0.0) -> "VirtualAgent":
        """Let time pass; what is due happens at its moment."""
        until = self.now + seconds
        while self.wake_at is not None and self.wake_at <= until:
            self.now = max(self.now, self.wake_at)
            self._perform(self.agent.wake(self.now))
        self.now = until
        return self

    def opened(self) -> str:
        """A new session."""
        self.send("initialize", protocolVersion=1)
        return str(self.answer(self.send("session/new", cwd="/w", mcpServers=[]))["sessionId"])

    def prompt(self, session_id: str, text: str) -> int:
        return self.send("session/prompt", sessionId=session_id, prompt=[{"type": "text", "text": text}])

    def frames(self) -> list[dict]:
        """Everything written that is JSON."""
        frames = []
        for line in b"".join(self.lines).split(b"\n"):
            try:
                frames.append(json.loads(line))
            except ValueError:
                continue
        return frames

    def answer(self, request_id: int) -> dict:
        """The result of a request, or its error under `error`."""
        (answer,) = [
            f
            for f in self.frames()
            if isinstance(f, dict) and f.get("id") == request_id and "method" not in f
        ]
        return answer["result"] if "result" in answer else {"error": answer["error"]}

    def answered(self, request_id: int) -> int:
        """How often a request was answered."""
        return sum(
            isinstance(f, dict) and f.get("id") == request_id and "method" not in f for f in self.frames()
        )

    def updates(self, kind: str) -> list[dict]:
        """All updates of a kind."""
        updates = [
            f["params"]["update"]
            for f in self.frames()
            if isinstance(f, dict) and f.get("method") == "session/update" and "update" in f["params"]
        ]
        return [update for update in updates if update["sessionUpdate"] == kind]

    def text(self, kind: str = "agent_message_chunk") -> str:
        return "".join(update["content"]["text"] for update in self.updates(kind))

    def requests(self) -> list[dict]:
        """What the agent asked."""
        return [f for f in self.frames() if isinstance(f, dict) and "method" in f and "id" in f]

    def _perform(self, actions: list[Action]) -> None:
        self.wake_at = None
        for action in actions:
            if isinstance(action, WakeAt):
                self.wake_at = action.when
            else:
                self.actions.append(action)
                if isinstance(action, Write):
                    self.lines.append(action.data)


@attrs.define
class RealAgent:
    """The demo agent as a child process. Every wait has a deadline."""

    process: subprocess.Popen[bytes]
    _held: bytes = b""

    def write(self, **members: object) -> None:
        """A frame of the client."""
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps({"jsonrpc": "2.0", **members}).encode() + b"\n")
        self.process.stdin.flush()

    def read_until(self, wanted: Callable[[dict], bool]) -> list[dict]:
        """The frames up to and including the first that is wanted; lines that are no JSON are left out."""
        frames: list[dict] = []
        while True:
            line = self.line()
            try:
                frame = json.loads(line)
            except ValueError:
                continue
            frames.append(frame)
            if isinstance(frame, dict) and wanted(frame):
                return frames

    def answer(self, request_id: int) -> list[dict]:
        """The frames up to the answer to this request."""
        return self.read_until(lambda frame: frame.get("id") == request_id and "method" not in frame)

    def line(self) -> bytes:
        """One line of stdout; empty at its end."""
        while b"\n" not in self._held:
            data = self.read()
            if not data:
                line, self._held = self._held, b""
                return line
            self._held += data
        line, _, self._held = self._held.partition(b"\n")
        return line

    def read(self) -> bytes:
        assert self.process.stdout is not None
        ready, _, _ = select.select([self.process.stdout], [], [], DEADLINE_SECONDS)
        assert ready, "the demo agent is silent"
        return self.process.stdout.read1(65536)

    def session(self) -> str:
        """Initialize and make a session."""
        self.write(id=1, method="initialize", params={"protocolVersion": 1})
        self.answer(1)
        self.write(id=2, method="session/new", params={"cwd": "/w", "mcpServers": []})
        return str(self.answer(2)[-1]["result"]["sessionId"])

    def prompt(self, session_id: str, text: str, request_id: int = 3) -> None:
        params = {"sessionId": session_id, "prompt": [{"type": "text", "text": text}]}
        self.write(id=request_id, method="session/prompt", params=params)

    def wait(self) -> int:
        """The exit status."""
        return self.process.wait(DEADLINE_SECONDS)

    def end(self) -> None:
        """Nothing of it is left, whatever happened."""
        self.process.kill()
        self.process.wait(DEADLINE_SECONDS)
        for pipe in (self.process.stdin, self.process.stdout, self.process.stderr):
            if pipe is not None:
                try:
                    pipe.close()
                except BrokenPipeError:
                    pass  # unwritten bytes of a pipe whose reader is gone


def start(environment: dict[str, str] | None = None, state_folder: str | None = None) -> RealAgent:
    """Start the program."""
    return RealAgent(
        subprocess.Popen(
            demo_command(state_folder),
            env=environment or {},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
    )


def wait_until(true: Callable[[], bool]) -> None:
    """Bounded polling of something outside this process."""
    deadline = time.monotonic() + DEADLINE_SECONDS
    while not true():
        assert time.monotonic() < deadline, "it did not happen in time"
        select.select([], [], [], 0.01)
