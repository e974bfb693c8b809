"""The Codex adapter and the scripted app-server, mouth to ear: whatever is said when, every promise of the port holds."""

import json
import random
from collections import Counter

import attrs
import pytest

from runtime.providers.codex.descriptor import CodexDescriptor
from runtime.providers.demo.actions import WakeAt
from runtime.providers.demo.actions import Write as Said
from runtime.providers.normalized import (
    InteractionRequested,
    ThreadOpened,
    ThreadOpenFailed,
    TurnEnded,
    TurnRejected,
    TurnStartedByProvider,
)
from runtime.providers.port import (
    AdapterLimits,
    AnswerInteraction,
    CancelTurn,
    CloseThread,
    ConnectionCommand,
    Deliver,
    GuideTurn,
    OpenThread,
    Outputs,
    ReconcileTurn,
    Scope,
    StartTurn,
    Write,
)
from runtime.simulation.scripted_codex.rollouts import MemoryRollouts
from runtime.simulation.scripted_codex.server import CodexSettings, ScriptedCodex
from store.canonical.identifiers import TurnId
from store.canonical.interaction import OptionAnswer, QuestionAnswer
from store.canonical.message import TextBlock
from tests.providers.adapter_playbook import Witness

SCOPES = [Scope("session", "w", name) for name in ("a", "b", "c")]
PARTS = (
    "[[say one]]",
    "[[stream 4 delay=3]]",
    "[[think 2]]",
    "[[ask]]",
    "[[patch notes.txt]]",
    "[[permissions]]",
    "[[question]]",
    "[[elicit tool]]",
    "[[elicit fields]]",
    "[[request scripted/unknown]]",
    "[[withdrawn 5]]",
    "[[tool build output=done]]",
    "[[output 4 delay=2]]",
    "[[edit notes.txt]]",
    "[[plan a;b]]",
    "[[usage]]",
    "[[background 15]]",
    "[[background 900]]",
    "[[goal 2]]",
    "[[review]]",
    "[[retry 2]]",
    "[[stray]]",
    "[[child]]",
    "[[unknown-id]]",
    "[[warning take care]]",
    "[[early]]",
    "[[twice]]",
    "[[late 5]]",
    "[[wrong-id]]",
    "[[cancel-late 8]]",
    "[[sleep 20]]",
    "[[hang]]",
    "[[left-asked 3]]",
    "[[fail usageLimitExceeded]]",
    "[[reject thread not found: x]]",
    "[[reject Input is odd]]",
    "[[unload]]",
    "[[garbage {]]",
    "[[bytes]]",
)
OPENINGS = ("", "", "", "[[early]]", "[[reject no such thing]]", "[[answer sandbox dangerFullAccess]]")
WAYS = (
    "open",
    "prompt",
    "prompt",
    "prompt",
    "cancel",
    "answer",
    "answer",
    "guide",
    "reconcile",
    "close",
    "time",
    "time",
)

BATCHES, RUNS, STEPS = 6, 30, 50


@attrs.define
class Person:
    """What one scope has, as the daemon would know it."""

    is_open: bool = False
    opening: bool = False
    thread_id: str | None = None
    turn_id: TurnId | None = None
    asked: list[InteractionRequested] = attrs.field(factory=list)


class Together:
    """Adapter, server and the persons of three sessions."""

    def __init__(self) -> None:
        self.server = ScriptedCodex(CodexSettings(unload_seconds=0.05), MemoryRollouts())
        self.adapter = CodexDescriptor("1").adapter(AdapterLimits())
        self.witness = Witness()
        self.persons = {scope: Person() for scope in SCOPES}
        self.ends: Counter[TurnId] = Counter()
        self.started: list[TurnId] = []
        self.left: set[TurnId] = set()
        """Turns whose scope did not wait for their end."""
        self.asked: list[object] = []
        self.replied: list[object] = []
        self.now = 0.0
        self._wake_at: float | None = None
        self._unheard = b""
        self._perform(self.adapter.begin())

    # --- time and bytes ---------------------------------------------------------------------------------------

    def run(self, seconds: float) -> None:
        until = self.now + seconds
        while self._wake_at is not None and self._wake_at <= until:
            self.now = max(self.now, self._wake_at)
            self._take(self.server.wake(self.now))
        self.now = until

    def _take(self, actions: list) -> None:  # type: ignore[type-arg]
        self._wake_at = None
        said = b""
        for action in actions:
            if isinstance(action, WakeAt):
                self._wake_at = action.when
            elif isinstance(action, Said):
                said += action.data
                self._note_request(action.data)
        if said:
            self._perform(self.adapter.receive(said))

    def _note_request(self, line: bytes) -> None:
        try:
            frame = json.loads(line)
        except ValueError:
            return
        if "method" in frame and "id" in frame:
            self.asked.append(frame["id"])

    def _perform(self, outputs: Outputs) -> None:
        self.witness.outputs(outputs)
        for output in outputs:
            if isinstance(output, Deliver):
                self._told(self.persons[output.scope], output.event)
        for output in outputs:
            if isinstance(output, Write):
                message = json.loads(output.data)
                if "method" not in message:
                    self.replied.append(message["id"])
                if output.token is not None:
                    self._perform(self.adapter.written(output.token))
                self._take(self.server.receive(output.data.rstrip(b"\n"), self.now))

    def _told(self, person: Person, event: object) -> None:
        match event:
            case ThreadOpened():
                person.is_open, person.opening, person.thread_id = True, False, event.provider_session_id
            case ThreadOpenFailed():
                person.is_open = person.opening = False
            case TurnStartedByProvider():
                person.turn_id = event.turn_id
            case TurnEnded() | TurnRejected():
                self.ends[event.turn_id] += 1
                person.turn_id, person.asked = None, []
            case InteractionRequested():
                person.asked.append(event)
            case _:
                pass

    # --- what persons do --------------------------------------------------------------------------------------

    def do(self, way: str, scope: Scope, chance: random.Random) -> None:
        person = self.persons[scope]
        match way:
            case "open" if not person.is_open and not person.opening:
                person.opening = True
                model = chance.choice(OPENINGS)
                self.tell(OpenThread(scope, "/w", {"model": model} if model else {}, person.thread_id))
            case "prompt" if person.is_open and person.turn_id is None:
                turn_id = person.turn_id = TurnId(f"t{len(self.started)}")
                self.started.append(turn_id)
                words = " ".join(chance.choice(PARTS) for _ in range(chance.randint(1, 4)))
                self.tell(StartTurn(scope, turn_id, (TextBlock(words),)))
            case "cancel" if person.turn_id is not None:
                self.tell(CancelTurn(scope, person.turn_id))
            case "answer" if person.asked:
                self._answer(scope, chance.choice(person.asked), chance)
            case "guide" if person.turn_id is not None:
                self.tell(
                    GuideTurn(scope, person.turn_id, f"g{chance.random()}", (TextBlock("[[say more]]"),))
                )
            case "reconcile" if person.is_open and person.turn_id is not None:
                self.tell(ReconcileTurn(scope, person.turn_id, None))
            case "close" if person.is_open:
                if person.turn_id is not None:
                    self.left.add(person.turn_id)
                person.is_open, person.turn_id, person.asked = False, None, []
                self.tell(CloseThread(scope))
            case "time":
                self.run(chance.choice((0.0, 0.002, 0.01, 0.1)))
            case _:
                pass

    def tell(self, command: ConnectionCommand) -> None:
        self.witness.command(command)
        self._perform(self.adapter.command(command))

    def _answer(self, scope: Scope, asked: InteractionRequested, chance: random.Random) -> None:
        answer: OptionAnswer | QuestionAnswer = QuestionAnswer({"colour": ("red",)})
        if asked.options:
            option = chance.choice(asked.options)
            feedback = "Rather not." if option.kind == "reject_once" and chance.random() < 0.5 else None
            answer = OptionAnswer(option.option_id, feedback)
        self.tell(AnswerInteraction(scope, asked.turn_id, asked.request_id, answer))

    def settle(self) -> None:
        """Time passes, what still runs is stopped, and time passes again."""
        self.run(2.0)
        for _ in range(4):
            for scope, person in self.persons.items():
                if person.turn_id is not None:
                    self.tell(CancelTurn(scope, person.turn_id))
            self.run(2.0)


@pytest.mark.rule("PR-014", "RT-003", "RT-009")
@pytest.mark.parametrize("batch", range(BATCHES))
def test_whatever_is_said_when_every_turn_ends_once_and_every_request_gets_one_reply(batch: int) -> None:
    for seed in range(batch * RUNS, (batch + 1) * RUNS):
        chance, together = random.Random(seed), Together()
        for scope in SCOPES[:2]:
            together.do("open", scope, chance)
        for _ in range(STEPS):
            together.do(chance.choice(WAYS), chance.choice(SCOPES), chance)
        together.settle()
        running = [person.turn_id for person in together.persons.values() if person.turn_id is not None]
        assert not running, f"{running} of seed {seed}"
        assert set(together.ends.values()) <= {1}, f"ended twice in seed {seed}"
        assert set(together.started) <= set(together.ends) | together.left, f"no end in seed {seed}"
        assert Counter(together.asked) == Counter(together.replied), f"replies of seed {seed}"
        assert not together.witness.pending, f"still asked in seed {seed}"
