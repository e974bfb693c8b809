"""What a Side refuses while it is open, and that nothing that goes on in it is felt in its source."""

import pytest

from tests.providers_codex.hosted.side_stage import SideStage
from tests.providers_codex.hosted.stage import Stage

STREAM = "[[stream 40 delay=40]]"


@pytest.mark.rule("RT-107", "RT-114")
@pytest.mark.case("FC-38")
async def test_the_text_of_the_source_is_the_same_as_without_sides(stage: Stage, sides: SideStage) -> None:
    alone, settled = await stage.settled(STREAM)
    assert settled["outcome"] == "completed"
    talk = await stage.talk(STREAM)
    await stage.client.event("message_delta", turnId=talk.turn["turnId"])
    for _ in range(5):
        side = await sides.open(talk)
        turn = await sides.send(side, "[[say side]] [[sleep 600000]]")
        await sides.wait(side, "message_delta")
        await sides.request("side/cancel", sideAgentSessionId=side, turnId=turn["turnId"])
        assert (await sides.settled(side, turn))["outcome"] == "canceled"
        await sides.request("side/close", sideAgentSessionId=side)
    settled = await stage.client.settled(talk.turn)
    assert (settled["outcome"], settled["cancelRequestedAt"]) == ("completed", None)
    assert (await talk.texts())[-1] == (await alone.texts())[-1]
    deltas = stage.client.events("message_delta", turnId=talk.turn["turnId"])
    assert [delta["deltaSeq"] for delta in deltas] == list(range(len(deltas)))
    assert stage.client.events("stream_gap") == []


async def test_a_second_prompt_is_busy_and_the_same_one_is_answered_with_its_turn(
    stage: Stage, sides: SideStage
) -> None:
    talk, _ = await stage.settled("[[say done]]")
    side = await sides.open(talk)
    turn = await sides.send(side, "[[sleep 600000]]", "first")
    refused = await sides.refused(
        "side/send", sideAgentSessionId=side, clientSubmitId="second", content=[{"type": "text", "text": "x"}]
    )
    assert refused["code"] == "session.busy"
    assert refused["delivery"] == "not_dispatched"
    repeated = await sides.send(side, "[[sleep 600000]]", "first")
    assert repeated["turnId"] == turn["turnId"]
    read = await sides.request("side/get", sideAgentSessionId=side)
    assert read["activeTurn"]["turnId"] == turn["turnId"] == read["side"]["activeTurnId"]
    await sides.request("side/cancel", sideAgentSessionId=side, turnId=turn["turnId"])
    await sides.settled(side, turn)
    after = await sides.send(side, "[[say free]]", "second")
    assert (await sides.settled(side, after))["outcome"] == "completed"


@pytest.mark.rule("RT-115")
async def test_answers_that_do_not_fit_are_refused_and_leave_it_pending(
    stage: Stage, sides: SideStage
) -> None:
    talk, _ = await stage.settled("[[say done]]")
    side = await sides.open(talk)
    turn = await sides.send(side, "[[ask]]")
    pending = (await sides.wait(side, "interaction"))["interaction"]
    named = {
        "sideAgentSessionId": side,
        "turnId": pending["turnId"],
        "requestId": pending["requestId"],
    }
    refused = await sides.refused("side/respond", **named, answer={"optionId": "no such option"})
    assert refused["code"] == "interaction.unsupported_answer"
    read = await sides.request("side/get", sideAgentSessionId=side)
    assert [row["status"] for row in read["interactions"]] == ["pending"]
    first, second = [{"optionId": option["optionId"]} for option in pending["options"]][:2]
    given = await sides.request("side/respond", **named, answer=first)
    assert given["interaction"]["answerDelivery"] == "delivered"
    again = await sides.request("side/respond", **named, answer=first)
    assert again["interaction"]["status"] == "answered"
    refused = await sides.refused("side/respond", **named, answer=second)
    assert refused["code"] == "interaction.not_pending"
    assert refused["details"]["interaction"]["agentSessionId"] == side
    await sides.settled(side, turn)


async def test_open_sides_are_listed_page_by_page(stage: Stage, sides: SideStage) -> None:
    talk, _ = await stage.settled("[[say done]]")
    names = [await sides.open(talk) for _ in range(3)]
    first = await sides.request("side/list", limit=2)
    second = await sides.request("side/list", limit=2, cursor=first["nextCursor"])
    listed = [side["sideAgentSessionId"] for side in (*first["items"], *second["items"])]
    assert sorted(listed) == sorted(names)
    assert second["nextCursor"] is None
    gone = await sides.request("surface/dispose", surfaceId="pane")
    assert len(gone["closed"]) == 3
