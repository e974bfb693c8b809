"""Planted bugs in what several share: locks that are not, what is never given back, and what reaches somebody else."""

from contextlib import asynccontextmanager

import pytest
import trio

import runtime.providers.connection as connection_module
from runtime.actors.links import SessionLink
from runtime.api.event_hub import EventHub
from runtime.api.request_sink import RequestSink
from runtime.api.subscription import SubscriptionFilter
from runtime.providers.routes import ScopeRoutes
from runtime.simulation import explore
from supervisor.lifecycle_locks import LifecycleLocks
from tests.simulation.planted.bug import codex_alone, planted


@planted("lock", "nothing is left of a life", "everything settles", "every command is answered in time")
def a_lock_that_is_never_given_back(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(LifecycleLocks, "_withdraw", lambda *_: None)


@planted("lock", "stuck", protocol="two-locks")
def locks_taken_in_the_order_of_asking(patch: pytest.MonkeyPatch) -> None:
    @asynccontextmanager
    async def one_after_the_other(self, *identities, holder, deadline_seconds):
        taken = []
        try:
            for identity in identities:
                await explore.pause(1)
                while (held := self.try_hold(identity, holder=holder)) is None:
                    await trio.sleep(1)
                taken.append(held.__enter__())
            yield
        finally:
            for held in taken:
                held.__exit__(None, None, None)

    patch.setattr(LifecycleLocks, "hold", one_after_the_other)


@planted("lock", "no open Side outlives its source", "a hold for an open Side", protocol="side-delete")
def a_lock_that_keeps_nobody_out(patch: pytest.MonkeyPatch) -> None:
    @asynccontextmanager
    async def hold_nothing(self, *identities, holder, deadline_seconds):
        await trio.lowlevel.checkpoint()
        yield

    patch.setattr(LifecycleLocks, "hold", hold_nothing)


@planted("leak", "the next prompt works", "everything settles", "a session can be closed")
def a_connection_never_given_back(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(SessionLink, "release", lambda *_: None)


@planted("leak", "nothing is left of a life")
def a_process_that_is_left_running(patch: pytest.MonkeyPatch) -> None:
    async def end_nothing(*_):
        return None

    patch.setattr(connection_module, "end_transport", end_nothing)


@planted("leak", "nothing is left of a life")
def a_subscription_that_never_ends(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(EventHub, "remove", lambda *_: None)


@planted("routing", "only what was asked for is sent", seed=3)
def commits_of_sessions_that_nobody_asked_for(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(SubscriptionFilter, "takes", lambda *_: True)


@planted("routing", "everything settles", "the next prompt works", concerns=codex_alone, seed=1)
def words_that_reach_the_session_beside(patch: pytest.MonkeyPatch) -> None:
    collect = ScopeRoutes.collect

    def collect_for_the_first(self, scope, event):
        return collect(self, next(iter(self._routes), scope), event)

    patch.setattr(ScopeRoutes, "collect", collect_for_the_first)


@planted("routing", "every answer has a question", "every command is answered in time")
def a_reply_to_another_request(patch: pytest.MonkeyPatch) -> None:
    answer = RequestSink._answer

    def answer_the_one_before(self, encode):
        if isinstance(self.request_id, int) and self.request_id % 9 == 0:
            self.request_id -= 1
        answer(self, encode)

    patch.setattr(RequestSink, "_answer", answer_the_one_before)
