"""Sides of a scripted Codex through a real daemon: opened in a turn, apart from it, and ended in every way there is."""

import os
import signal
import time
from pathlib import Path
from typing import Any

import pytest

from runtime.providers.side_words import RULES
from tests.doubles.scripted_codex import calls, notes
from tests.end_to_end.client import Client, Json
from tests.end_to_end.daemon import Daemon
from tests.end_to_end.fixtures import Connect
from tests.end_to_end.talk import Talk
from tests.providers_codex.hosted.side_stage import SIDES, SideStage
from tests.providers_codex.hosted.stage import Stage, eventually


async def running(stage: Stage, prompt: str = "[[say begun]] [[sleep 600000]]") -> Talk:
    """A session in the middle of a turn."""
    talk = await stage.talk(prompt)
    await stage.client.wait(
        lambda: stage.client.rows("turn", turnId=talk.turn["turnId"], phase="running"), "the running turn"
    )
    return talk


@pytest.mark.rule("RT-107", "RT-112", "RT-117", "RT-119", "PR-009")
@pytest.mark.case("FC-38")
async def test_a_side_of_a_running_turn_has_its_own_turns_and_leaves_its_source_alone(
    stage: Stage, sides: SideStage
) -> None:
    talk = await running(stage, "[[stream 20 delay=50]] [[say whole]]")
    side = await sides.open(talk)
    turn = await sides.settled(side, await sides.send(side, "[[say side words]] [[recall]]"))
    assert turn["outcome"] == "completed"
    assert "side words" in sides.text(side)
    await sides.request("side/close", sideAgentSessionId=side)
    assert await sides.wait(side, "closed") == {"type": "closed", "reason": "closed"}
    numbers = [event["sequence"] for event in sides.told(side)]
    assert numbers == list(range(1, len(numbers) + 1))
    assert sides.told(side)[0]["payload"]["type"] == "opened"
    source = await stage.client.settled(talk.turn)
    assert source["outcome"] == "completed"
    thread = await stage.thread_of(talk)
    (fork,) = calls(stage.home, "thread/fork", thread)
    assert fork["ephemeral"] is fork["excludeTurns"] is True
    assert "lastTurnId" not in fork
    child = sides_child(stage, turn)
    assert [params["threadId"] for params in calls(stage.home, "thread/unsubscribe", child)] == [child]
    assert not calls(stage.home, "thread/delete")
    assert not calls(stage.home, "turn/interrupt", thread)


def sides_child(stage: Stage, turn: Json) -> str:
    """The thread in which a turn of a Side ran."""
    (started,) = [
        params
        for params in calls(stage.home, "turn/start")
        if params.get("clientUserMessageId") == turn["turnId"]
    ]
    return str(started["threadId"])


@pytest.mark.rule("RT-129")
async def test_each_turn_of_a_side_carries_its_rules_and_its_hosts(stage: Stage, sides: SideStage) -> None:
    talk, _ = await stage.settled("[[say done]]")
    side = await sides.open(talk, instructions="Answer in verse.")
    first = await sides.settled(side, await sides.send(side, "[[say one]]"))
    await sides.settled(side, await sides.send(side, "[[say two]]"))
    child = sides_child(stage, first)
    modes = [params["collaborationMode"] for params in calls(stage.home, "turn/start", child)]
    assert len(modes) == 2
    for mode in modes:
        assert mode["settings"]["developer_instructions"] == f"{RULES}\n\nAnswer in verse."
    (boundary,) = calls(stage.home, "thread/inject_items", child)
    assert "Answer in verse." in boundary["items"][0]["content"][0]["text"]
    told = [note["told"] for note in notes(stage.home) if "told" in note]
    methods = [m["method"] for m in told if (m.get("params") or {}).get("threadId") == child]
    assert methods.index("thread/inject_items") < methods.index("turn/start")


@pytest.mark.rule("RT-114", "RT-115")
async def test_an_approval_in_a_side_is_the_sides_and_a_stop_there_stops_nothing_else(
    stage: Stage, sides: SideStage
) -> None:
    talk = await stage.talk("[[ask]]")
    asked = await stage.client.wait(
        lambda: stage.client.rows("interaction", agentSessionId=talk.session_id), "the question of the source"
    )
    side = await sides.open(talk)
    turn = await sides.send(side, "[[ask]] [[sleep 600000]]")
    payload = await sides.wait(side, "interaction")
    mine = payload["interaction"]
    assert mine["agentSessionId"] == side
    wrong = {"turnId": asked[0]["turnId"], "requestId": asked[0]["requestId"]}
    answer = {"optionId": mine["options"][0]["optionId"]}
    refused = await sides.refused("side/respond", sideAgentSessionId=side, answer=answer, **wrong)
    assert refused["code"] == "interaction.not_found"
    given = await sides.request(
        "side/respond",
        sideAgentSessionId=side,
        turnId=mine["turnId"],
        requestId=mine["requestId"],
        answer=answer,
    )
    assert given["interaction"]["status"] == "answered"
    refused = await sides.refused("side/cancel", sideAgentSessionId=side, turnId=talk.turn["turnId"])
    assert refused["code"] == "turn.not_found"
    await sides.request("side/cancel", sideAgentSessionId=side, turnId=turn["turnId"])
    assert (await sides.settled(side, turn))["outcome"] == "canceled"
    again = await stage.client.request(
        "turn/get", workspaceId=stage.workspace, agentSessionId=talk.session_id, turnId=talk.turn["turnId"]
    )
    assert again["turn"]["phase"] == "waiting"


@pytest.mark.rule("RT-118")
@pytest.mark.case("FC-37")
async def test_a_side_whose_process_is_killed_expires_and_its_source_goes_on(
    stage: Stage, sides: SideStage
) -> None:
    talk = await stage.talk("[[say done]]", settings={"dedicatedProcess": True})
    await stage.client.settled(talk.turn)
    side = await sides.open(talk)
    turn = await sides.send(side, "[[say begun]] [[sleep 600000]]")
    await sides.wait(side, "message_delta")
    child = sides_child(stage, turn)
    (pid,) = {
        note["pid"]
        for note in notes(stage.home)
        if (note.get("told", {}).get("params") or {}).get("threadId") == child
    }
    os.kill(pid, signal.SIGKILL)
    expired = await sides.wait(side, "expired")
    assert expired["reason"] == "provider_lost"
    assert (await sides.settled(side, turn))["error"]["code"] == "provider.lost"
    assert sides.told(side)[-1]["payload"]["type"] == "expired"
    for method, params in SIDE_CALLS.items():
        refused = await sides.refused(method, sideAgentSessionId=side, **params)
        assert refused["code"] == "side.expired", method
    again = await stage.client.request(
        "session/send",
        workspaceId=stage.workspace,
        agentSessionId=talk.session_id,
        clientSubmitId="after",
        content=[{"type": "text", "text": "[[say back]]"}],
    )
    assert (await stage.client.settled(again["turn"]))["outcome"] == "completed"


SIDE_CALLS: dict[str, dict[str, Any]] = {
    "side/send": {"clientSubmitId": "late", "content": [{"type": "text", "text": "x"}]},
    "side/cancel": {"turnId": "t"},
    "side/respond": {"turnId": "t", "requestId": "r", "answer": {"optionId": "o"}},
    "side/close": {},
    "side/get": {},
}


@pytest.mark.rule("RT-131")
async def test_closing_the_source_leaves_its_side_and_deleting_it_ends_the_side_first(
    stage: Stage, sides: SideStage
) -> None:
    talk, _ = await stage.settled("[[say done]]")
    side = await sides.open(talk)
    await stage.client.request("session/close", workspaceId=stage.workspace, agentSessionId=talk.session_id)
    turn = await sides.settled(side, await sides.send(side, "[[say still here]]"))
    assert turn["outcome"] == "completed"
    await sides.request("session/delete", agentSessionIds=[talk.session_id])
    assert await sides.wait(side, "closed") == {"type": "closed", "reason": "source_deleted"}


@pytest.mark.rule("RT-131")
async def test_a_session_goes_back_to_the_process_its_side_keeps(stage: Stage, sides: SideStage) -> None:
    """Another process could not write the conversation while this one still holds it (FC-39)."""
    talk = await stage.talk("[[say done]]", settings={"dedicatedProcess": True})
    await stage.client.settled(talk.turn)
    side = await sides.open(talk)
    await stage.client.request("session/close", workspaceId=stage.workspace, agentSessionId=talk.session_id)
    turn = await talk.send("[[say back]]")
    assert (await stage.client.settled(turn))["outcome"] == "completed"
    thread = await stage.thread_of(talk)
    pids = {
        note["pid"]
        for note in notes(stage.home)
        if (note.get("told", {}).get("params") or {}).get("threadId") == thread
    }
    assert len(pids) == 1
    assert (await sides.settled(side, await sides.send(side, "[[say too]]")))["outcome"] == "completed"


@pytest.mark.rule("RT-120", "RT-110", "PR-016", "RT-130")
async def test_a_side_of_a_closed_session_has_a_process_of_its_own_and_takes_nothing_from_it(
    stage: Stage, sides: SideStage
) -> None:
    talk = await stage.talk("[[say done]]", settings={"dedicatedProcess": True})
    await stage.client.settled(talk.turn)
    await stage.client.request("session/close", workspaceId=stage.workspace, agentSessionId=talk.session_id)
    known = await sides.request("side/capabilities", agentSessionId=talk.session_id)
    assert known["supported"] is True
    side = await sides.open(talk)
    turn = await sides.settled(side, await sides.send(side, "[[say apart]]"))
    assert turn["outcome"] == "completed"
    thread = await stage.thread_of(talk)
    (fork,) = [note for note in notes(stage.home) if _asks(note, "thread/fork", thread)]
    pid = fork["pid"]
    resumed = [note for note in notes(stage.home) if _asks(note, "thread/resume", thread)]
    assert not resumed
    await sides.request("side/close", sideAgentSessionId=side)
    await eventually(lambda: not Path(f"/proc/{pid}").exists(), "the end of the Side's process")


def _asks(note: Json, method: str, thread: str) -> bool:
    told = note.get("told", {})
    return told.get("method") == method and (told.get("params") or {}).get("threadId") == thread


@pytest.mark.rule("RT-112", "RT-116", "RT-126")
async def test_opening_again_finds_the_side_and_submits_are_its_own(
    stage: Stage, sides: SideStage, connect: Connect
) -> None:
    talk, _ = await stage.settled("[[say done]]", clientSubmitId="same")
    side = await sides.open(talk)
    await sides.open(talk, side)
    thread = await stage.thread_of(talk)
    assert len(calls(stage.home, "thread/fork", thread)) == 1
    turn = await sides.send(side, "[[say once]]", "same")
    repeated = await sides.send(side, "[[say once]]", "same")
    assert repeated["turnId"] == turn["turnId"]
    refused = await sides.refused(
        "side/send", sideAgentSessionId=side, clientSubmitId="same", content=[{"type": "text", "text": "y"}]
    )
    assert refused["code"] == "submit.conflict"
    other, _ = await stage.settled("[[say other]]")
    refused = await sides.refused(
        "side/open", agentSessionId=other.session_id, sideAgentSessionId=side, surfaceId="pane"
    )
    assert refused["code"] == "side.exists"


@pytest.mark.rule("RT-126")
@pytest.mark.case("FC-37")
async def test_a_lost_owner_takes_its_sides_along_unless_another_connection_takes_them_over(
    stage: Stage, sides: SideStage, connect: Connect
) -> None:
    talk, _ = await stage.settled("[[say done]]")
    names = [f"kept-{time.monotonic_ns()}", f"lost-{time.monotonic_ns()}"]
    async with connect() as owner:
        for name, surface in zip(names, ("kept", "lost"), strict=True):
            await owner.request(
                "side/open",
                workspaceId=stage.workspace,
                agentSessionId=talk.session_id,
                sideAgentSessionId=name,
                surfaceId=surface,
            )
    taken = await sides.request("surface/attach", surfaceId="kept")
    assert [side["sideAgentSessionId"] for side in taken["sides"]] == names[:1]
    closed = await sides.wait(names[1], "closed")
    assert closed["reason"] == "owner_lost"
    listed = await sides.request("side/list", agentSessionId=talk.session_id)
    assert [side["sideAgentSessionId"] for side in listed["items"]] == names[:1]
    gone = await sides.request("surface/dispose", surfaceId="kept")
    assert [side["state"] for side in gone["closed"]] == ["closed"]
    assert (await sides.wait(names[0], "closed"))["reason"] == "surface_disposed"


@pytest.mark.rule("AP-017", "AP-040")
async def test_each_operation_is_there_and_what_it_tells_stays_in_its_workspace_and_is_numbered_for_itself(
    stage: Stage, sides: SideStage, connect: Connect
) -> None:
    talk, _ = await stage.settled("[[say done]]")
    async with connect() as elsewhere, connect() as here:
        for client, workspace in ((elsewhere, f"{stage.workspace}-x"), (here, stage.workspace)):
            await client.request("events/subscribe", workspaceId=workspace, topics=[SIDES])
        assert (await sides.request("side/capabilities", agentSessionId=talk.session_id))["supported"]
        first, second = await sides.open(talk), await sides.open(talk)
        asking = await sides.send(first, "[[ask]] [[say answered]]")
        asked = (await sides.wait(first, "interaction"))["interaction"]
        named = {"sideAgentSessionId": first, "turnId": asking["turnId"]}
        for wrong in ({"turnId": "unknown"}, {"requestId": "unknown"}, {"sideAgentSessionId": second}):
            params = {**named, "requestId": asked["requestId"], "answer": {"optionId": "accept"}, **wrong}
            code = (await sides.refused("side/respond", **params))["code"]
            assert code in ("turn.not_found", "interaction.not_found"), wrong
        wrong_turn = await sides.refused("side/cancel", **{**named, "sideAgentSessionId": second})
        assert wrong_turn["code"] == "turn.not_found"
        answer = {**named, "requestId": asked["requestId"], "answer": {"optionId": "accept"}}
        for _ in range(2):
            assert (await sides.request("side/respond", **answer))["interaction"]["status"] == "answered"
        assert (await sides.settled(first, asking))["outcome"] == "completed"
        hanging = await sides.send(second, "[[sleep 600000]]")
        await sides.request("side/cancel", sideAgentSessionId=second, turnId=hanging["turnId"])
        assert (await sides.settled(second, hanging))["outcome"] == "canceled"
        again = await sides.request("side/cancel", sideAgentSessionId=second, turnId=hanging["turnId"])
        assert again["turn"]["outcome"] == "canceled"
        for side in (first, second):
            await sides.request("side/close", sideAgentSessionId=side)
            await sides.wait(side, "closed")
            numbers = [event["sequence"] for event in sides.told(side)]
            assert numbers == list(range(1, len(numbers) + 1)), "each Side counts for itself"
        await here.wait(lambda: len(_ends(here)) == 2, "the ends of both")
        assert elsewhere.events("side") == []


def _ends(client: Client) -> list[Json]:
    return [event for event in client.events("side") if event["payload"]["type"] == "closed"]


async def test_a_command_that_follows_its_opening_finds_the_side(stage: Stage, sides: SideStage) -> None:
    talk, _ = await stage.settled("[[say done]]")
    name = f"quick-{time.monotonic_ns()}"
    opening = await stage.client.send(
        "side/open",
        workspaceId=stage.workspace,
        agentSessionId=talk.session_id,
        sideAgentSessionId=name,
        surfaceId="pane",
    )
    turn = await sides.send(name, "[[say quick]]")
    assert (await opening.result())["side"]["state"] == "open"
    assert (await sides.settled(name, turn))["outcome"] == "completed"


@pytest.mark.rule("RT-109", "RT-111")
@pytest.mark.parametrize("way", ["answer sandbox dangerFullAccess only=fork", "reject no only=fork"])
async def test_a_fork_that_fails_leaves_nothing(stage: Stage, sides: SideStage, way: str) -> None:
    talk, _ = await stage.settled("[[say done]]", settings={"model": f"[[{way}]]"})
    name = f"failed-{time.monotonic_ns()}"
    await sides.refused("side/open", agentSessionId=talk.session_id, sideAgentSessionId=name, surfaceId="p")
    refused = await sides.refused("side/get", sideAgentSessionId=name)
    assert refused["code"] == "side.not_found"
    listed = await sides.request("side/list", agentSessionId=talk.session_id)
    assert listed["items"] == []
    await stage.client.request("session/close", workspaceId=stage.workspace, agentSessionId=talk.session_id)


@pytest.mark.rule("RT-106", "RT-108", "RT-117", "RT-116")
async def test_no_byte_of_a_side_is_kept_found_or_logged_anywhere(
    stage: Stage, sides: SideStage, daemon: Daemon
) -> None:
    talk, _ = await stage.settled("[[say done]]")
    word = f"zebra{time.monotonic_ns()}"
    side = await sides.open(talk, f"side-{word}", instructions=f"instructions-{word}")
    await sides.settled(side, await sides.send(side, f"[[say {word}]] [[title {word}]]", f"submit-{word}"))
    asked = await sides.send(side, f"[[ask command={word}]]")
    pending = (await sides.wait(side, "interaction"))["interaction"]
    await sides.request(
        "side/respond",
        sideAgentSessionId=side,
        turnId=asked["turnId"],
        requestId=pending["requestId"],
        answer={"optionId": pending["options"][0]["optionId"]},
    )
    await sides.settled(side, asked)
    await sides.request("side/close", sideAgentSessionId=side)
    await sides.wait(side, "closed")
    found = await sides.request("session/search", query=word)
    assert found["items"] == []
    listed = await sides.request("session/list")
    assert [row["agentSessionId"] for row in listed["items"]] == [talk.session_id]
    activity = [frame for frame in sides.client.received if frame.get("topic") == "agent.activity.updated"]
    assert activity
    assert word not in str(activity)
    # Whatever the daemon keeps: the database, its log beside it, and what it logged.
    kept = [path for path in daemon.data_dir.rglob("*") if path.is_file()]
    assert any(path.name == "greenroom.db" for path in kept)
    assert not [path for path in kept if word.encode() in path.read_bytes()]
    assert word not in daemon.log_tail()
    assert not [line for line in daemon.log_lines() if word in str(line)]
