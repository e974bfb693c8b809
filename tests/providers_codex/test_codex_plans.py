"""Plan mode of Codex: how it is asked for, which plan its turn proposes, and when none is."""

import pytest

from runtime.providers.codex.attestation import FACTS
from runtime.providers.normalized import PlanProposed, TurnEnded, TurnRejected
from runtime.providers.port import StartTurn
from runtime.providers.programs import ProgramReport
from store.canonical.interaction import PlanInput
from store.canonical.message import TextBlock
from tests.providers_codex.codex_playbook import (
    T1,
    T2,
    A,
    CodexPlaybook,
    completed,
    notice,
    started,
    turn_completed,
)

PLANNING = {"collaborationMode": "plan"}
PLAN = (started("plan", "p", text=""), completed("plan", "p", text="# Look"))


def planning(*frames: bytes) -> CodexPlaybook:
    book = CodexPlaybook().opened()
    book.command(StartTurn(A, T1, (TextBlock("go"),), PLANNING))
    book.reply("turn/start", result={"turn": {"id": "p1", "status": "inProgress", "items": []}})
    book.receive(notice("turn/started", turn={"id": "p1", "status": "inProgress", "items": []}), *frames)
    return book


def prompts(book: CodexPlaybook) -> list[dict[str, object]]:
    return [sent["params"] for sent in book.frames if sent.get("method") == "turn/start"]


def proposals(book: CodexPlaybook) -> list[PlanProposed]:
    return [event for event in book.events() if isinstance(event, PlanProposed)]


@pytest.mark.rule("RT-025")
def test_planning_is_asked_for_with_the_model_that_holds_and_once() -> None:
    book = planning(turn_completed())
    [first] = prompts(book)
    assert first["collaborationMode"] == {
        "mode": "plan",
        "settings": {"model": "gpt-5.5", "reasoning_effort": None, "developer_instructions": None},
    }
    book.command(StartTurn(A, T2, (TextBlock("on"),), PLANNING))
    assert "collaborationMode" not in prompts(book)[1]


@pytest.mark.rule("RT-025")
def test_working_again_says_so_and_who_never_planned_says_nothing() -> None:
    book = planning(turn_completed())
    book.command(StartTurn(A, T2, (TextBlock("do it"),), {}))
    assert prompts(book)[1]["collaborationMode"]["mode"] == "default"  # type: ignore[index]
    plain = CodexPlaybook().running()
    assert "collaborationMode" not in prompts(plain)[0]


@pytest.mark.rule("RT-025")
def test_a_turn_that_ends_with_a_plan_proposes_it_right_before_its_end() -> None:
    book = planning(*PLAN, completed("plan", "q", text="# Look again"), turn_completed())
    assert book.events()[-2] == PlanProposed(T1, PlanInput(markdown="# Look again"))
    assert isinstance(book.events()[-1], TurnEnded)


@pytest.mark.parametrize(
    "frames",
    [
        (turn_completed(),),
        (*PLAN, turn_completed("interrupted")),
        (*PLAN, turn_completed("failed", error={"message": "no"})),
        (started("plan", "p", text=""), turn_completed()),
        (
            notice("turn/plan/updated", turn_id="p1", plan=[{"step": "a", "status": "pending"}]),
            turn_completed(),
        ),
    ],
)
def test_without_a_whole_plan_of_a_completed_turn_none_is_proposed(frames: tuple[bytes, ...]) -> None:
    assert proposals(planning(*frames)) == []


def test_what_looks_like_a_plan_in_a_turn_that_works_is_text() -> None:
    book = CodexPlaybook().running()
    book.receive(*PLAN, turn_completed())
    assert proposals(book) == []


def test_a_codex_that_is_not_known_to_plan_is_not_told_to_and_nothing_runs() -> None:
    facts = FACTS - {"turn/start.collaborationMode"}
    book = CodexPlaybook(report=ProgramReport("0.171.0", facts)).opened()
    book.command(StartTurn(A, T1, (TextBlock("go"),), PLANNING))
    assert prompts(book) == []
    (rejected,) = [event for event in book.events() if isinstance(event, TurnRejected)]
    assert rejected.error.code == "capability.unsupported"


@pytest.mark.parametrize("mode", ["novelty", "", True])
def test_a_mode_that_nobody_knows_is_no_setting(mode: object) -> None:
    book = CodexPlaybook().opened()
    book.command(StartTurn(A, T1, (TextBlock("go"),), {"collaborationMode": mode}))
    assert prompts(book) == []
