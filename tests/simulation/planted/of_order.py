"""Planted bugs that tell the right things at the wrong moment."""

import itertools

import pytest

from runtime.actors import session as session_module
from runtime.actors.session import SessionActor
from runtime.actors.tails import TailRegistry
from runtime.api.subscription import Subscription
from runtime.lifecycle import effects as fx
from tests.simulation.planted.bug import planted


@planted(
    "order", "a dispatch is marked before it is told", "a prompt is durable before a provider sees it", seed=5
)
def a_prompt_told_before_it_is_marked(patch: pytest.MonkeyPatch) -> None:
    commit = SessionActor._commit

    async def tell_then_commit(self, segment):
        told = [effect for effect in segment.after if isinstance(effect, fx.TellConnection)]
        for effect in told:
            self._perform(effect)
        segment.after = [effect for effect in segment.after if effect not in told]
        return await commit(self, segment)

    patch.setattr(SessionActor, "_commit", tell_then_commit)


@planted("order", "a reply precedes the first event that shows its effect")
def an_event_before_its_reply(patch: pytest.MonkeyPatch) -> None:
    committed, reply = SessionActor._committed, SessionActor._reply

    def publish_then_reply(self, segment, outcome):
        patch.setattr(SessionActor, "_reply", lambda *_: None)
        committed(self, segment, outcome)
        patch.setattr(SessionActor, "_reply", reply)
        reply(self, segment, outcome.commit_seq)

    patch.setattr(SessionActor, "_committed", publish_then_reply)


@planted("order", "no commit is missed", seed=1)
def a_replay_that_is_off_by_one(patch: pytest.MonkeyPatch) -> None:
    begin = Subscription.begin

    def begin_one_late(self, head):
        self.cursor = min(self.cursor + 1, head)
        begin(self, head)

    patch.setattr(Subscription, "begin", begin_one_late)


@planted("order", "deltas have no holes", "text rebuilt from deltas equals the row", seed=1)
def a_lost_delta(patch: pytest.MonkeyPatch) -> None:
    delta, count = Subscription.delta, itertools.count()

    def drop_some(self, message, body):
        if next(count) % 17:
            delta(self, message, body)

    patch.setattr(Subscription, "delta", drop_some)


@planted("order", "a read contains every delta sent before it", seed=14)
def text_that_reads_do_not_know(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(TailRegistry, "lay_over", lambda self, messages: messages)


@planted("order", "commitSeq strictly grows")
def two_commits_in_the_other_order(patch: pytest.MonkeyPatch) -> None:
    commit, count = Subscription.commit, itertools.count(1)
    held = {}

    def swap_some(self, commit_seq, body):
        if next(count) % 5 == 0 and self not in held:
            held[self] = (commit_seq, body)
            return
        commit(self, commit_seq, body)
        if self in held:
            commit(self, *held.pop(self))

    patch.setattr(Subscription, "commit", swap_some)


@planted("order", "ended rows precede the settled turn", "a settled outcome stands", seed=1)
def a_turn_that_settles_before_its_text(patch: pytest.MonkeyPatch) -> None:
    """Its last row goes into the next unit."""
    unit = SessionActor._unit
    late = {}

    def without_ended_messages(self, segment):
        for name, row in late.pop(self, {}).items():
            segment.rows.setdefault(name, row)
        settles = any(getattr(row, "settled", False) for row in segment.rows.values())
        if settles:
            ended = {
                name: row
                for name, row in segment.rows.items()
                if getattr(row, "status", "") == "completed" and hasattr(row, "message_id")
            }
            late[self] = ended
            for name in ended:
                del segment.rows[name]
        return unit(self, segment)

    patch.setattr(session_module.SessionActor, "_unit", without_ended_messages)
