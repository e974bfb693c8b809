"""Planted bugs that do something a second time."""

import pytest

from runtime.api.subscription import Subscription
from runtime.lifecycle import guidance
from runtime.lifecycle import inputs as i
from runtime.lifecycle import interaction as interactions
from runtime.providers.codex.asks import OpenAsks
from runtime.providers.codex.thread_calls import ThreadCalls
from store.statements import claims
from tests.simulation.planted.bug import codex_alone, planted


@planted("idempotency", "a submit id is dispatched at most once", "same submit id, same effect", seed=2)
def a_forgotten_submit_id(patch: pytest.MonkeyPatch) -> None:
    add = claims.add

    def add_for_workspaces_only(connection, reference, claim):
        if claim.scope == "workspace":
            add(connection, reference, claim)

    patch.setattr(claims, "add", add_for_workspaces_only)


@planted("idempotency", "a submit id and a name are taken once", seed=3)
def a_forgotten_create(patch: pytest.MonkeyPatch) -> None:
    add = claims.add

    def add_for_sessions_only(connection, reference, claim):
        if claim.scope != "workspace":
            add(connection, reference, claim)

    patch.setattr(claims, "add", add_for_sessions_only)


@planted("idempotency", "commitSeq strictly grows", "only what was asked for is sent")
def a_replay_that_repeats(patch: pytest.MonkeyPatch) -> None:
    begin = Subscription.begin

    def begin_one_early(self, head):
        self.cursor = max(self.cursor - 1, 0)
        begin(self, head)

    patch.setattr(Subscription, "begin", begin_one_early)


@planted("idempotency", "the first answer wins", "acknowledged is durable", seed=3)
def a_second_answer_that_wins(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(interactions, "same_answer", lambda *_: True)


@planted("idempotency", "a submit id is dispatched at most once", concerns=codex_alone, seed=14)
def a_prompt_that_codex_is_told_again_when_it_refused_it(patch: pytest.MonkeyPatch) -> None:
    started = ThreadCalls._started

    def started_or_tried_again(self, conversation, pending, answer, out):
        if hasattr(answer, "message") and not pending.cancel_asked:
            pending.cancel_asked = True
            self.start(conversation, pending, out)
        else:
            started(self, conversation, pending, answer, out)

    patch.setattr(ThreadCalls, "_started", started_or_tried_again)


@planted("idempotency", "an agent is answered once", concerns=codex_alone, seed=3)
def a_question_of_codex_that_is_answered_twice(patch: pytest.MonkeyPatch) -> None:
    answer = OpenAsks.answer

    def answer_and_again(self, command, out):
        ask = self._open.get(command.request_id)
        answer(self, command, out)
        if ask is not None and ask.request_id not in self._open:
            self._open[ask.request_id] = ask

    patch.setattr(OpenAsks, "answer", answer_and_again)


@planted("idempotency", "told once", "TooSlowError", protocol="guide-twice")
def guidance_that_is_told_again_when_it_is_repeated(patch: pytest.MonkeyPatch) -> None:
    request = guidance.request

    def forget_what_is_known(step, command):
        request(step, i.RequestGuide(command.reply, command.turn_id, command.submission))

    patch.setattr(guidance, "request", forget_what_is_known)
