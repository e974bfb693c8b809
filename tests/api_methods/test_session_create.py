"""`session/create`: what a new session is, what makes it fail, and that one submit id makes one session."""

import json
import os
from pathlib import Path
from typing import Any

import pytest
import trio

from tests.end_to_end.client import Client, Json
from tests.end_to_end.daemon import Daemon
from tests.end_to_end.fixtures import Connect, token_of
from tests.end_to_end.shapes import is_server_made
from tests.end_to_end.talk import DEMO, start, text, text_of


def params_of(workspace: str, **changes: Any) -> Json:
    return {"workspaceId": workspace, "agentTargetId": DEMO, "clientSubmitId": "create", **changes}


async def test_without_content_it_has_a_directory_and_neither_turn_nor_process(
    client: Client, workspace: str, daemon: Daemon
) -> None:
    processes = daemon.providers()
    created = await client.request("session/create", **params_of(workspace))
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
        **params_of(
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
    created = await client.request("session/create", **params_of(workspace, title=""))
    assert (created["session"]["title"], created["session"]["titleSource"]) == (None, "none")


async def test_a_null_member_is_as_good_as_none(client: Client, workspace: str) -> None:
    one = await client.request("session/create", **params_of(workspace))
    same = await client.request("session/create", **params_of(workspace, title=None, cwd=None))
    assert same["session"] == one["session"]


@pytest.mark.rule("RT-039", "ST-007")
async def test_equal_ids_in_other_workspaces_are_other_sessions(client: Client, workspace: str) -> None:
    here = await client.request("session/create", **params_of(workspace, agentSessionId="same"))
    there = await client.request(
        "session/create", **params_of(f"{workspace}-other", agentSessionId="same", title="Other")
    )
    assert there["session"]["title"] == "Other"
    assert here["session"]["cwd"] != there["session"]["cwd"]


# --- one submit id, one session -------------------------------------------------------------------------------------


@pytest.mark.rule("RT-037")
@pytest.mark.case("FC-23")
async def test_repeating_it_shows_the_same_session_as_it_stands(
    client: Client, workspace: str, daemon: Daemon
) -> None:
    params = params_of(workspace, agentTargetId="logged", initialContent=text("[[say once only]]"))
    created = await client.request("session/create", **params)
    settled = await client.settled(created["turn"])
    repeated = await client.request("session/create", **params)
    assert repeated["turn"] == settled
    assert repeated["session"]["agentSessionId"] == created["session"]["agentSessionId"]
    assert repeated["session"]["activeTurnId"] is None
    assert repeated["session"]["runtime"]["state"] == "live"
    assert (daemon.folder / "logged.jsonl").read_text().count("once only") == 1


@pytest.mark.case("FC-23")
async def test_the_same_create_on_two_connections_at_once_makes_one_session(
    client: Client, connect: Connect, workspace: str
) -> None:
    params = params_of(workspace, initialContent=text("[[say hello]]"))
    async with connect() as other:
        sent = [await one.send("session/create", **params) for one in (client, other, client, other)]
        replies = [await one.result() for one in sent]
    assert len({reply["session"]["agentSessionId"] for reply in replies}) == 1
    assert len({reply["turn"]["turnId"] for reply in replies}) == 1
    listed = await client.request("session/list", workspaceId=workspace)
    assert len(listed["items"]) == 1
    await client.settled(replies[0]["turn"])


@pytest.mark.parametrize(
    "change",
    [
        {"initialContent": text("something else")},
        {"title": "Another"},
        {"agentSessionId": "another-id"},
        {"agentTargetId": "logged"},
        {"settings": {"mode": "auto"}},
    ],
    ids=lambda change: next(iter(change)),
)
@pytest.mark.case("FC-23")
async def test_the_same_submit_id_for_something_else_is_a_conflict(
    client: Client, workspace: str, change: Json
) -> None:
    created = await client.request("session/create", **params_of(workspace))
    refused = await client.refused("session/create", **params_of(workspace, **change))
    assert (refused["code"], refused["retryable"]) == ("submit.conflict", False)
    listed = await client.request("session/list", workspaceId=workspace)
    assert [item["agentSessionId"] for item in listed["items"]] == [created["session"]["agentSessionId"]]


async def test_its_submit_id_counts_as_used_in_the_new_session_alone(client: Client, workspace: str) -> None:
    talk = await start(client, workspace, clientSubmitId="mine")
    refused = await client.refused(
        "session/send", **talk.key, clientSubmitId="mine", content=text("[[say hello]]")
    )
    assert refused["code"] == "submit.conflict"
    other = await start(client, workspace, clientSubmitId="other")
    assert (await client.settled(await other.send("[[say hello]]", "mine")))["outcome"] == "completed"


async def test_a_submit_id_belongs_to_its_workspace(client: Client, workspace: str) -> None:
    one = await client.request("session/create", **params_of(workspace))
    other = await client.request("session/create", **params_of(f"{workspace}-2"))
    assert one["session"]["agentSessionId"] != other["session"]["agentSessionId"]


@pytest.mark.rule("RT-038")
@pytest.mark.parametrize("submit_id", ["0", " ", "goal:set", "🚪" * 200, "../../etc/passwd", '"];'])
async def test_a_submit_id_is_opaque(client: Client, workspace: str, submit_id: str) -> None:
    one = await client.request("session/create", **params_of(workspace, clientSubmitId=submit_id))
    same = await client.request("session/create", **params_of(workspace, clientSubmitId=submit_id))
    assert one["session"] == same["session"]


async def test_the_known_submit_id_is_looked_at_before_the_session_id(client: Client, workspace: str) -> None:
    params = params_of(workspace, agentSessionId="taken", clientSubmitId="one")
    await client.request("session/create", **params)
    assert (await client.request("session/create", **params))["session"]["agentSessionId"] == "taken"
    refused = await client.refused("session/create", **{**params, "clientSubmitId": "two"})
    assert (refused["code"], refused["delivery"]) == ("session.exists", "not_dispatched")


@pytest.mark.rule("RT-059")
async def test_a_refused_create_leaves_nothing_and_frees_its_id(
    client: Client, workspace: str, daemon: Daemon
) -> None:
    refused = await client.refused("session/create", **params_of(workspace, agentTargetId="nobody"))
    assert (refused["code"], refused["delivery"]) == ("target.not_found", "not_dispatched")
    refused = await client.refused("session/create", **params_of(workspace, settings={"model": True}))
    assert refused["code"] == "settings.invalid"
    assert (await client.request("session/list", workspaceId=workspace))["items"] == []
    assert not (daemon.home / "greenroom" / workspace).exists()
    await client.request("session/create", **params_of(workspace))


# --- refusals -------------------------------------------------------------------------------------------------------


@pytest.mark.rule("AP-002", "AP-003", "AP-008")
@pytest.mark.parametrize(
    ("change", "path"),
    [
        ({"agentTargetId": None}, "params.agentTargetId"),
        ({"clientSubmitId": ""}, "params.clientSubmitId"),
        ({"clientSubmitId": "a\nb"}, "params.clientSubmitId"),
        ({"clientSubmitId": "x" * 201}, "params.clientSubmitId"),
        ({"agentSessionId": "no spaces"}, "params.agentSessionId"),
        ({"agentSessionId": "x" * 129}, "params.agentSessionId"),
        ({"workspaceId": "ä"}, "params.workspaceId"),
        ({"title": "x" * 501}, "params.title"),
        ({"settings": {"model": 1}}, "params.settings.model"),
        ({"settings": []}, "params.settings"),
        ({"settings": {"model": "x" * 1001}}, "params.settings.model"),
        ({"initialContent": []}, "params.initialContent"),
        ({"initialContent": text("")}, "params.initialContent"),
        ({"initialContent": [{"type": "text"}]}, "params.initialContent[0].text"),
        ({"initialContent": [{"type": "video"}]}, "params.initialContent[0].type"),
        ({"initialContent": [{"type": "notice", "code": "x"}]}, "params.initialContent[0].type"),
        ({"railPlacement": {"type": "conversations", "version": 2}}, "params.railPlacement.version"),
        ({"railPlacement": {"type": "drawer", "version": 1}}, "params.railPlacement.type"),
        ({"computerUse": True}, "params.computerUse"),
    ],
)
async def test_what_is_wrong_with_it_is_named(
    client: Client, workspace: str, change: Json, path: str
) -> None:
    refused = await client.refused("session/create", **{**params_of(workspace), **change})
    assert (refused["code"], refused["details"]["path"]) == ("request.invalid", path)
    assert (await client.request("session/list", workspaceId=workspace))["items"] == []


@pytest.mark.parametrize("missing", ["workspaceId", "agentTargetId", "clientSubmitId"])
async def test_what_is_missing_is_named(client: Client, workspace: str, missing: str) -> None:
    params = params_of(workspace)
    del params[missing]
    refused = await client.refused("session/create", **params)
    assert refused["details"] == {"path": f"params.{missing}", "problem": "is missing"}


@pytest.mark.rule("RT-040")
@pytest.mark.parametrize(
    ("change", "code", "details"),
    [
        ({"agentTargetId": "nobody"}, "target.not_found", {}),
        ({"agentTargetId": "disabled"}, "target.disabled", {}),
        ({"settings": {"colour": "red"}}, "settings.invalid", {"key": "colour"}),
        ({"settings": {"dedicatedProcess": "yes"}}, "settings.invalid", {"key": "dedicatedProcess"}),
        ({"settings": {"model": True}}, "settings.invalid", {"key": "model"}),
        ({"cwd": "/no/such/directory"}, "session.cwd_missing", {}),
        ({"cwd": "/etc/passwd"}, "session.cwd_missing", {}),
        ({"cwd": "relative"}, "session.cwd_missing", {}),
        ({"isolation": {"type": "worktree"}}, "capability.unsupported", {"param": "isolation"}),
        (
            {"railPlacement": {"type": "project", "version": 1, "path": "/"}},
            "capability.unsupported",
            {"param": "railPlacement"},
        ),
        (
            {"initialGoalControl": {"action": "set", "objective": "x"}},
            "capability.unsupported",
            {"param": "initialGoalControl"},
        ),
        (
            {
                "initialContent": [
                    {"type": "image", "mediaType": "image/png", "bytes": 1, "attachmentId": "a"}
                ]
            },
            "attachment.not_found",
            {"attachmentId": "a"},
        ),
    ],
)
async def test_what_cannot_be_is_refused_before_anything_exists(
    client: Client, workspace: str, change: Json, code: str, details: Json
) -> None:
    refused = await client.refused("session/create", **params_of(workspace, **change))
    assert (refused["code"], refused["delivery"]) == (code, "not_dispatched")
    assert refused["details"] == details
    assert (await client.request("session/list", workspaceId=workspace))["items"] == []


@pytest.mark.rule("RT-068")
async def test_content_and_goal_exclude_each_other(client: Client, workspace: str) -> None:
    refused = await client.refused(
        "session/create",
        **params_of(
            workspace,
            initialContent=text("x"),
            initialGoalControl={"action": "set", "objective": "x"},
        ),
    )
    assert refused["code"] == "request.invalid"


async def test_a_prompt_longer_than_a_message_may_be_is_too_large(client: Client, workspace: str) -> None:
    content = text("x" * (4 * 1024 * 1024 + 1))
    refused = await client.refused("session/create", **params_of(workspace, initialContent=content))
    assert (refused["code"], refused["delivery"]) == ("request.too_large", "not_dispatched")


async def test_a_token_for_reading_creates_nothing(connect: Connect, workspace: str) -> None:
    async with connect(token=token_of("reader")) as reader:
        refused = await reader.refused("session/create", **params_of(workspace))
        assert refused["code"] == "auth.forbidden"
        assert (await reader.request("session/list", workspaceId=workspace))["items"] == []


async def test_a_token_for_some_workspaces_reaches_no_other(connect: Connect, workspace: str) -> None:
    async with connect(token=token_of("tenant")) as tenant:
        assert (await tenant.refused("session/create", **params_of(workspace)))["code"] == "auth.forbidden"
        created = await tenant.request("session/create", **params_of("tenant-1", clientSubmitId=workspace))
        assert created["session"]["workspaceId"] == "tenant-1"


async def test_a_token_with_roots_works_below_them_alone(
    connect: Connect, workspace: str, daemon: Daemon
) -> None:
    root = daemon.folder / "root"
    (root / "below").mkdir(exist_ok=True)
    (root / "way-out").unlink(missing_ok=True)
    (root / "way-out").symlink_to("/")
    async with connect(token=token_of("rooted")) as rooted:
        for cwd in (None, "/", str(root / ".."), str(root / "way-out"), f"{root}-beside"):
            refused = await rooted.refused("session/create", **params_of(workspace, cwd=cwd))
            assert refused["code"] == "auth.forbidden", cwd
        created = await rooted.request("session/create", **params_of(workspace, cwd=str(root / "below")))
        assert created["session"]["cwd"] == str(root / "below")


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
    params = params_of(workspace, agentTargetId=target, initialContent=text("please"))
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
        await leaver.send("session/create", **params_of(workspace, initialContent=text("[[say still done]]")))
    settled = await client.row("turn", phase="settled")
    assert settled["outcome"] == "completed"


async def test_many_at_once_are_all_made(client: Client, workspace: str) -> None:
    sent = [
        await client.send("session/create", **params_of(workspace, clientSubmitId=f"many-{number}"))
        for number in range(100)
    ]
    with trio.fail_after(10):
        replies = [await one.result() for one in sent]
    assert len({reply["session"]["agentSessionId"] for reply in replies}) == 100
    sequence = [reply["commitSeq"] for reply in replies]
    assert sorted(set(sequence)) == sorted(sequence)
