"""`session/delete`: whole trees, all or none; what runs in them is ended first."""

import pytest

from tests.end_to_end.client import Client, connected
from tests.end_to_end.daemon import PROVIDERS_END_SECONDS, Daemon, poll_until
from tests.end_to_end.fixtures import Connect, MakeDaemon, token_of
from tests.end_to_end.talk import Talk, answer_params, start, text
from tests.end_to_end.trees import seed_tree


async def delete(client: Client, workspace: str, *sessions: str) -> dict[str, object]:
    return await client.request("session/delete", workspaceId=workspace, agentSessionIds=list(sessions))


def place_of(client: Client, kind: str, talk: Talk) -> int:
    """Where in all that this client received the session's change of this type stands."""
    return next(
        place
        for place, frame in enumerate(client.received)
        if any(
            change["type"] == kind and change["row"]["agentSessionId"] == talk.session_id
            for change in frame.get("changes", ())
        )
    )


@pytest.mark.rule("ST-023")
async def test_a_deleted_session_is_listed_nowhere_and_its_removal_is_told_to_all(
    client: Client, connect: Connect, workspace: str
) -> None:
    talk = await start(client, workspace, "[[say hello]]")
    kept = await start(client, workspace)
    before = await client.settled(talk.turn)
    async with connect() as other:
        await other.subscribe(workspace)
        sent = await client.send(
            "session/delete", workspaceId=workspace, agentSessionIds=[talk.session_id, talk.session_id]
        )
        reply = await sent.result()
        [row] = reply["sessions"]
        assert row["agentSessionId"] == talk.session_id
        assert row["deletedAt"] is not None
        assert await other.row("session_removed", agentSessionId=talk.session_id) == row
        assert await client.row("session_removed", agentSessionId=talk.session_id) == row
    assert sent.place < place_of(client, "session_removed", talk), "the reply comes before its event"
    listed = await client.request("session/list", workspaceId=workspace)
    assert [item["agentSessionId"] for item in listed["items"]] == [kept.session_id]
    assert before["outcome"] == "completed"


@pytest.mark.rule("AP-028")
async def test_what_a_list_offers_is_deleted_at_once_and_only_by_who_may_do_both(
    client: Client, connect: Connect, workspace: str
) -> None:
    for number in range(3):
        await start(client, workspace, clientSubmitId=f"{number}")
    async with connect(token=token_of("reader")) as reader:
        listed = await reader.request("session/list", workspaceId=workspace)
        candidates = [item["agentSessionId"] for item in listed["items"]]
        refused = await reader.refused("session/delete", workspaceId=workspace, agentSessionIds=candidates)
    assert refused["code"] == "auth.forbidden"
    assert len(candidates) == 3
    deleted = await delete(client, workspace, *candidates)
    assert {row["agentSessionId"] for row in deleted["sessions"]} == set(candidates)
    assert (await client.request("session/list", workspaceId=workspace))["items"] == []


@pytest.mark.rule("ST-023")
async def test_deleting_again_is_answered_with_the_same_rows_and_tells_nobody(
    client: Client, connect: Connect, workspace: str
) -> None:
    talk = await start(client, workspace)
    first = await delete(client, workspace, talk.session_id)
    async with connect() as other:
        again = await delete(other, workspace, talk.session_id)
    assert again["sessions"] == first["sessions"]
    await start(client, workspace)
    assert len(client.rows("session_removed")) == 1


@pytest.mark.case("FC-59")
async def test_a_running_turn_and_its_process_end_first(
    client: Client, workspace: str, daemon: Daemon
) -> None:
    before = set(daemon.providers())
    talk = await start(client, workspace, "[[say begun]] [[ask]]")
    asked = await talk.pending()
    sent = await client.send("session/delete", workspaceId=workspace, agentSessionIds=[talk.session_id])
    [row] = (await sent.result())["sessions"]
    assert (row["activeTurnId"], row["runtime"]["state"]) == (None, "absent")
    settled = await client.settled(talk.turn)
    assert settled["outcome"] == "canceled"
    assert client.rows("interaction", requestId=asked["requestId"])[-1]["status"] == "superseded"
    await client.row("session_removed", agentSessionId=talk.session_id)
    assert place_of(client, "turn", talk) < sent.place < place_of(client, "session_removed", talk)
    assert poll_until(lambda: set(daemon.providers()) <= before, PROVIDERS_END_SECONDS)
    assert (await client.refused("interaction/respond", **answer_params(asked)))["code"] == "session.deleted"


async def test_an_agent_that_does_not_obey_is_ended_within_the_bound(client: Client, workspace: str) -> None:
    talk = await start(client, workspace, "[[ignore-cancel]] [[say begun]] [[hang]]")
    await client.event("message_delta")
    [row] = (await delete(client, workspace, talk.session_id))["sessions"]
    assert row["deletedAt"] is not None
    assert (await client.settled(talk.turn))["cancelConfirmedAt"] is None


@pytest.mark.rule("ST-026")
async def test_every_method_on_a_deleted_session_says_so(client: Client, workspace: str) -> None:
    talk = await start(client, workspace, "[[say hello]]")
    await client.settled(talk.turn)
    await delete(client, workspace, talk.session_id)
    turn = {"turnId": talk.turn["turnId"]}
    for method, params in (
        ("session/get", {}),
        ("session/messages", {"afterVersion": 0}),
        ("session/send", {"clientSubmitId": "late", "content": text("[[say late]]")}),
        ("session/close", {}),
        ("session/resume", {}),
        ("session/rename", {"title": "Late"}),
        ("session/pin", {"pinned": True}),
        ("session/updateSettings", {"settings": {"mode": "auto"}}),
        ("turn/get", turn),
        ("turn/list", {}),
        ("turn/cancel", turn),
        ("interaction/respond", {**turn, "requestId": "r", "answer": {"optionId": "x"}}),
    ):
        refused = await client.refused(method, **talk.key, **params)
        assert (method, refused["code"]) == (method, "session.deleted")
        assert refused["delivery"] == "not_dispatched"


async def test_its_id_stays_taken_and_its_create_stays_known(client: Client, workspace: str) -> None:
    talk = await start(client, workspace, agentSessionId="mine", clientSubmitId="once")
    await delete(client, workspace, "mine")
    create = {"workspaceId": workspace, "agentTargetId": "demo", "agentSessionId": "mine"}
    refused = await client.refused("session/create", **create, clientSubmitId="twice")
    assert refused["code"] == "session.exists"
    again = await client.request("session/create", **talk.params)
    assert again["session"]["deletedAt"] is not None


async def test_commands_of_one_client_take_effect_in_their_order(client: Client, workspace: str) -> None:
    talk = await start(client, workspace)
    sent = await client.send(
        "session/send", **talk.key, clientSubmitId="before", content=text("[[sleep 5000]]")
    )
    deleting = await client.send("session/delete", workspaceId=workspace, agentSessionIds=[talk.session_id])
    late = await client.send("session/send", **talk.key, clientSubmitId="after", content=text("[[say x]]"))
    read = await client.send("session/get", **talk.key)
    turn = (await sent.result())["turn"]
    await deleting.result()
    assert (await late.refusal())["code"] == "session.deleted"
    assert (await read.refusal())["code"] == "session.deleted"
    assert (await client.settled(turn))["outcome"] == "canceled"


async def test_two_who_delete_the_same_get_the_same_answer(
    client: Client, connect: Connect, workspace: str
) -> None:
    talk = await start(client, workspace, "[[ask]]")
    await talk.pending()
    async with connect() as other:
        sent = [
            await one.send("session/delete", workspaceId=workspace, agentSessionIds=[talk.session_id])
            for one in (client, other)
        ]
        rows = [(await one.result())["sessions"] for one in sent]
    assert rows[0] == rows[1]
    assert len(client.rows("session_removed")) == 1


@pytest.mark.rule("ST-024")
async def test_one_unknown_name_leaves_the_whole_batch_as_it_is(client: Client, workspace: str) -> None:
    talks = [await start(client, workspace) for _ in range(3)]
    elsewhere = await start(client, f"{workspace}-x", agentSessionId="elsewhere")
    refused = await client.refused(
        "session/delete",
        workspaceId=workspace,
        agentSessionIds=[talks[0].session_id, "unknown", talks[1].session_id, elsewhere.session_id],
    )
    assert refused["code"] == "session.not_found"
    assert refused["details"] == {"agentSessionIds": ["unknown", "elsewhere"]}
    listed = await client.request("session/list", workspaceId=workspace)
    assert len(listed["items"]) == 3
    reply = await delete(client, workspace, *(talk.session_id for talk in talks))
    assert {row["agentSessionId"] for row in reply["sessions"]} == {talk.session_id for talk in talks}  # type: ignore[attr-defined]


@pytest.mark.rule("RT-136")
async def test_children_go_with_their_root_and_never_without_it(make_daemon: MakeDaemon) -> None:
    daemon = make_daemon(start=False)
    seed_tree(daemon.data_dir, "w", "root", "child", "grandchild")
    daemon.start()
    async with connected(daemon) as client:
        await client.subscribe("w")
        refused = await client.refused("session/delete", workspaceId="w", agentSessionIds=["child"])
        assert refused["code"] == "capability.unsupported"
        assert refused["details"] == {"agentSessionIds": ["child"]}
        reply = await delete(client, "w", "child", "root")
        assert [row["agentSessionId"] for row in reply["sessions"]] == ["root", "child", "grandchild"]  # type: ignore[attr-defined]
        await client.row("session_removed", agentSessionId="grandchild")
        removed = [row["agentSessionId"] for row in client.rows("session_removed")]
        assert removed == ["root", "child", "grandchild"]
        refused = await client.refused("session/get", workspaceId="w", agentSessionId="grandchild")
        assert refused["code"] == "session.deleted"
        listed = await client.request("session/listDeleted", workspaceId="w")
        assert [row["agentSessionId"] for row in listed["items"]] == ["root"]


async def test_what_is_asked_wrongly_or_without_the_right_is_refused(
    client: Client, connect: Connect, workspace: str
) -> None:
    for sessions, path in (([], "params.agentSessionIds"), (["a b"], "params.agentSessionIds[0]")):
        refused = await client.refused("session/delete", workspaceId=workspace, agentSessionIds=sessions)
        assert (refused["code"], refused["details"]["path"]) == ("request.invalid", path)
    async with connect(token=token_of("reader")) as reader:
        refused = await reader.refused("session/delete", workspaceId=workspace, agentSessionIds=["a"])
        assert refused["code"] == "auth.forbidden"
