"""Planted bugs that lose what was promised to be kept."""

import itertools

import pytest

import store.connection as store_connection
from runtime.actors.session import SessionActor
from runtime.actors.tails import Flusher
from runtime.lifecycle import effects as fx
from runtime.lifecycle import labels
from runtime.lifecycle.live_tail import LiveTail
from store import commit_log
from store.canonical import recovery
from store.statements import deleted_sessions
from tests.simulation.planted.bug import planted


@planted("durability", "acknowledged is durable")
def a_reply_before_its_commit(patch: pytest.MonkeyPatch) -> None:
    commit = SessionActor._commit

    async def reply_then_commit(self, segment):
        self._reply(segment, self._services.writer.head_commit_seq)
        return await commit(self, segment)

    patch.setattr(SessionActor, "_commit", reply_then_commit)


@planted("durability", "acknowledged is durable", "a published commit is durable", seed=9)
def a_database_that_does_not_wait_for_the_disk(patch: pytest.MonkeyPatch) -> None:
    prepare = store_connection._prepare_writer

    def prepare_carelessly(connection, path):
        prepare(connection, path)
        connection.pragma("synchronous", "normal")

    patch.setattr(store_connection, "_prepare_writer", prepare_carelessly)


@planted("durability", "nothing is open after a restart", seed=3)
def a_turn_left_running_by_a_restart(patch: pytest.MonkeyPatch) -> None:
    settle = recovery._settle

    def settle_what_was_not_accepted(turn, now_ms):
        return turn if turn.delivery == "accepted" else settle(turn, now_ms)

    patch.setattr(recovery, "_settle", settle_what_was_not_accepted)


@planted("durability", "streamed text survives", seed=110)
def text_that_is_not_written_behind(patch: pytest.MonkeyPatch) -> None:
    async def flush_nothing(self):
        return None

    patch.setattr(Flusher, "flush", flush_nothing)


@planted("durability", "an acknowledged edit stands", seed=3)
def a_title_that_is_answered_and_not_kept(patch: pytest.MonkeyPatch) -> None:
    def answer_only(step, command):
        step.do(fx.ReplySession(command.reply, step.state.session))

    patch.setattr(labels, "rename", answer_only)


@planted("durability", "rows and log agree", "no commit is missed", "a published commit is durable")
def rows_without_their_entry_in_the_log(patch: pytest.MonkeyPatch) -> None:
    append, count = commit_log.append, itertools.count(1)

    def append_most(connection, entry, now_ms, end):
        return end if next(count) % 9 == 0 else append(connection, entry, now_ms, end)

    patch.setattr(commit_log, "append", append_most)


@planted("durability", "what was purged is gone", "a purge stands", seed=3)
def a_purge_that_only_says_so(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(deleted_sessions, "purge", lambda *_: None)


@planted("crash", "no part of the service crashes", seed=3)
def a_crash_of_a_part(patch: pytest.MonkeyPatch) -> None:
    append, count = LiveTail.append, itertools.count(1)

    def crash_now_and_then(self, message_id, text):
        if next(count) % 20 == 0:
            raise LookupError("planted")
        return append(self, message_id, text)

    patch.setattr(LiveTail, "append", crash_now_and_then)
