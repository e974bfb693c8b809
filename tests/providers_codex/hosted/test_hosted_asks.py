"""Whatever becomes of a request of Codex, Codex gets exactly one reply to it, and a person sees only what can be answered."""

import pytest

from tests.doubles.scripted_codex import calls, replies, scripted_target
from tests.end_to_end.client import Json, connected
from tests.end_to_end.daemon import PROVIDERS_END_SECONDS
from tests.end_to_end.fixtures import Connect, MakeDaemon
from tests.end_to_end.talk import answer_params
from tests.providers_codex.hosted.stage import Stage, eventually

ASKS = ["[[ask]]", "[[patch notes.txt]]", "[[permissions]]", "[[elicit tool]]", "[[elicit message]]"]
UNUSABLE = [
    pytest.param("[[elicit fields]]", {"action": "decline", "content": None, "_meta": None}, id="fields"),
    pytest.param("[[elicit url]]", {"action": "decline", "content": None, "_meta": None}, id="url"),
    pytest.param("[[elicit identity]]", {"action": "decline", "content": None, "_meta": None}, id="identity"),
    pytest.param("[[request item/tool/call]]", -32000, id="a tool of the client"),
    pytest.param("[[request account/chatgptAuthTokens/refresh]]", -32000, id="tokens"),
    pytest.param("[[request scripted/neverHeardOf]]", -32601, id="an unknown request"),
    pytest.param("[[request item/tool/requestUserInput]]", -32000, id="no question"),
    pytest.param("[[request execCommandApproval]]", {"decision": "denied"}, id="legacy command"),
    pytest.param("[[request applyPatchApproval]]", {"decision": "denied"}, id="legacy patch"),
]


def by_kind(asked: Json, kind: str) -> str:
    """The first option of a kind."""
    return next(str(option["optionId"]) for option in asked["options"] if option["kind"] == kind)


@pytest.mark.case("FC-31")
@pytest.mark.rule("PR-014", "PR-015", "RT-019")
@pytest.mark.parametrize("ask", ASKS)
async def test_an_answer_is_the_one_reply_and_stands_before_what_it_causes(stage: Stage, ask: str) -> None:
    talk = await stage.talk(f"{ask} [[say after]]")
    asked = await talk.pending()
    answered = await talk.answer(asked, by_kind(asked, "allow_once"))
    assert (answered["status"], answered["answerDelivery"]) == ("answered", "delivered")
    turn = await stage.client.settled(talk.turn)
    assert turn["outcome"] == "completed"
    assert (await talk.texts())[-1].endswith("after")
    (reply,) = await stage.one_reply_each(talk, 1)
    assert reply["result"]
    frames = stage.client.events("commit")
    place = {
        kind: next(i for i, event in enumerate(frames) for change in event["changes"] if mark(change))
        for kind, mark in (
            ("answer", lambda change: change["row"].get("status") == "answered"),
            ("end", lambda change: change["row"].get("phase") == "settled"),
        )
    }
    assert place["answer"] <= place["end"]


@pytest.mark.case("FC-04")
@pytest.mark.rule("RT-009", "PR-014")
@pytest.mark.parametrize("ask", [*ASKS, "[[question]]"])
async def test_a_stop_is_the_one_reply_and_a_later_answer_reaches_nobody(stage: Stage, ask: str) -> None:
    talk = await stage.talk(f"{ask} [[say never]]")
    asked = await talk.pending()
    await stage.client.request("turn/cancel", **talk.key, turnId=talk.turn["turnId"])
    assert (await stage.client.settled(talk.turn))["outcome"] == "canceled"
    row = await stage.client.row("interaction", requestId=asked["requestId"], status="superseded")
    assert row["answer"] is None
    option = asked["options"][0]["optionId"] if asked["options"] else "accept"
    refused = await stage.client.refused("interaction/respond", **answer_params(asked, option))
    assert refused["code"] == "interaction.not_pending"
    assert (await talk.say("[[say next]]"))["outcome"] == "completed"
    (reply,) = await stage.one_reply_each(talk, 1)
    assert "allow" not in str(reply)
    assert "accept" not in str(reply)
    assert (await talk.texts()) == ["next"]


@pytest.mark.case("FC-05")
@pytest.mark.rule("RT-009", "RT-022")
async def test_two_clients_race_and_codex_hears_the_first(stage: Stage, connect: Connect) -> None:
    talk = await stage.talk("[[ask]] [[say after]]")
    asked = await talk.pending()
    async with connect() as other:
        await other.subscribe(stage.workspace)
        sent = [
            await stage.client.send("interaction/respond", **answer_params(asked, "accept")),
            await other.send("interaction/respond", **answer_params(asked, "decline")),
        ]
        outcomes = []
        for each in sent:
            try:
                outcomes.append((await each.result())["interaction"]["answer"]["optionId"])
            except Exception as error:
                outcomes.append(str(getattr(error, "code", error)))
        await stage.client.settled(talk.turn)
        seen = await other.row("interaction", requestId=asked["requestId"], status="answered")
    (reply,) = await stage.one_reply_each(talk, 1)
    decision = reply["result"]["decision"]
    assert sorted(outcomes) == sorted([decision, "interaction.not_pending"])
    assert seen["answer"]["optionId"] == decision


@pytest.mark.case("FC-05")
@pytest.mark.rule("RT-014", "RT-015")
async def test_a_lost_client_answers_nothing_and_the_next_one_finds_the_whole_ask(
    stage: Stage, connect: Connect
) -> None:
    async with connect() as first:
        await first.subscribe(stage.workspace)
        talk = await Stage(first, stage.workspace, stage.home).talk("[[patch notes.txt]] [[say after]]")
        asked = await talk.pending()
    async with connect() as second:
        read = await second.request("session/get", **talk.key)
        (found,) = read["interactions"]
        assert (found["input"], found["options"]) == (asked["input"], asked["options"])
        (change,) = found["input"]["changes"]
        assert (change["path"], change["kind"]) == ("notes.txt", "add")
        assert change["diff"].endswith("+one\n+two\n")
    await talk.through(stage.client).answer(found, "accept")
    assert (await stage.client.settled(talk.turn))["outcome"] == "completed"
    (reply,) = await stage.one_reply_each(talk, 1)
    assert reply["result"] == {"decision": "accept"}


@pytest.mark.rule("PR-014", "PR-015", "RT-016")
@pytest.mark.parametrize(("ask", "expected"), UNUSABLE)
async def test_a_shape_nobody_can_answer_is_refused_before_anybody_sees_it(
    stage: Stage, ask: str, expected: object
) -> None:
    talk, turn = await stage.settled(f"{ask} [[say after]]")
    assert turn["outcome"] == "completed"
    (reply,) = await stage.one_reply_each(talk, 1)
    assert (reply["result"] if "result" in reply else reply["error"]["code"]) == expected
    assert stage.client.rows("interaction") == []
    codes = [block["code"] for row in await talk.messages() for block in row["content"] if "code" in block]
    assert codes == ["interaction.unsupported"]


@pytest.mark.case("FC-04")
@pytest.mark.rule("PR-014")
@pytest.mark.parametrize(
    "end", ["session/close", "[[withdrawn 50]]", "[[child]] [[say done]]", "[[stray]] [[say done]]"]
)
async def test_a_request_nobody_waits_for_any_more_gets_its_reply(stage: Stage, end: str) -> None:
    talk = await stage.talk("[[ask]] [[say never]]" if end == "session/close" else end)
    if end == "session/close":
        await talk.pending()
        await stage.client.request("session/close", **talk.key)
        expected = "canceled"
    else:
        expected = "completed"
    assert (await stage.client.settled(talk.turn))["outcome"] == expected
    if "child" in end:
        threads = [f"{await stage.thread_of(talk)}-child"]
    else:
        threads = ["stray-thread"] if "stray" in end else [await stage.thread_of(talk)]
    for thread_id in threads:
        await eventually(lambda name=thread_id: any(replies(stage.home, name)), "the reply")
        *_, given = replies(stage.home, thread_id)
        assert [reply["result"]["decision"] for reply in given] in (["cancel"], ["decline"])


@pytest.mark.case("FC-04")
@pytest.mark.rule("RT-009", "PR-014")
async def test_a_turn_that_ends_over_its_own_question_supersedes_it(stage: Stage) -> None:
    talk = await stage.talk("[[left-asked 50]]")
    asked = await talk.pending()
    assert (await stage.client.settled(talk.turn))["outcome"] == "completed"
    row = await stage.client.row("interaction", requestId=asked["requestId"], status="superseded")
    assert (row["answer"], row["answerDelivery"]) == (None, None)
    (reply,) = await stage.one_reply_each(talk, 1)
    assert reply["result"] == {"decision": "decline"}
    refused = await stage.client.refused("interaction/respond", **answer_params(asked, "accept"))
    assert refused["code"] == "interaction.not_pending"


@pytest.mark.rule("RT-020", "RT-021")
async def test_words_that_come_with_a_refusal_go_on_as_guidance_and_the_turn_goes_on(stage: Stage) -> None:
    talk = await stage.talk("[[ask]] [[say after]]")
    asked = await talk.pending()
    params = answer_params(asked, "decline")
    params["answer"]["feedback"] = "Not here, please."
    reply = await stage.client.request("interaction/respond", **params)
    assert (reply["interaction"]["status"], reply["interaction"]["answer"]["optionId"]) == (
        "answered",
        "decline",
    )
    assert (await stage.client.settled(talk.turn))["outcome"] == "completed"
    (answer,) = await stage.one_reply_each(talk, 1)
    assert answer["result"] == {"decision": "decline"}
    thread_id = await stage.thread_of(talk)
    await eventually(lambda: calls(stage.home, "turn/steer", thread_id), "the words")
    (steer,) = await stage.calls(talk, "turn/steer")
    assert steer["input"][0]["text"] == "Not here, please."


@pytest.mark.case("FC-06", "FC-04")
async def test_a_daemon_killed_and_started_again_answers_no_request_of_before(
    make_daemon: MakeDaemon, tmp_path_factory: pytest.TempPathFactory
) -> None:
    home = tmp_path_factory.mktemp("codex")
    daemon = make_daemon({"targets": [scripted_target(home)]})
    async with connected(daemon) as client:
        await client.subscribe("w")
        stage = Stage(client, "w", home)
        talk = await stage.talk("<<first>> [[ask]] [[say never]]")
        asked = await talk.pending()
        thread_id = await stage.thread_of(talk)
        daemon.kill()
    assert daemon.providers_left(PROVIDERS_END_SECONDS) == []
    daemon.start()
    async with connected(daemon) as client:
        await client.subscribe("w")
        talk = talk.through(client)
        refused = await client.refused("interaction/respond", **answer_params(asked, "accept"))
        assert refused["code"] == "interaction.not_pending"
        turn = (await client.request("turn/get", **talk.key, turnId=talk.turn["turnId"]))["turn"]
        assert (turn["phase"], turn["outcome"], turn["delivery"]) == ("settled", "interrupted", "accepted")
        assert (await talk.say("[[recall]]"))["outcome"] == "completed"
        assert "<<first>>" in (await talk.texts())[-1], "the conversation went on where it was"
    assert replies(home, thread_id) == [[]]
    prompts = [call["input"][0]["text"] for call in calls(home, "turn/start")]
    assert len([prompt for prompt in prompts if "<<first>>" in prompt]) == 1, "it is never sent again"
