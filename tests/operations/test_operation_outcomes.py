"""Whatever becomes of an operation, its caller gets one answer and its place among its client's commands is freed."""

from typing import Any

import attrs
import pytest
import structlog
import trio

from runtime.operations.operation import WatchedSink, run_operation
from runtime.refusal import Refusal
from supervisor.errors import ActorStopped, LifecycleTimeout, MailboxFull
from supervisor.lifecycle_locks import LifecycleIdentity


@attrs.define
class Caller:
    answers: list[object] = attrs.field(factory=list)

    def deliver(self, outcome: object, commit_seq: int) -> None:
        self.answers.append((outcome, commit_seq))

    def refuse(self, refusal: Refusal) -> None:
        self.answers.append(refusal)


@attrs.define
class Place:
    released: int = 0

    def release(self) -> None:
        self.released += 1


@pytest.fixture(autouse=True)
def captured_logs() -> Any:
    with structlog.testing.capture_logs() as logs:
        yield logs


@pytest.mark.parametrize(
    ("error", "refusal"),
    [
        (
            LifecycleTimeout(LifecycleIdentity("session", "w", "s"), "another", 30),
            Refusal("provider.timeout"),
        ),
        (MailboxFull("work", 1024), Refusal("overloaded", retry_after_ms=250)),
        (ActorStopped("stopped"), Refusal("shutdown.in_progress")),
        (ZeroDivisionError("a bug"), Refusal("internal", delivery="unknown")),
        (ExceptionGroup("bugs", [KeyError("a bug")]), Refusal("internal", delivery="unknown")),
    ],
)
async def test_an_error_is_the_callers_answer_and_nobody_elses(error: Exception, refusal: Refusal) -> None:
    caller, place = Caller(), Place()

    async def body(_: WatchedSink) -> None:
        raise error

    await run_operation(body, caller, place, 30)
    assert caller.answers == [refusal]
    assert place.released == 1


async def test_a_deadline_is_answered_and_what_comes_later_is_not(autojump_clock: trio.abc.Clock) -> None:
    caller, place = Caller(), Place()
    sinks: list[WatchedSink] = []

    async def body(sink: WatchedSink) -> None:
        sinks.append(sink)
        await trio.sleep_forever()

    await run_operation(body, caller, place, 30)
    assert caller.answers == [Refusal("provider.timeout", delivery="unknown")]
    assert place.released == 1


async def test_a_cancelled_operation_answers_too_and_the_cancel_goes_on() -> None:
    caller, place = Caller(), Place()

    async def body(_: WatchedSink) -> None:
        await trio.sleep_forever()

    with trio.CancelScope() as scope:
        scope.cancel()
        await run_operation(body, caller, place, 30)
    assert scope.cancelled_caught
    assert caller.answers == [Refusal("provider.timeout", delivery="unknown")]
    assert place.released == 1
