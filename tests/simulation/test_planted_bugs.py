"""The simulation is checked itself: each bug that is planted into the service is found, and by the right promise."""

import itertools
from collections.abc import Iterable

import pytest

import runtime.providers.connection as connection_module
import store.connection as store_connection
from runtime.actors.links import SessionLink
from runtime.actors.session import SessionActor
from runtime.actors.tails import Flusher, TailRegistry
from runtime.api.subscription import Subscription
from runtime.lifecycle import effects as fx
from runtime.lifecycle import interaction as interactions
from runtime.lifecycle.live_tail import LiveTail
from runtime.providers.codex.asks import OpenAsks
from runtime.providers.codex.thread_calls import ThreadCalls
from runtime.simulation.options import options_of
from runtime.simulation.run import run_seed
from store.canonical import recovery
from store.statements import claims

SEEDS_MAX = 60


CODEX_SEEDS = [seed for seed in range(3 * SEEDS_MAX) if options_of(seed).codex_share == 1.0]


def first_finding(*promises: str, seeds: Iterable[int] = range(SEEDS_MAX)) -> int:
    """The first seed that shows one of these promises broken."""
    for seed in seeds:
        found = {violation.promise for violation in run_seed(seed).violations}
        if found & set(promises):
            return seed
    raise AssertionError(f"none of {promises} was found broken in {len(list(seeds))} seeds")


def test_a_reply_before_its_commit_is_found(monkeypatch):
    commit = SessionActor._commit

    async def reply_then_commit(self, segment):
        self._reply(segment, self._services.writer.head_commit_seq)
        await commit(self, segment)

    monkeypatch.setattr(SessionActor, "_commit", reply_then_commit)
    first_finding("acknowledged is durable")


def test_a_database_that_does_not_wait_for_the_disk_is_found(monkeypatch):
    prepare = store_connection._prepare_writer

    def prepare_carelessly(connection, path):
        prepare(connection, path)
        connection.pragma("synchronous", "normal")

    monkeypatch.setattr(store_connection, "_prepare_writer", prepare_carelessly)
    first_finding("acknowledged is durable", "a published commit is durable")


def test_a_prompt_told_before_it_is_marked_is_found(monkeypatch):
    commit = SessionActor._commit

    async def tell_then_commit(self, segment):
        told = [effect for effect in segment.after if isinstance(effect, fx.TellConnection)]
        for effect in told:
            self._perform(effect)
        segment.after = [effect for effect in segment.after if effect not in told]
        await commit(self, segment)

    monkeypatch.setattr(SessionActor, "_commit", tell_then_commit)
    first_finding("a dispatch is marked before it is told", "a prompt is durable before a provider sees it")


def test_a_forgotten_submit_id_is_found(monkeypatch):
    add = claims.add

    def add_for_workspaces_only(connection, reference, claim):
        if claim.scope == "workspace":
            add(connection, reference, claim)

    monkeypatch.setattr(claims, "add", add_for_workspaces_only)
    first_finding("a submit id is dispatched at most once", "same submit id, same effect")


def test_a_turn_left_running_by_a_restart_is_found(monkeypatch):
    settle = recovery._settle

    def settle_what_was_not_accepted(turn, now_ms):
        return turn if turn.delivery == "accepted" else settle(turn, now_ms)

    monkeypatch.setattr(recovery, "_settle", settle_what_was_not_accepted)
    first_finding("nothing is open after a restart")


def test_an_event_before_its_reply_is_found(monkeypatch):
    committed, reply = SessionActor._committed, SessionActor._reply

    def publish_then_reply(self, segment, outcome):
        monkeypatch.setattr(SessionActor, "_reply", lambda *_: None)
        committed(self, segment, outcome)
        monkeypatch.setattr(SessionActor, "_reply", reply)
        reply(self, segment, outcome.commit_seq)

    monkeypatch.setattr(SessionActor, "_committed", publish_then_reply)
    first_finding("a reply precedes the first event that shows its effect")


def test_a_replay_that_is_off_by_one_is_found(monkeypatch):
    begin = Subscription.begin

    def begin_one_late(self, head):
        self.cursor = min(self.cursor + 1, head)
        begin(self, head)

    monkeypatch.setattr(Subscription, "begin", begin_one_late)
    first_finding("no commit is missed")


def test_a_replay_that_repeats_is_found(monkeypatch):
    begin = Subscription.begin

    def begin_one_early(self, head):
        self.cursor = max(self.cursor - 1, 0)
        begin(self, head)

    monkeypatch.setattr(Subscription, "begin", begin_one_early)
    first_finding("commitSeq strictly grows", "only what was asked for is sent")


def test_a_lost_delta_is_found(monkeypatch):
    delta, count = Subscription.delta, itertools.count()

    def drop_some(self, message, body):
        if next(count) % 17:
            delta(self, message, body)

    monkeypatch.setattr(Subscription, "delta", drop_some)
    first_finding("deltas have no holes", "text rebuilt from deltas equals the row")


def test_text_that_reads_do_not_know_is_found(monkeypatch):
    monkeypatch.setattr(TailRegistry, "lay_over", lambda self, messages: messages)
    first_finding("a read contains every delta sent before it")


def test_a_connection_never_given_back_is_found(monkeypatch):
    monkeypatch.setattr(SessionLink, "release", lambda *_: None)
    first_finding("the next prompt works", "everything settles", "a session can be closed")


def test_a_second_answer_that_wins_is_found(monkeypatch):
    monkeypatch.setattr(interactions, "same_answer", lambda *_: True)
    first_finding("the first answer wins", "acknowledged is durable")


def test_a_process_that_is_left_running_is_found(monkeypatch):
    async def end_nothing(*_):
        return None

    monkeypatch.setattr(connection_module, "end_transport", end_nothing)
    first_finding("nothing is left of a life")


@pytest.mark.timeout(400)  # it takes some eighty seeds, a minute where nothing else runs
def test_text_that_is_not_written_behind_is_found(monkeypatch):
    async def flush_nothing(self):
        return None

    monkeypatch.setattr(Flusher, "flush", flush_nothing)
    first_finding("streamed text survives", seeds=range(2 * SEEDS_MAX))


def test_a_crash_of_a_part_is_found(monkeypatch):
    append, count = LiveTail.append, itertools.count(1)

    def crash_now_and_then(self, message_id, text):
        if next(count) % 20 == 0:
            raise LookupError("planted")
        return append(self, message_id, text)

    monkeypatch.setattr(LiveTail, "append", crash_now_and_then)
    first_finding("no part of the service crashes")


def test_a_prompt_that_codex_is_told_again_when_it_refused_it_is_found(monkeypatch):
    started = ThreadCalls._started

    def started_or_tried_again(self, conversation, pending, answer, out):
        if hasattr(answer, "message") and not pending.cancel_asked:
            pending.cancel_asked = True
            self.start(conversation, pending, out)
        else:
            started(self, conversation, pending, answer, out)

    monkeypatch.setattr(ThreadCalls, "_started", started_or_tried_again)
    first_finding("a submit id is dispatched at most once", seeds=CODEX_SEEDS)


def test_a_question_of_codex_that_is_answered_twice_is_found(monkeypatch):
    answer = OpenAsks.answer

    def answer_and_again(self, command, out):
        ask = self._open.get(command.request_id)
        answer(self, command, out)
        if ask is not None and ask.request_id not in self._open:
            self._open[ask.request_id] = ask

    monkeypatch.setattr(OpenAsks, "answer", answer_and_again)
    first_finding("an agent is answered once", seeds=CODEX_SEEDS)
