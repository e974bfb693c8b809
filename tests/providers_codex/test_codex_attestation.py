"""What a Codex may be used for: by its version, its own schema or its own list; anything else is closed."""

import pytest

from runtime.providers.codex.attestation import FACTS, NEEDS, TESTED, Ability, attest, listed_methods
from runtime.providers.normalized import (
    CancelRefused,
    GuideRefused,
    ThreadOpened,
    TurnReconciled,
    TurnRejected,
)
from runtime.providers.port import (
    CancelTurn,
    CloseThread,
    GiveUp,
    GuideTurn,
    HandshakeDone,
    ReconcileTurn,
    StartTurn,
)
from runtime.providers.programs import ProgramReport
from store.canonical.identifiers import TurnId
from store.canonical.message import TextBlock
from tests.providers_codex.codex_playbook import (
    CORE,
    T1,
    A,
    CodexPlaybook,
    command,
    started,
    turn_completed,
    unknown_method,
)

ALL = frozenset(Ability)
OTHER = "0.999.0"


def introduced(version: str, report: ProgramReport | None = None) -> CodexPlaybook:
    """A Codex of this version has said who it is."""
    book = CodexPlaybook(report=report).begin()
    book.reply("initialize", result={"userAgent": f"greenroom/{version} (x)"})
    return book


def running_without(*missing: Ability) -> CodexPlaybook:
    """A turn on a Codex whose schema lacks what these need."""
    facts = FACTS - frozenset().union(*(NEEDS[ability] for ability in missing))
    book = introduced(OTHER, ProgramReport(OTHER, facts | NEEDS[Ability.CONVERSATION]))
    book.reply("thread/loaded/list", result={"data": []})
    return book.running()


@pytest.mark.rule("RT-090", "RT-109")
@pytest.mark.parametrize("ability", Ability)
def test_each_ability_closes_with_any_one_thing_it_needs(ability: Ability) -> None:
    assert ability in attest(OTHER, FACTS).abilities
    for needed in NEEDS[ability]:
        assert ability not in attest(OTHER, FACTS - {needed}).abilities


@pytest.mark.parametrize("version", TESTED)
def test_a_tested_version_needs_no_schema_but_is_held_to_the_one_it_has(version: str) -> None:
    assert attest(version, None).abilities == TESTED[version]
    closed = attest(version, FACTS - {"turn/steer"})
    assert (closed.basis, closed.abilities) == ("tested", TESTED[version] - {Ability.GUIDANCE})


@pytest.mark.parametrize("version", [None, OTHER, "0.106.0"])
def test_another_version_without_documents_can_do_nothing(version: str | None) -> None:
    attested = attest(version, None)
    assert (attested.abilities, attested.basis, attested.usable) == (frozenset(), "nothing", False)


def test_a_list_of_methods_attests_nothing_that_hangs_on_a_member() -> None:
    methods = frozenset(fact for fact in FACTS if "." not in fact)
    attested = attest(OTHER, None, methods)
    assert attested.usable
    assert not attested.abilities & {Ability.GUIDANCE, Ability.SIDE, Ability.FORK_THROUGH_TURN}


def test_the_methods_are_those_after_what_was_refused() -> None:
    message = str(unknown_method("thread/start", "fuzzyFileSearch")["message"])
    assert listed_methods(message) == {"thread/start", "fuzzyFileSearch"}
    assert listed_methods("unknown variant `turn/start`") == frozenset()


def test_the_schema_of_the_running_version_is_enough() -> None:
    book = introduced(OTHER, ProgramReport(OTHER, FACTS)).reply("thread/loaded/list", result={"data": []})
    assert book.outputs[-1] == HandshakeDone("codex", OTHER)
    assert book.calls() == ["initialize", "thread/loaded/list"]


@pytest.mark.parametrize("report", [None, ProgramReport("0.998.0", FACTS), ProgramReport(OTHER, None)])
def test_without_a_schema_of_exactly_what_runs_it_is_asked_for_its_methods(
    report: ProgramReport | None,
) -> None:
    book = introduced(OTHER, report)
    assert book.calls() == ["initialize", "greenroom/methods"]
    book.reply("greenroom/methods", error=unknown_method(*CORE))
    book.reply("thread/loaded/list", result={"data": []})
    assert book.outputs[-1] == HandshakeDone("codex", OTHER)


@pytest.mark.parametrize(
    "answer", [{"error": unknown_method("turn/start")}, {"result": {}}], ids=["few", "none"]
)
def test_a_codex_that_shows_too_little_is_given_up_before_anybody_uses_it(answer: dict[str, object]) -> None:
    book = introduced(OTHER).reply("greenroom/methods", **answer)
    assert isinstance(book.outputs[-1], GiveUp)
    assert book.outputs[-1].error.code == "provider.unavailable"
    assert not book.outputs[-1].error.retryable
    assert not [output for output in book.everything if isinstance(output, HandshakeDone)]


def test_a_session_shows_what_its_program_was_attested_for() -> None:
    book = running_without(Ability.GUIDANCE)
    (opened,) = [event for event in book.events(A) if isinstance(event, ThreadOpened)]
    assert opened.capabilities is not None
    assert (opened.capabilities.guidance, opened.capabilities.interrupt) == (False, True)


@pytest.mark.rule("RT-109")
def test_settings_that_would_be_ignored_without_a_word_are_refused_with_the_prompt() -> None:
    book = running_without(Ability.TURN_SETTINGS).receive(turn_completed())
    sent = book.calls()
    narrower = {"sandbox": "read-only"}
    book.command(StartTurn(A, TurnId("t2"), (TextBlock("go"),), settings=narrower))
    assert book.calls() == sent
    rejected = book.events(A)[-1]
    assert isinstance(rejected, TurnRejected)
    assert rejected.error.code == "capability.unsupported"
    book.command(StartTurn(A, TurnId("t3"), (TextBlock("go"),), settings={}))
    assert book.calls() == [*sent, "turn/start"], "with the settings that hold it may go on"


@pytest.mark.rule("RT-109")
def test_no_method_is_called_that_was_not_attested() -> None:
    missing = (
        Ability.GUIDANCE,
        Ability.INTERRUPT,
        Ability.TURN_HISTORY,
        Ability.COMMAND_ENDING,
        Ability.COMMAND_CLEANING,
    )
    book = running_without(*missing)
    sent = book.calls()
    book.receive(started(**command()))
    book.command(GuideTurn(A, T1, "g1", (TextBlock("more"),)))
    book.command(ReconcileTurn(A, T1, "p1"))
    book.command(CancelTurn(A, T1))
    refused = [
        (type(event), event.error.code)
        for event in book.events(A)
        if isinstance(event, GuideRefused | CancelRefused)
    ]
    assert refused == [(GuideRefused, "capability.unsupported"), (CancelRefused, "capability.unsupported")]
    assert TurnReconciled(T1, "unknown", "p1") in book.events(A)
    book.receive(turn_completed("interrupted"))
    book.command(CloseThread(A))
    assert book.calls() == [*sent, "thread/unsubscribe"]
