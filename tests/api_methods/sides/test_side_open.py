"""`side/open`: what it answers, every refusal it can give with an agent that can be forked, and that those leave nothing."""

import time
from pathlib import Path
from typing import Any

import pytest

from tests.doubles.scripted_codex import calls, scripted_target
from tests.end_to_end.client import connected
from tests.end_to_end.fixtures import MakeDaemon
from tests.end_to_end.talk import Talk, start
from tests.providers_codex.hosted.side_stage import SideStage
from tests.providers_codex.hosted.stage import eventually


def opening(talk: Talk, name: str | None = None) -> dict[str, Any]:
    """The params of an opening."""
    side = name or f"side-{time.monotonic_ns()}"
    return {"agentSessionId": talk.session_id, "sideAgentSessionId": side, "surfaceId": "pane"}


async def nothing_of(sides: SideStage, talk: Talk, name: str) -> None:
    """No Side, and nothing was told of one."""
    assert (await sides.refused("side/get", sideAgentSessionId=name))["code"] == "side.not_found"
    assert (await sides.request("side/list", agentSessionId=talk.session_id))["items"] == []
    assert sides.told(name) == []


@pytest.mark.rule("RT-112", "RT-127")
async def test_it_answers_with_the_side_and_a_repeat_with_the_same(sides: SideStage) -> None:
    talk, _ = await sides.stage.settled("[[say done]]", settings={"model": "m1"})
    params = opening(talk)
    first = await sides.request("side/open", **params)
    assert first["side"]["state"] == "open"
    assert first["side"]["sourceAgentSessionId"] == talk.session_id
    assert first["side"]["settings"]["model"] == "m1"
    await sides.request("session/updateSettings", agentSessionId=talk.session_id, settings={"model": "m2"})
    again = await sides.request("side/open", **params)
    assert again["side"] == first["side"], "what it took over stays"
    assert len(sides.told(params["sideAgentSessionId"], "opened")) == 1


@pytest.mark.rule("RT-112")
async def test_two_openings_of_one_id_at_once_make_one_fork(sides: SideStage) -> None:
    talk, _ = await sides.stage.settled("[[say done]]")
    params = {"workspaceId": sides.stage.workspace, **opening(talk)}
    sent = [await sides.client.send("side/open", **params) for _ in range(3)]
    answers = [(await one.result())["side"] for one in sent]
    assert answers[0] == answers[1] == answers[2]
    assert len(await sides.stage.calls(talk, "thread/fork")) == 1


@pytest.mark.rule("RT-109", "RT-111", "RT-128")
@pytest.mark.parametrize(
    ("way", "code", "made"),
    [
        ("reject no", "provider.rejected", False),
        ("answer sandbox dangerFullAccess", "settings.invalid", True),
        ("answer approvalPolicy never", "settings.invalid", True),
        ("answer model other", "provider.model_unavailable", True),
        ("thread ephemeral false", "provider.protocol", True),
        ("thread forkedFromId stranger", "provider.protocol", True),
        ("thread path somewhere", "provider.protocol", True),
    ],
)
async def test_a_fork_that_is_not_the_one_asked_for_is_refused_left_and_never_shown(
    sides: SideStage, way: str, code: str, made: bool
) -> None:
    model = f"[[{way} only=fork]]"
    asked = {"model": model, "sandbox": "workspace-write", "approvalPolicy": "on-request"}
    talk, _ = await sides.stage.settled("[[say done]]", settings=asked)
    params = opening(talk)
    before = len(calls(sides.stage.home, "thread/unsubscribe"))
    refused = await sides.refused("side/open", **params)
    assert refused["code"] == code
    assert refused["delivery"] == "rejected"
    if made:
        await eventually(
            lambda: len(calls(sides.stage.home, "thread/unsubscribe")) > before, "the child to be left"
        )
    await nothing_of(sides, talk, params["sideAgentSessionId"])
    assert (await talk.say("[[say on]]"))["outcome"] == "completed", "its source goes on"


@pytest.mark.rule("RT-111")
async def test_an_agent_that_does_not_answer_is_waited_for_so_long_and_meanwhile_there_is_no_side(
    tight: SideStage,
) -> None:
    talk, _ = await tight.stage.settled("[[say done]]", settings={"model": "[[silent only=fork]]"})
    params = opening(talk)
    sent = await tight.client.send("side/open", workspaceId=tight.stage.workspace, **params)
    thread = await tight.stage.thread_of(talk)
    await eventually(lambda: calls(tight.stage.home, "thread/fork", thread), "the fork")
    await nothing_of(tight, talk, params["sideAgentSessionId"])
    refused = await sent.refusal()
    assert (refused["code"], refused["delivery"]) == ("provider.timeout", "unknown")
    await nothing_of(tight, talk, params["sideAgentSessionId"])


async def test_no_more_sides_than_allowed_and_a_repeat_still_finds_its_own(tight: SideStage) -> None:
    talk, _ = await tight.stage.settled("[[say done]]")
    first = await tight.open(talk)
    await tight.open(talk)
    refused = await tight.refused("side/open", **opening(talk))
    assert refused["code"] == "limit.exceeded"
    assert refused["details"] == {"limit": "maxSides"}
    assert await tight.open(talk, first) == first
    await tight.request("side/close", sideAgentSessionId=first)
    await tight.open(talk)


@pytest.mark.rule("RT-118")
async def test_an_ended_id_is_expired_while_it_is_remembered_and_free_afterwards(tight: SideStage) -> None:
    talk, _ = await tight.stage.settled("[[say done]]")
    first = await tight.open(talk)
    await tight.request("side/close", sideAgentSessionId=first)
    assert (await tight.refused("side/open", **opening(talk, first)))["code"] == "side.expired"
    second = await tight.open(talk)
    await tight.request("side/close", sideAgentSessionId=second)
    assert (await tight.refused("side/get", sideAgentSessionId=first))["code"] == "side.not_found"
    assert await tight.open(talk, first) == first


@pytest.mark.rule("RT-109", "PR-011")
async def test_a_session_of_which_no_conversation_is_known_has_none(sides: SideStage) -> None:
    talk = await sides.stage.talk()
    known = await sides.request("side/capabilities", agentSessionId=talk.session_id)
    assert (known["supported"], known["reason"]) == (False, "conversation")
    refused = await sides.refused("side/open", **opening(talk))
    assert (refused["code"], refused["details"]) == ("capability.unsupported", {"reason": "conversation"})


@pytest.mark.rule("PR-011", "PR-016", "RT-110", "RT-120")
async def test_after_a_restart_a_session_is_forked_in_its_home(
    make_daemon: MakeDaemon, tmp_path: Path
) -> None:
    home, cwd = tmp_path / "home", tmp_path / "work"
    cwd.mkdir()
    daemon = make_daemon({"targets": [scripted_target(home)]})
    async with connected(daemon) as client:
        await client.subscribe("w")
        talk = await start(client, "w", "[[say done]]", target="codex", cwd=str(cwd))
        await client.settled(talk.turn)
    daemon.restart()
    params = {"workspaceId": "w", **opening(talk, "side")}
    async with connected(daemon) as client:
        known = await client.request("side/capabilities", workspaceId="w", agentSessionId=talk.session_id)
        assert known["supported"] is True
        cwd.rename(tmp_path / "elsewhere")
        assert (await client.refused("side/open", **params))["code"] == "session.cwd_missing"
        (tmp_path / "elsewhere").rename(cwd)
        assert not calls(home, "thread/fork")
        await client.request("side/open", **params)
        assert len(calls(home, "thread/fork")) == 1, "noted in the home of the source"
        assert not calls(home, "thread/resume")


@pytest.mark.thorough
@pytest.mark.rule("PR-011", "RT-130")
async def test_a_source_whose_conversation_or_agent_is_gone_says_which(
    make_daemon: MakeDaemon, tmp_path: Path
) -> None:
    home = tmp_path / "home"
    daemon = make_daemon({"targets": [scripted_target(home)]})
    async with connected(daemon) as client:
        await client.subscribe("w")
        talk = await start(client, "w", "[[say done]]", target="codex")
        await client.settled(talk.turn)
    params = {"workspaceId": "w", **opening(talk, "side")}
    for path in (home / "sessions").glob("*"):
        path.unlink()
    target = scripted_target(home)
    for targets, code in (
        ([target], "provider.rejected"),
        ([{**target, "command": ["no-such-agent-program"]}], "provider.unavailable"),
        ([{**target, "enabled": False}], "target.disabled"),
        ([], "target.not_found"),
    ):
        daemon.stop()
        daemon.settings = {"targets": targets}
        daemon.start()
        async with connected(daemon) as client:
            assert (await client.refused("side/open", **params))["code"] == code
            assert (await client.request("side/list", workspaceId="w"))["items"] == []
