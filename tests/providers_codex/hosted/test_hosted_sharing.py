"""Sessions on one scripted app-server: settings of each, answers that allow more, and the death of the process."""

from collections import Counter

import pytest

from tests.doubles.scripted_codex import notes, scripted_target
from tests.end_to_end.client import connected
from tests.end_to_end.fixtures import MakeDaemon
from tests.providers_codex.hosted.stage import Stage
from tests.providers_real.codex_acp import kill_agent

SESSIONS = 16
WIDER = [
    pytest.param("[[answer sandbox dangerFullAccess]]", {}, "settings.invalid", id="sandbox"),
    pytest.param("[[answer sandbox externalSandbox]]", {}, "settings.invalid", id="no sandbox of its own"),
    pytest.param(
        "[[answer sandbox workspaceWrite]]", {"sandbox": "read-only"}, "settings.invalid", id="edits"
    ),
    pytest.param("[[answer sandbox neverHeardOf]]", {}, "settings.invalid", id="unknown sandbox"),
    pytest.param("[[answer approvalPolicy never]]", {}, "settings.invalid", id="never asks"),
    pytest.param("[[answer approvalPolicy neverHeardOf]]", {}, "settings.invalid", id="unknown policy"),
    pytest.param("[[answer approvalsReviewer auto_review]]", {}, "settings.invalid", id="no person"),
    pytest.param("[[answer cwd /elsewhere]]", {}, "settings.invalid", id="elsewhere"),
    pytest.param("[[answer model another]]", {}, "provider.model_unavailable", id="another model"),
]
OPENINGS = [
    pytest.param(
        "[[reject no rollout found for thread id x]]", "provider.rejected", id="a start has no rollout"
    ),
    pytest.param("[[reject Not initialized]]", "provider.rejected", id="not initialized"),
    pytest.param("[[reject thread x already has an active writer]]", "provider.rejected", id="no resume"),
]
REOPENINGS = [
    pytest.param("no rollout found for thread id x", "session.not_resumable", True, id="gone"),
    pytest.param("invalid session id: invalid character in x", "session.not_resumable", True, id="malformed"),
    pytest.param("thread x already has an active writer", "provider.unavailable", False, id="held"),
    pytest.param("disk I/O error", "provider.rejected", False, id="passing trouble"),
]


@pytest.mark.rule("PR-014")
@pytest.mark.parametrize(("script", "settings", "code"), WIDER)
async def test_an_answer_that_allows_more_than_was_chosen_fails_the_start(
    stage: Stage, script: str, settings: dict[str, str], code: str
) -> None:
    talk, turn = await stage.settled("[[say never]]", settings={**settings, "model": script})
    assert (turn["outcome"], turn["delivery"], turn["error"]["code"]) == ("failed", "not_dispatched", code)
    assert await talk.texts() == []


async def test_an_answer_that_allows_less_is_taken(stage: Stage) -> None:
    model = "[[answer sandbox readOnly]] [[answer approvalPolicy untrusted]]"
    talk, turn = await stage.settled("[[say ok]]", settings={"model": model})
    assert turn["outcome"] == "completed"
    assert await talk.texts() == ["ok"]


@pytest.mark.rule("PR-023", "PR-025")
@pytest.mark.parametrize(("script", "code"), OPENINGS)
async def test_a_refused_start_fails_the_turn_before_it_is_told(stage: Stage, script: str, code: str) -> None:
    _, turn = await stage.settled("[[say never]]", settings={"model": script})
    assert (turn["outcome"], turn["delivery"], turn["error"]["code"]) == ("failed", "not_dispatched", code)


@pytest.mark.case("FC-07")
@pytest.mark.rule("PR-023")
@pytest.mark.parametrize(("text", "code", "gone"), REOPENINGS)
async def test_a_refused_resume_says_whether_the_conversation_is_gone(
    stage: Stage, text: str, code: str, gone: bool
) -> None:
    model = f"[[reject {text} only=resume]]"
    talk, turn = await stage.settled("[[say first]]", settings={"model": model})
    assert turn["outcome"] == "completed"
    await stage.client.request("session/close", **talk.key)
    again = await talk.say("[[say never]]")
    assert (again["outcome"], again["error"]["code"], again["delivery"]) == ("failed", code, "not_dispatched")
    session = (await stage.client.request("session/get", **talk.key))["session"]
    assert (session["resumability"] == "not_resumable") is gone
    assert await talk.texts() == ["first"]
    if gone:
        params = {"clientSubmitId": "later", "content": [{"type": "text", "text": "x"}]}
        refused = await stage.client.refused("session/send", **talk.key, **params)
        assert refused["code"] == "session.not_resumable"
        assert len(await stage.calls(talk, "thread/resume")) == 1, "it is asked once"


@pytest.mark.parametrize(("target", "outcome"), [("defaulting", "failed"), ("warned", "completed")])
async def test_only_a_warning_that_means_defaults_ends_a_process(
    stage: Stage, target: str, outcome: str
) -> None:
    stage.target = target
    talk, turn = await stage.settled("[[say hi]]")
    assert turn["outcome"] == outcome
    if outcome == "failed":
        assert (turn["error"]["code"], turn["delivery"]) == ("provider.unavailable", "not_dispatched")
        assert await talk.texts() == []


@pytest.mark.rule("PR-023")
async def test_a_codex_that_never_answers_fails_the_turn_in_time_and_holds_nobody_up(
    make_daemon: MakeDaemon, tmp_path_factory: pytest.TempPathFactory
) -> None:
    home = tmp_path_factory.mktemp("codex")
    daemon = make_daemon({"targets": [scripted_target(home)], "limits": {"initializeTimeoutSeconds": 1}})
    async with connected(daemon) as client:
        await client.subscribe("w")
        stage = Stage(client, "w", home)
        silent = await stage.talk("[[say never]]", settings={"model": "[[silent]]"})
        _, beside = await stage.settled("[[say beside]]")
        assert beside["outcome"] == "completed"
        turn = await client.settled(silent.turn)
        assert (turn["outcome"], turn["delivery"]) == ("failed", "not_dispatched")
        assert (turn["error"]["code"], turn["error"]["retryable"]) == ("provider.timeout", True)


@pytest.mark.case("FC-24")
async def test_settings_of_one_session_never_reach_another_on_the_process(
    make_daemon: MakeDaemon, tmp_path_factory: pytest.TempPathFactory
) -> None:
    home = tmp_path_factory.mktemp("codex")
    daemon = make_daemon({"targets": [scripted_target(home)]})
    wanted = [
        {"sandbox": "danger-full-access", "approvalPolicy": "never", "model": "large"},
        {"sandbox": "read-only", "approvalPolicy": "untrusted"},
        {},
    ]
    async with connected(daemon) as client:
        await client.subscribe("w")
        stage = Stage(client, "w", home)
        for index, settings in enumerate(wanted):
            cwd = home / f"work-{index}"
            cwd.mkdir()
            talk, _ = await stage.settled("[[settings]]", settings=settings, cwd=str(cwd))
            (told,) = await talk.texts()
            assert f'"cwd": "{cwd}"' in told
            assert f'"sandbox": "{settings.get("sandbox", "workspace-write")}"' in told
            assert f'"model": "{settings.get("model", "gpt-5.5")}"' in told
    assert len({note["pid"] for note in notes(home)}) == 1


@pytest.mark.case("FC-10", "FC-25")
@pytest.mark.rule("RT-005")
async def test_a_process_with_sixteen_sessions_dies_and_every_next_prompt_works(
    make_daemon: MakeDaemon, tmp_path_factory: pytest.TempPathFactory
) -> None:
    home = tmp_path_factory.mktemp("codex")
    daemon = make_daemon({"targets": [scripted_target(home)]})
    async with connected(daemon) as client:
        await client.subscribe("w")
        stage = Stage(client, "w", home)
        talks = [
            await stage.talk(f"<<s{number}>> [[say so far {number}]] [[hang]]") for number in range(SESSIONS)
        ]
        for talk in talks:
            await client.row("message", agentSessionId=talk.session_id, role="assistant", kind="text")
        (pid,) = {note["pid"] for note in notes(home)}
        kill_agent(pid)
        for number, talk in enumerate(talks):
            turn = await client.settled(talk.turn)
            assert (turn["outcome"], turn["error"]["code"]) == ("failed", "provider.lost")
            assert await talk.texts() == [f"so far {number}"]
        for talk in talks:
            assert (await talk.say("[[recall]]"))["outcome"] == "completed"
            assert "<<s" in (await talk.texts())[-1]
    told = Counter(
        note["told"]["params"]["clientUserMessageId"]
        for note in notes(home)
        if note.get("told", {}).get("method") == "turn/start"
    )
    assert set(told.values()) == {1}, "no prompt was told twice"
    assert len({note["pid"] for note in notes(home)}) == 2, "one successor for all"
