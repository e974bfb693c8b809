"""What Codex refuses and how its turns fail: a typed error in our words, nothing of its own, and the next prompt works."""

import sqlite3
from contextlib import closing

import pytest

from runtime.simulation.scripted_codex import texts
from tests.end_to_end.daemon import Daemon
from tests.providers_codex.hosted.stage import SECRET, Stage

LEAK = "unexpected status, url: http://me:pass4word@10.1.2.3/v1 Authorization: Bearer {secret}"
THREAD = "thread-of-nobody"

REFUSALS = [
    pytest.param(texts.NOT_INITIALIZED, "provider.rejected", id="not initialized"),
    pytest.param(texts.ALREADY_INITIALIZED, "provider.rejected", id="already initialized"),
    pytest.param(texts.unknown_method("turn/start", ("a", "b")), "provider.rejected", id="unknown method"),
    pytest.param(texts.missing_field("threadId"), "provider.rejected", id="missing field"),
    pytest.param(texts.needs_experimental("turn/start"), "provider.rejected", id="experimental"),
    pytest.param(texts.thread_not_found(THREAD), "provider.lost", id="thread not found"),
    pytest.param(texts.thread_not_loaded(THREAD), "provider.lost", id="thread not loaded"),
    pytest.param(texts.no_rollout(THREAD), "provider.rejected", id="no rollout"),
    pytest.param(texts.invalid_thread_id("x!"), "provider.rejected", id="malformed id"),
    pytest.param(texts.active_writer(THREAD), "provider.rejected", id="active writer"),
    pytest.param(texts.NO_TURN_TO_INTERRUPT, "provider.rejected", id="nothing to interrupt"),
    pytest.param(texts.other_turn_to_interrupt("a", "b"), "provider.rejected", id="other turn"),
    pytest.param(texts.NO_TURN_TO_STEER, "provider.rejected", id="nothing to steer"),
    pytest.param(texts.other_turn_to_steer("a", "b"), "provider.rejected", id="other turn to steer"),
    pytest.param(texts.unknown_boundary("a"), "provider.rejected", id="unknown boundary"),
    pytest.param(texts.running_boundary("a"), "provider.rejected", id="running boundary"),
    pytest.param(texts.EPHEMERAL_NEEDS_NO_TURNS, "provider.rejected", id="ephemeral fork"),
    pytest.param(texts.ephemeral_unsupported("goals"), "provider.rejected", id="ephemeral"),
    pytest.param(texts.not_materialized(THREAD), "provider.rejected", id="not materialized"),
    pytest.param(texts.SIGNED_OUT, "provider.rejected", id="prose about signing in"),
    pytest.param("HTTP 403 Forbidden: insufficient_quota, billing", "provider.rejected", id="prose"),
    pytest.param(LEAK, "provider.rejected", id="a secret"),
]
"""Every text Codex was seen to refuse with, as an answer to a prompt."""

FAILURES = [
    pytest.param("contextWindowExceeded", "provider.context_full", None, False),
    pytest.param("usageLimitExceeded", "provider.quota", None, False),
    pytest.param("sessionBudgetExceeded", "provider.quota", None, False),
    pytest.param("serverOverloaded", "provider.rate_limited", None, True),
    pytest.param("rateLimitExceeded", "provider.rate_limited", None, True),
    pytest.param("internalServerError", "provider.rejected", None, True),
    pytest.param("modelNotFound", "provider.model_unavailable", None, False),
    pytest.param("unauthorized", "provider.auth_required", None, False),
    pytest.param("cyberPolicy", "provider.refused", None, False),
    pytest.param("tooManyDenials", "provider.stopped", None, False),
    pytest.param("other", "provider.rejected", None, False),
    pytest.param("neverHeardOf", "provider.rejected", None, False),
    pytest.param("httpConnectionFailed status=401", "provider.auth_required", 401, False),
    pytest.param("httpConnectionFailed status=402", "provider.quota", 402, False),
    pytest.param("httpConnectionFailed status=403", "provider.rejected", 403, False),
    pytest.param("httpConnectionFailed status=502", "provider.rejected", 502, True),
    pytest.param("responseTooManyFailedAttempts status=429", "provider.rate_limited", 429, True),
    pytest.param("responseStreamDisconnected status=504", "provider.rejected", 504, True),
]


async def signed_in(stage: Stage) -> list[str]:
    """What the targets say of signing in."""
    return [item["auth"] for item in (await stage.client.request("target/list"))["items"]]


@pytest.mark.rule("PR-023", "PR-024", "PR-025")
@pytest.mark.parametrize(("text", "code"), REFUSALS)
async def test_a_refused_prompt_is_typed_by_what_is_known_and_the_next_one_works(
    stage: Stage, daemon: Daemon, text: str, code: str
) -> None:
    talk, _ = await stage.settled("[[say ready]]")
    before = await signed_in(stage)
    turn = await talk.say(f"[[reject {text}]]")
    assert (turn["outcome"], turn["delivery"]) == ("failed", "rejected")
    assert (turn["error"]["code"], turn["error"]["origin"]) == (code, "provider")
    assert text not in turn["error"]["message"]
    assert await signed_in(stage) == before, "prose says nothing of signing in"
    assert (await talk.say("[[say again]]"))["outcome"] == "completed"
    assert await talk.texts() == ["ready", "again"]


@pytest.mark.rule("PR-023")
async def test_a_prompt_that_is_too_large_for_codex_says_so(stage: Stage) -> None:
    talk, turn = await stage.settled("x" * (texts.INPUT_CHARACTERS_MAX + 1))
    assert (turn["outcome"], turn["delivery"]) == ("failed", "rejected")
    assert turn["error"]["code"] == "request.too_large"
    assert turn["error"]["retryable"] is False
    assert (await talk.say("[[say smaller]]"))["outcome"] == "completed"


@pytest.mark.rule("PR-023", "PR-024", "PR-025", "PR-027")
@pytest.mark.parametrize(("kind", "code", "http_status", "retryable"), FAILURES)
async def test_a_failed_turn_keeps_what_is_typed_and_nothing_else(
    stage: Stage, kind: str, code: str, http_status: int | None, retryable: bool
) -> None:
    before = await signed_in(stage)
    talk, turn = await stage.settled(f"[[say half]] [[fail {kind} {LEAK}]]")
    error = turn["error"]
    assert (turn["outcome"], turn["stopReason"], turn["delivery"]) == ("failed", "failed", "accepted")
    assert (error["code"], error.get("httpStatus")) == (code, http_status)
    assert (error["origin"], error["retryable"]) == ("provider", retryable)
    told = await signed_in(stage)
    assert ("required" in told) if code == "provider.auth_required" else (told == before)
    assert (await talk.say("[[say whole]]"))["outcome"] == "completed"
    assert "required" not in await signed_in(stage), "a request with it succeeded since"
    assert await talk.texts() == ["half", "whole"]


@pytest.mark.rule("PR-024")
async def test_a_secret_in_what_codex_says_of_itself_is_nowhere(stage: Stage, daemon: Daemon) -> None:
    talks = [
        await stage.talk(f"[[reject {LEAK}]]"),
        await stage.talk("[[say x]]", settings={"model": f"[[reject {LEAK}]]"}),
        await stage.talk(f"[[warning {LEAK}]] [[retry 2]] [[config-warning {LEAK}]] [[fail other {LEAK}]]"),
        await stage.talk(f"[[ask]] [[fail unauthorized {LEAK}]]"),
    ]
    await talks[-1].answer(await talks[-1].pending(), "accept")
    for talk in talks:
        assert (await stage.client.settled(talk.turn))["outcome"] == "failed"
    warned = [
        block["text"] for row in await talks[2].messages() for block in row["content"] if "code" in block
    ]
    assert warned[0].startswith("unexpected status, url: http://[redacted]@10.1.2.3/v1"), warned
    assert SECRET not in str(stage.client.received)
    assert SECRET not in daemon.log_file.read_text()
    with closing(sqlite3.connect(f"file:{daemon.data_dir / 'greenroom.db'}?mode=ro", uri=True)) as database:
        assert SECRET not in "\n".join(database.iterdump())
