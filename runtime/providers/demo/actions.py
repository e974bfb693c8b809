"""What the demo agent wants done, and the few facts it is started with. Standard library only, nothing happens here."""

from typing import NamedTuple, Protocol, TypeAlias


class Write(NamedTuple):
    """Bytes for stdout. `piecewise` asks for one write a byte, to split frames and characters anywhere."""

    data: bytes
    piecewise: bool = False


class Repeat(NamedTuple):
    """A flood: `data` written `times` times to stdout, or to stderr."""

    data: bytes
    times: int
    to_stderr: bool = False


class WakeAt(NamedTuple):
    """Call `wake` at this moment of the clock that `now` is read from. Each answer of the agent renews it."""

    when: float


class Spawn(NamedTuple):
    """Start a grandchild that sleeps; `own_session` detaches it, `stubborn` makes it ignore SIGTERM."""

    own_session: bool = False
    stubborn: bool = False
    pid_file: str = ""


class CloseInput(NamedTuple):
    """Close stdin and live on."""


class Exit(NamedTuple):
    """End with this status."""

    code: int


class Die(NamedTuple):
    """End by SIGKILL, as when the machine runs out of memory."""


Action: TypeAlias = Write | Repeat | WakeAt | Spawn | CloseInput | Exit | Die


class ScriptedAgent(Protocol):
    """An agent without I/O, whatever its wire. Moments are of any steady clock, in seconds."""

    def receive(self, line: bytes, now: float) -> list[Action]:
        """One line of the client, without its end."""

    def wake(self, now: float) -> list[Action]:
        """Play what is due."""

    def end_of_input(self, now: float) -> list[Action]:
        """The client closed its side."""

    def ended(self) -> None:
        """The process is gone, however that came."""


Record: TypeAlias = dict[str, list[dict[str, str]]]
"""What is kept of a session: `turns`, each with its `prompt` and the beginning of its `answer`."""


class SessionStore(Protocol):
    """Where sessions outlive the process, so that they can be loaded again."""

    def load(self, session_id: str) -> Record | None:
        """The session, or None when it is not there."""

    def save(self, session_id: str, record: Record) -> None:
        """Keep it, in place of what was kept before."""


class MemoryStore:
    """A store that lives as long as whoever holds it."""

    def __init__(self) -> None:
        self._records: dict[str, Record] = {}

    def load(self, session_id: str) -> Record | None:
        """The session, or None."""
        return self._records.get(session_id)

    def save(self, session_id: str, record: Record) -> None:
        """Keep it."""
        self._records[session_id] = {"turns": [dict(turn) for turn in record["turns"]]}


class DemoSettings(NamedTuple):
    """How the agent behaves from its start on (environment `DEMO_*`)."""

    identity: str = "demo"
    """Distinguishes the session ids of this process from those of every other."""
    startup_seconds: float = 0.0
    answers_initialize: bool = True
    protocol_version: int = 1
    loads: bool = True
    resumes: bool = True
    takes_images: bool = True
    needs_sign_in: bool = False
    answers_settings: bool = True
