"""A provider family for tests of connection and pool: lines of words, an adapter of a page, a scripted agent.

The agent side: `line_agent` shakes hands and obeys; the words of a prompt say what the turn does.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import attrs
import trio

from runtime.providers.catalogue import NOTHING_TOLD, CatalogueAbilities
from runtime.providers.hosting import HostedConversation, LaunchConversation
from runtime.providers.launch import LaunchSpecification
from runtime.providers.normalized import (
    ConnectionLost,
    ProviderEvent,
    TextChunk,
    ThreadOpened,
    TurnAccepted,
    TurnEnded,
    TurnRejected,
)
from runtime.providers.port import (
    AdapterLimits,
    CancelTurn,
    CloseThread,
    ConnectionCommand,
    Deliver,
    Diagnostic,
    GiveUp,
    HandshakeDone,
    OpenThread,
    Output,
    Scope,
    SettingDescription,
    StartTimer,
    StartTurn,
    StopTimer,
    Write,
)
from runtime.providers.programs import ProgramExamination, ProgramReport
from runtime.providers.side_facts import SideFacts
from store.canonical.common import TurnError
from store.canonical.identifiers import TurnId
from store.canonical.message import TextBlock
from tests.doubles.scripted_process import Agent, Died
from tests.doubles.virtual_time import pass_time


def scope(name: str) -> Scope:
    return Scope("session", "w", name)


def launch(*, dedicated: bool = False, shared_key: str = "", **environment: str) -> LaunchSpecification:
    return LaunchSpecification(
        provider="lines",
        argv=("/opt/line-agent", "serve"),
        environment={"PATH": "/bin", **environment},
        cwd="/",
        dedicated=dedicated,
        shared_key=shared_key,
    )


def prompt(name: str, turn: str, text: str) -> StartTurn:
    return StartTurn(scope(name), TurnId(turn), (TextBlock(text),))


class LineAdapter:
    """Commands and events as lines; a line of the agent names its scope first."""

    def __init__(self) -> None:
        self.scopes: dict[str, Scope] = {}
        self._rest = b""

    def begin(self) -> Sequence[Output]:
        return [Write(b"hello\n")]

    def command(self, command: ConnectionCommand) -> Sequence[Output]:
        name = command.scope.agent_session_id
        match command:
            case OpenThread():
                self.scopes[name] = command.scope
                return [Write(f"open {name}\n".encode())]
            case StartTurn():
                self.scopes[name] = command.scope
                text = "".join(block.text for block in command.content if isinstance(block, TextBlock))
                if text == "bug":
                    raise LookupError("a bug in command")
                line = f"prompt {name} {command.turn_id} {text}\n"
                return [Write(line.encode(), token=(command.scope, command.turn_id))]
            case CancelTurn():
                return [Write(f"cancel {name} {command.turn_id}\n".encode())]
            case CloseThread():
                self.scopes.pop(name, None)
                return [Write(f"close {name}\n".encode())]
        raise AssertionError(command)

    def receive(self, data: bytes) -> Sequence[Output]:
        *lines, self._rest = (self._rest + data).split(b"\n")
        return [output for line in lines for output in self._line(line.decode())]

    def end_of_input(self) -> Sequence[Output]:
        rest, self._rest = self._rest, b""
        return self._line(rest.decode()) if rest else []

    def written(self, token: object) -> Sequence[Output]:
        scope, turn_id = token  # type: ignore[misc]
        return [Deliver(scope, TurnAccepted(turn_id))]

    def timer(self, token: object) -> Sequence[Output]:
        return [Diagnostic("timer", str(token))]

    def lost(self, error: TurnError) -> Sequence[Output]:
        return [Deliver(scope, ConnectionLost(error)) for scope in self.scopes.values()]

    def _line(self, line: str) -> Sequence[Output]:
        match line.split(" ", 3):
            case ["ready", name, version]:
                return [HandshakeDone(name, version)]
            case ["auth"]:
                return [GiveUp(TurnError("provider.auth_required", "log in first", "provider"))]
            case ["gone"]:
                return [GiveUp(TurnError("session.not_resumable", "no such conversation", "provider"))]
            case ["giveup"]:
                return [GiveUp(TurnError("provider.protocol", "nonsense", "provider"))]
            case ["bug"]:
                raise LookupError("a bug in receive")
            case ["timer", token, seconds]:
                return [StartTimer(token, float(seconds))]
            case ["notimer", token]:
                return [StopTimer(token)]
            case ["opened", name]:
                return self._deliver(name, ThreadOpened(f"thread-{name}", resumed=False))
            case ["text", name, turn, text]:
                return self._deliver(name, TextChunk(TurnId(turn), "item", "text", text))
            case ["end", name, turn]:
                return self._deliver(name, TurnEnded(TurnId(turn), "completed", "end_turn"))
            case ["reject", name, turn]:
                error = TurnError("provider.rejected", "no", "provider")
                return self._deliver(name, TurnRejected(TurnId(turn), error))
            case _:
                return [Diagnostic("noise", line)]

    def _deliver(self, name: str, event: ProviderEvent) -> Sequence[Output]:
        return [Deliver(self.scopes.get(name, scope(name)), event)]


@attrs.define
class LineProvider:
    """The descriptor; keeps the adapters it made."""

    sessions_per_connection: int = 1
    key: str = "lines"
    launch_arguments: tuple[str, ...] = ()
    side: SideFacts = attrs.field(default=SideFacts())
    side_unkept: SideFacts = attrs.field(default=SideFacts())
    settings: tuple[SettingDescription, ...] = ()
    listens: bool = True
    catalogue: CatalogueAbilities = NOTHING_TOLD
    examination: ProgramExamination | None = None
    make: Callable[[], LineAdapter] = LineAdapter
    adapters: list[LineAdapter] = attrs.field(factory=list)
    reports: list[ProgramReport | None] = attrs.field(factory=list)
    """What each adapter was told of its program."""
    launch_environment: Mapping[str, str] = attrs.field(factory=dict)
    conversation_launch: LaunchConversation | None = None
    conversations: list[HostedConversation | None] = attrs.field(factory=list)
    """What each adapter was told that its process is for."""

    def adapter(
        self,
        limits: AdapterLimits,
        report: ProgramReport | None = None,
        conversation: HostedConversation | None = None,
    ) -> LineAdapter:
        self.reports.append(report)
        self.conversations.append(conversation)
        adapter = self.make()
        self.adapters.append(adapter)
        return adapter


class RecordingSink:
    """A scope's mailbox: keeps what comes; `hold()` puts it above its high-water mark."""

    def __init__(self) -> None:
        self.events: list[ProviderEvent] = []
        self.fault: Exception | None = None
        self._room = trio.Event()
        self._room.set()
        self._changed = trio.Event()

    def put(self, event: ProviderEvent) -> None:
        if self.fault is not None:
            raise self.fault
        self.events.append(event)
        self._changed.set()
        self._changed = trio.Event()

    @property
    def above_high_water(self) -> bool:
        return not self._room.is_set()

    async def wait_below_low_water(self) -> None:
        await self._room.wait()

    def hold(self) -> None:
        self._room = trio.Event()

    def let_go(self) -> None:
        self._room.set()

    @property
    def text(self) -> str:
        return "".join(event.text for event in self.events if isinstance(event, TextChunk))

    @property
    def losses(self) -> list[str]:
        return [event.error.code for event in self.events if isinstance(event, ConnectionLost)]

    async def wait_for_any(self) -> None:
        """Until one more event has come."""
        await self._changed.wait()

    async def wait_for(self, kind: type[ProviderEvent], count: int = 1) -> ProviderEvent:
        """Until so many events of this kind have come; the last of them."""
        while len(found := [event for event in self.events if isinstance(event, kind)]) < count:
            await self._changed.wait()
        return found[count - 1]


async def shake_hands(agent: Agent) -> None:
    if await agent.read_line() != "hello":
        raise Died(1)
    await agent.say("ready line-agent 1.0")


async def open_first_thread(agent: Agent) -> None:
    """Shakes hands and waits until somebody listens."""
    await shake_hands(agent)
    await agent.read_line()


async def line_agent(agent: Agent) -> int:
    """Shakes hands, then does what prompts say: each is a list of words with `;` between them."""
    await shake_hands(agent)
    while (line := await agent.read_line()) is not None:
        match line.split(" ", 3):
            case ["open", name]:
                await agent.say(f"opened {name}")
            case ["prompt", name, turn, text]:
                for step in text.split(";"):
                    await obey(agent, step, name, turn)
            case ["cancel", name, turn]:
                await agent.say(f"end {name} {turn}")
    return 0


async def obey(agent: Agent, step: str, name: str, turn: str) -> None:
    """One word of a prompt: say TEXT, end, sleep SECONDS, die SIGNAL, line WORDS, or nothing at all."""
    match step.strip().split(" ", 1):
        case ["say", text]:
            await agent.say(f"text {name} {turn} {text}")
        case ["end"]:
            await agent.say(f"end {name} {turn}")
        case ["sleep", seconds]:
            await pass_time(float(seconds))
        case ["die", number]:
            raise Died(int(number))
        case ["line", words]:
            await agent.say(words)
