"""`session/create`: what a new session is, and what becomes of it after the acknowledgement."""

import json
import os
from pathlib import Path

import pytest
import trio

from tests.end_to_end.client import Client
from tests.end_to_end.daemon import Daemon
from tests.end_to_end.fixtures import Connect
from tests.end_to_end.shapes import is_server_made
from tests.end_to_end.talk import DEMO, create_params, start, text, text_of


async def test_without_content_it_has_a_directory_and_neither_turn_nor_process(
    client: Client, workspace: str, daemon: Daemon
) -> None:
    processes = daemon.providers()
    created = await client.request("session/create", **create_params(workspace))
    session = created["session"]
    assert "turn" not in created
    assert is_server_made(session["agentSessionId"])
    assert session["workspaceId"] == workspace
    assert (session["agentTargetId"], session["provider"]) == (DEMO, "acp")
    assert (session["title"], session["titleSource"]) == (None, "none")
    assert (session["activeTurnId"], session["providerSessionId"]) == (None, None)
    assert (session["capabilities"], session["resumability"]) == (None, "unknown")
    assert session["runtime"] == {"state": "absent", "lastActivityAt": None}
    assert (session["messageVersion"], session["historyRevision"]) == (0, 0)
    assert Path(session["cwd"]).is_dir()
    assert Path(session["cwd"]).is_relative_to(daemon.home / "greenroom")
    assert daemon.providers() == processes


@pytest.mark.rule("RT-057")
async def test_its_agent_works_where_its_row_says_and_never_where_the_daemon_does(
    client: Client, workspace: str, daemon: Daemon
) -> None:
    before = set(daemon.providers())
    talk = await start(client, workspace, "[[say hello]]", target="logged")
    await client.settled(talk.turn)
    own = talk.created["session"]["cwd"]
    assert own != os.readlink(f"/proc/{daemon.pid}/cwd")
    [process] = set(daemon.providers()) - before
    assert os.readlink(f"/proc/{process}/cwd") == own
    await client.request("session/close", **talk.key)
    await talk.say("[[say resumed]]")
    assert [cwd for method, cwd in places_told(daemon) if cwd == own] == [own, own]
    assert {row["cwd"] for row in client.rows("session", agentSessionId=talk.session_id)} == {own}


def places_told(daemon: Daemon) -> list[tuple[str, str]]:
    """Where conversations were to be begun or resumed, as the agents of `logged` were told."""
    frames = [json.loads(line) for line in (daemon.folder / "logged.jsonl").read_text().splitlines()]
    opening = ("session/new", "session/load", "session/resume")
    return [(frame["method"], frame["params"]["cwd"]) for frame in frames if frame.get("method") in opening]


@pytest.mark.rule("RT-029", "RT-028")
async def test_with_content_its_turn_and_prompt_are_there_with_the_reply(
    client: Client, workspace: str
) -> None:
    talk = await start(client, workspace, "[[say hello]]", clientSubmitId="first")
    turn = talk.turn
    assert is_server_made(turn["turnId"])
    assert (turn["phase"], turn["outcome"], turn["delivery"]) == ("submitted", None, "not_dispatched")
    assert (turn["origin"], turn["clientSubmitId"], turn["sequence"]) == ("user_prompt", "first", 1)
    assert talk.created["session"]["activeTurnId"] == turn["turnId"]
    prompt = (await talk.messages())[0]
    assert (prompt["role"], prompt["turnId"], prompt["sequence"]) == ("user", turn["turnId"], 1)
    assert (text_of(prompt), prompt["clientSubmitId"]) == ("[[say hello]]", "first")
    settled = await client.settled(turn)
    assert (settled["outcome"], settled["delivery"]) == ("completed", "accepted")
    assert await talk.texts() == ["hello"]


async def test_everything_the_caller_chooses_is_kept(client: Client, workspace: str, tmp_path: Path) -> None:
    created = await client.request(
        "session/create",
        **create_params(
            workspace,
            agentSessionId="my:own.id-1",
            cwd=str(tmp_path),
            title="A title",
            settings={"model": "demo-large", "dedicatedProcess": True},
            railPlacement={"type": "conversations", "version": 1},
        ),
    )
    session = created["session"]
    assert (session["agentSessionId"], session["cwd"]) == ("my:own.id-1", str(tmp_path))
    assert (session["title"], session["titleSource"]) == ("A title", "user")
    assert session["settings"] == {"model": "demo-large", "dedicatedProcess": True}
    assert session["settingsSource"] == {"model": "explicit", "dedicatedProcess": "explicit"}
    assert await client.request("session/get", workspaceId=workspace, agentSessionId="my:own.id-1") == {
        "session": session,
        "activeTurn": None,
        "turns": [],
        "turnsCursor": None,
        "interactions": [],
        "children": [],
        "incomplete": [],
        "projection": "full",
        "commitSeq": created["commitSeq"],
    }


async def test_settings_reach_the_agent_with_the_first_prompt(client: Client, workspace: str) -> None:
    talk = await start(client, workspace, "[[settings]]", settings={"model": "demo-large", "mode": "auto"})
    await client.settled(talk.turn)
    assert await talk.texts() == ['{"model": "demo-large", "mode": "auto"}']


async def test_an_empty_title_is_none(client: Client, workspace: str) -> None:
    created = await client.request("session/create", **create_params(workspace, title=""))
    assert (created["session"]["title"], created["session"]["titleSource"]) == (None, "none")


async def test_a_null_member_is_as_good_as_none(client: Client, workspace: str) -> None:
    one = await client.request("session/create", **create_params(workspace))
    same = await client.request("session/create", **create_params(workspace, title=None, cwd=None))
    assert same["session"] == one["session"]


@pytest.mark.rule("RT-039", "ST-007")
async def test_equal_ids_in_other_workspaces_are_other_sessions(client: Client, workspace: str) -> None:
    here = await client.request("session/create", **create_params(workspace, agentSessionId="same"))
    there = await client.request(
        "session/create", **create_params(f"{workspace}-other", agentSessionId="same", title="Other")
    )
    assert there["session"]["title"] == "Other"
    assert here["session"]["cwd"] != there["session"]["cwd"]


# --- what comes after the acknowledgement ---------------------------------------------------------------------------


@pytest.mark.rule("RT-047", "RT-048", "RT-049")
async def test_a_title_of_the_user_is_never_replaced_and_the_providers_fills_an_empty_place(
    client: Client, workspace: str
) -> None:
    prompt = "[[title Theirs]] [[say x]] [[title Theirs again]]"
    mine = await start(client, workspace, prompt, title="Mine", clientSubmitId="a")
    theirs = await start(client, workspace, prompt, clientSubmitId="b")
    for talk in (mine, theirs):
        await client.settled(talk.turn)
    shown = {
        talk.session_id: {
            (row["title"], row["titleSource"])
            for row in client.rows("session", agentSessionId=talk.session_id)
        }
        for talk in (mine, theirs)
    }
    assert shown[mine.session_id] == {("Mine", "user")}
    assert shown[theirs.session_id] <= {(None, "none"), ("Theirs", "provider"), ("Theirs again", "provider")}
    detail = await client.request("session/get", **theirs.key)
    assert (detail["session"]["title"], detail["session"]["titleSource"]) == ("Theirs again", "provider")


@pytest.mark.rule("RT-030", "RT-032", "RT-033", "RT-036")
@pytest.mark.parametrize(
    ("target", "code", "delivery"),
    [
        ("missing", "provider.unavailable", "not_dispatched"),
        ("broken", "provider.unavailable", "not_dispatched"),
        ("sign-in", "provider.auth_required", "not_dispatched"),
    ],
)
async def test_an_acknowledged_session_stays_when_its_agent_cannot_start(
    client: Client, workspace: str, target: str, code: str, delivery: str
) -> None:
    params = create_params(workspace, agentTargetId=target, initialContent=text("please"))
    created = await client.request("session/create", **params)
    failed = await client.settled(created["turn"])
    assert (failed["outcome"], failed["delivery"]) == ("failed", delivery)
    assert (failed["error"]["code"], failed["forkable"]) == (code, False)
    key = {"workspaceId": workspace, "agentSessionId": created["session"]["agentSessionId"]}
    detail = await client.request("session/get", **key)
    assert (detail["session"]["activeTurnId"], detail["turns"]) == (None, [failed])
    messages = (await client.request("session/messages", **key, afterVersion=0))["messages"]
    assert [text_of(message) for message in messages if message["role"] == "user"] == ["please"]
    assert (await client.request("session/create", **params))["turn"] == failed


@pytest.mark.rule("RT-031")
async def test_a_rejected_first_prompt_leaves_a_failed_turn_and_no_process(
    client: Client, workspace: str, daemon: Daemon
) -> None:
    before = set(daemon.providers())
    talk = await start(client, workspace, "[[error -32603]]")
    failed = await client.settled(talk.turn)
    assert (failed["outcome"], failed["error"]["code"]) == ("failed", "provider.rejected")
    assert failed["error"]["origin"] == "provider"
    await client.event("runtime_activity", agentSessionId=talk.session_id, runtimeState="absent")
    assert set(daemon.providers()) <= before
    assert (await talk.say("[[say better now]]"))["outcome"] == "completed"


@pytest.mark.rule("RT-035")
async def test_a_client_that_leaves_cancels_nothing_it_was_promised(
    client: Client, connect: Connect, workspace: str
) -> None:
    async with connect() as leaver:
        await leaver.send(
            "session/create", **create_params(workspace, initialContent=text("[[say still done]]"))
        )
    settled = await client.row("turn", phase="settled")
    assert settled["outcome"] == "completed"


async def test_many_at_once_are_all_made(client: Client, workspace: str) -> None:
    sent = [
        await client.send("session/create", **create_params(workspace, clientSubmitId=f"many-{number}"))
        for number in range(100)
    ]
    with trio.fail_after(10):
        replies = [await one.result() for one in sent]
    assert len({reply["session"]["agentSessionId"] for reply in replies}) == 100
    sequence = [reply["commitSeq"] for reply in replies]
    assert sorted(set(sequence)) == sorted(sequence)
