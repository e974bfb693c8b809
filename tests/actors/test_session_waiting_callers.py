"""A crash of a session's code forgets its state, never the callers whose answers depended on it (architecture rule 16)."""

from collections.abc import Callable
from typing import Any

import pytest
import structlog
import trio
import trio.testing

from runtime.actors import session as session_module
from runtime.lifecycle import inputs as i
from runtime.lifecycle.session import decide
from runtime.providers import normalized as n
from runtime.providers.port import ApplySettings, CloseThread
from runtime.refusal import Refusal
from runtime.simulation.protocols.rows import a_claim, a_session
from runtime.simulation.protocols.session_stage import Answers, Stage
from store.errors import StoreUnavailable


@pytest.fixture(autouse=True)
def captured_logs() -> Any:
    with structlog.testing.capture_logs() as logs:
        yield logs


async def after_a_crash(
    monkeypatch: pytest.MonkeyPatch, fault: Exception, wait: Callable[[Stage, Answers], None], told: type
) -> object:
    """What a caller hears whose command waits for its provider when the code crashes over a later message."""

    def decide_or_crash(state: Any, given: Any, context: Any) -> Any:
        if isinstance(given, i.FromProvider) and isinstance(given.event, n.TitleReported):
            raise fault
        return decide(state, given, context)

    monkeypatch.setattr(session_module, "decide", decide_or_crash)
    async with trio.open_nursery() as nursery:
        stage = Stage(nursery)
        creator, opener, caller = map(stage.answers, ("creator", "opener", "caller"))
        claims = a_claim(scope="workspace"), a_claim()
        stage.offer(i.CreateSession(creator, a_session(), *claims, None))
        stage.offer(i.ResumeSession(opener))
        await stage.until(lambda: opener.outcome is not None)
        wait(stage, caller)
        await stage.until(lambda: any(isinstance(command, told) for command in stage.told))
        assert caller.outcome is None
        stage.says(n.TitleReported("crash"))
        await stage.until(lambda: caller.outcome is not None)
        await trio.testing.wait_all_tasks_blocked()
        nursery.cancel_scope.cancel()
    return caller.outcome


def changes_settings(stage: Stage, caller: Answers) -> None:
    stage.offer(i.UpdateSettings(caller, {"mode": "auto"}))


async def test_a_change_of_settings_under_way_is_told_that_nobody_knows(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    outcome = await after_a_crash(monkeypatch, RuntimeError("a bug"), changes_settings, ApplySettings)
    assert outcome == Refusal("internal", delivery="unknown")


async def test_so_is_one_that_a_broken_store_forgets(monkeypatch: pytest.MonkeyPatch) -> None:
    outcome = await after_a_crash(monkeypatch, StoreUnavailable("gone"), changes_settings, ApplySettings)
    assert isinstance(outcome, Refusal)
    assert outcome.delivery == "unknown"


async def test_a_close_that_waits_for_its_runtime_is_answered_too(monkeypatch: pytest.MonkeyPatch) -> None:
    def closes(stage: Stage, caller: Answers) -> None:
        stage.offer(i.CloseSession(caller), control=True)

    monkeypatch.setattr(Stage, "wait_gone", lambda self: trio.sleep_forever())
    outcome = await after_a_crash(monkeypatch, RuntimeError("a bug"), closes, CloseThread)
    assert outcome == Refusal("internal", delivery="unknown")
