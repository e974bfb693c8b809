"""Sub-agents of a scripted Codex as sessions of their own: shown, waited for, stopped, answered, read, searched, deleted."""

import pytest

from tests.end_to_end.client import Json
from tests.end_to_end.fixtures import Connect
from tests.end_to_end.talk import Talk, answer_params, text_of
from tests.providers_codex.hosted.stage import Stage

HANGS = "stream 100000 delay=5"


async def child_of(stage: Stage, talk: Talk) -> Talk:
    """The one session below a root, once it is there and its turn runs."""
    row = await stage.client.wait(
        lambda: [
            row
            for row in stage.client.rows("session")
            if row["parent"] and row["parent"]["rootAgentSessionId"] == talk.session_id
        ],
        "a sub-agent's session",
    )
    key = {"workspaceId": talk.key["workspaceId"], "agentSessionId": row[0]["agentSessionId"]}
    turn = await stage.client.row("turn", agentSessionId=key["agentSessionId"])
    return Talk(stage.client, key, {"session": row[0], "turn": turn})


async def refused(stage: Stage, method: str, **params: object) -> str:
    return str((await stage.client.refused(method, **params))["code"])


def settlements(stage: Stage) -> list[tuple[str, str]]:
    """Which session's turn settled how, in the order of the commits."""
    return [
        (row["agentSessionId"], row["outcome"])
        for row in stage.client.rows("turn")
        if row["phase"] == "settled"
    ]


@pytest.mark.rule("RT-132", "RT-133", "RT-134")
@pytest.mark.parametrize("how", ["", "called"])
async def test_a_sub_agent_has_a_session_with_its_own_turn_and_its_root_waits_for_it(
    stage: Stage, how: str
) -> None:
    prompt = f'[[spawn digger {how} does="sleep 100;say found oaks"]] [[say they work]]'
    talk, turn = await stage.settled(prompt)
    assert (turn["outcome"], turn["origin"]) == ("completed", "user_prompt")
    child = await child_of(stage, talk)
    assert settlements(stage) == [(child.session_id, "completed"), (talk.session_id, "completed")]
    (call,) = [
        row["toolCall"]
        for row in await talk.messages()
        if row["toolCall"] and row["toolCall"].get("childAgentSessionId")
    ]
    parent = child.created["session"]["parent"]
    assert parent == {
        "rootAgentSessionId": talk.session_id,
        "rootTurnId": turn["turnId"],
        "parentAgentSessionId": talk.session_id,
        "parentTurnId": turn["turnId"],
        "parentToolCallId": call["callId"],
    }
    assert (call["childAgentSessionId"], call["kind"]) == (child.session_id, "delegate")
    assert await child.texts() == ["found oaks"]
    assert await talk.texts() == ["they work"]
    said = [text_of(row) for row in await child.messages() if row["role"] == "user"]
    assert said == (["sleep 100;say found oaks"] if how else []), "only a call shows what it was told"


@pytest.mark.rule("AP-023", "RT-001")
async def test_a_root_is_listed_alone_and_read_with_its_sub_agents(stage: Stage) -> None:
    talk, _ = await stage.settled("[[spawn digger]]")
    child = await child_of(stage, talk)
    listed = await stage.client.request("session/list", workspaceId=stage.workspace)
    assert [row["agentSessionId"] for row in listed["items"]] == [talk.session_id]
    found = await stage.client.request("session/get", **talk.key)
    assert [row["agentSessionId"] for row in found["children"]] == [child.session_id]
    below = await stage.client.request("session/get", **child.key)
    assert (below["children"], len(below["turns"])) == ([], 1)


@pytest.mark.rule("RT-133")
async def test_a_sub_agent_whose_beginning_was_not_shown_has_no_session(stage: Stage) -> None:
    talk, turn = await stage.settled('[[spawn digger unshown does="say found oaks"]] [[sleep 100]]')
    assert turn["outcome"] == "completed"
    assert (await stage.client.request("session/get", **talk.key))["children"] == []
    assert [row for row in await talk.messages() if row["toolCall"]] == []


@pytest.mark.rule("RT-005")
async def test_a_prompt_is_refused_while_a_sub_agent_works(stage: Stage) -> None:
    talk = await stage.talk('[[spawn digger does="sleep 300"]]')
    await child_of(stage, talk)
    prompt = [{"type": "text", "text": "[[say more]]"}]
    code = await refused(stage, "session/send", **talk.key, clientSubmitId="early", content=prompt)
    assert code == "session.busy"
    await stage.client.settled(talk.turn)
    assert (await talk.say("[[say more]]"))["outcome"] == "completed"


@pytest.mark.rule("PR-013", "RT-080")
async def test_guidance_after_the_response_goes_on_with_the_same_turn(stage: Stage) -> None:
    talk = await stage.talk(f'[[spawn digger does="{HANGS}"]] [[say they work]]')
    child = await child_of(stage, talk)
    await stage.client.row(
        "message", agentSessionId=talk.session_id, kind="text", status="completed", role="assistant"
    )
    more = [{"type": "text", "text": "[[say I heard you]]"}]
    guided = await stage.client.request(
        "turn/guide", **talk.key, turnId=talk.turn["turnId"], clientSubmitId="g1", content=more
    )
    assert guided["turn"]["phase"] == "running"
    await stage.client.wait(
        lambda: [
            row
            for row in stage.client.rows("message", agentSessionId=talk.session_id)
            if row["status"] == "completed" and text_of(row) == "I heard you"
        ],
        "the second response",
    )
    assert len(await stage.calls(talk, "turn/start")) == 2
    assert await stage.calls(talk, "turn/steer") == []
    await stage.client.request("turn/cancel", **talk.key, turnId=talk.turn["turnId"])
    assert (await stage.client.settled(talk.turn))["outcome"] == "canceled"
    assert (await stage.client.settled(child.turn))["outcome"] == "canceled"
    turns = await stage.client.request("turn/list", **talk.key)
    assert len(turns["items"]) == 1


@pytest.mark.rule("RT-135", "RT-006", "RT-008")
async def test_a_cancel_of_the_root_stops_its_sub_agents_and_creates_none_that_come_late(
    stage: Stage,
) -> None:
    prompt = (
        f'[[cancel-late 400]] [[spawn one does="{HANGS}"]] [[spawn two does="{HANGS}"]] '
        f'[[spawn late after=400 does="{HANGS}"]] [[hang]]'
    )
    talk = await stage.talk(prompt)
    await stage.client.wait(
        lambda: len({row["agentSessionId"] for row in stage.client.rows("turn")}) == 3, "both sub-agents"
    )
    await stage.client.request("turn/cancel", **talk.key, turnId=talk.turn["turnId"])
    turn = await stage.client.settled(talk.turn)
    assert (turn["outcome"], turn["cancelConfirmedAt"] is not None) == ("canceled", True)
    assert [outcome for _, outcome in settlements(stage)] == ["canceled"] * 3
    found = await stage.client.request("session/get", **talk.key)
    assert len(found["children"]) == 2
    assert (await talk.say("[[say next]]"))["outcome"] == "completed"


@pytest.mark.rule("RT-024", "RT-010")
async def test_a_question_of_a_sub_agent_shows_at_its_root_and_is_answered_by_its_own_tuple(
    stage: Stage,
) -> None:
    talk = await stage.talk('[[spawn digger does="ask;say done"]] [[sleep 50]]')
    child = await child_of(stage, talk)
    asked = await child.pending()
    found = await stage.client.request("session/get", **talk.key)
    assert [row["requestId"] for row in found["interactions"]] == [asked["requestId"]]
    assert found["activeTurn"]["phase"] == "running", "it waits for a sub-agent and not for a person"
    wrong = answer_params(asked) | {"agentSessionId": talk.session_id}
    assert await refused(stage, "interaction/respond", **wrong) == "interaction.not_found"
    option = asked["options"][0]["optionId"]
    answered = await child.answer(asked, option)
    assert (answered["status"], answered["agentSessionId"]) == ("answered", child.session_id)
    assert (await stage.client.settled(talk.turn))["outcome"] == "completed"
    assert (await stage.client.settled(child.turn))["outcome"] == "completed"
    assert (await child.texts())[-1].endswith("done")


@pytest.mark.rule("RT-136")
async def test_a_sub_agents_session_takes_reads_and_answers_alone(stage: Stage) -> None:
    talk, _ = await stage.settled("[[spawn digger]]")
    child = await child_of(stage, talk)
    content = [{"type": "text", "text": "[[say no]]"}]
    turn_id = child.turn["turnId"]
    commands: list[tuple[str, Json]] = [
        ("session/send", {"clientSubmitId": "s", "content": content}),
        ("session/rename", {"title": "mine"}),
        ("session/pin", {"pinned": True}),
        ("session/updateSettings", {"settings": {"model": "m"}}),
        ("session/resume", {}),
        ("session/close", {}),
        ("turn/cancel", {"turnId": turn_id}),
        ("turn/guide", {"turnId": turn_id, "clientSubmitId": "g", "content": content}),
        ("side/open", {"sideAgentSessionId": "side-of-child", "surfaceId": "here"}),
    ]
    for method, params in commands:
        assert await refused(stage, method, **child.key, **params) == "capability.unsupported", method
    alone = {"workspaceId": stage.workspace, "agentSessionIds": [child.session_id]}
    assert await refused(stage, "session/delete", **alone) == "capability.unsupported"
    read = await stage.client.request("session/messages", **child.key, afterVersion=0)
    assert len(read["messages"]) == 1
    assert (await stage.client.request("turn/get", **child.key, turnId=turn_id))["turn"][
        "outcome"
    ] == "completed"


@pytest.mark.rule("RT-136", "ST-023", "ST-025")
async def test_a_tree_is_deleted_while_its_sub_agent_works_and_comes_back_whole(stage: Stage) -> None:
    talk = await stage.talk(f'[[spawn digger does="{HANGS}"]] [[say they work]]')
    child = await child_of(stage, talk)
    tree = {"workspaceId": stage.workspace, "agentSessionIds": [talk.session_id]}
    await stage.client.request("session/delete", **tree)
    assert sorted(settlements(stage)) == sorted(
        [(child.session_id, "canceled"), (talk.session_id, "canceled")]
    )
    assert await refused(stage, "session/get", **child.key) == "session.deleted"
    await stage.client.request("session/restore", **tree)
    found = await stage.client.request("session/get", **talk.key)
    assert [row["agentSessionId"] for row in found["children"]] == [child.session_id]
    assert (await talk.say("[[say again]]"))["outcome"] == "completed"


async def test_what_a_sub_agent_said_is_found_by_search(stage: Stage) -> None:
    talk, _ = await stage.settled('[[spawn digger does="say a thing about sequoias"]]')
    child = await child_of(stage, talk)
    found = await stage.client.request("session/search", workspaceId=stage.workspace, query="sequoias")
    assert child.session_id in str(found["items"])


async def test_a_subscription_to_a_root_brings_what_its_sub_agents_do(stage: Stage, connect: Connect) -> None:
    talk, _ = await stage.settled("[[say begun]]")
    other, _ = await stage.settled("[[say apart]]")
    async with connect() as client:
        await client.request(
            "events/subscribe",
            workspaceId=stage.workspace,
            topics=["agent.activity.updated"],
            agentSessionIds=[talk.session_id],
        )
        await talk.send('[[spawn digger does="stream 3;say found"]]')
        await other.say("[[say more]]")
        settled = await client.wait(
            lambda: [
                row
                for row in client.rows("turn")
                if row["phase"] == "settled" and row["agentSessionId"] == talk.session_id
            ],
            "the root's end",
        )
        assert settled[0]["outcome"] == "completed"
        sessions = {row["agentSessionId"] for row in client.rows("session")}
        child_id = (sessions - {talk.session_id}).pop()
        assert sessions == {talk.session_id, child_id}
        deltas = {event["agentSessionId"] for event in client.events() if event["type"] == "message_delta"}
        assert child_id in deltas


@pytest.mark.case("FC-11")
async def test_a_lost_process_ends_the_turns_of_root_and_sub_agent(stage: Stage) -> None:
    talk = await stage.talk(f'[[spawn digger does="{HANGS}"]] [[sleep 200]] [[crash]]')
    child = await child_of(stage, talk)
    root_turn, child_turn = await stage.client.settled(talk.turn), await stage.client.settled(child.turn)
    assert (root_turn["outcome"], root_turn["error"]["code"]) == ("failed", "provider.lost")
    assert (child_turn["outcome"], child_turn["error"]["code"]) == ("failed", "provider.lost")
    assert (await talk.say("[[say again]]"))["outcome"] == "completed"
