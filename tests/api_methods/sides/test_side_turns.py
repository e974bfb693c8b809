"""`side/send`, `side/cancel`, `side/respond`: every code each can give in a Side that is open."""

import os
import signal

import pytest

from tests.doubles.scripted_codex import notes
from tests.end_to_end.talk import text
from tests.providers_codex.hosted.side_stage import SideStage


@pytest.mark.rule("RT-123")
async def test_what_cannot_be_sent_is_refused_and_the_side_goes_on(sides: SideStage) -> None:
    talk, _ = await sides.stage.settled("[[say done]]")
    side = await sides.open(talk)
    image = {"type": "image", "mediaType": "image/png", "bytes": 3, "attachmentId": "a"}
    link = {"type": "resource_link", "uri": "file:///x", "name": "x"}
    for block in (image, link):
        refused = await sides.refused(
            "side/send", sideAgentSessionId=side, clientSubmitId="s", content=[*text("see"), block]
        )
        assert refused["code"] == "attachment.unsupported"
        assert refused["delivery"] == "not_dispatched"
    refused = await sides.refused(
        "side/send", sideAgentSessionId=side, clientSubmitId="s", content=text("x" * (4 * 1024 * 1024 + 1))
    )
    assert refused["code"] == "request.too_large"
    sent = await sides.send(side, "[[say fine]]", "s")
    assert (await sides.settled(side, sent))["outcome"] == "completed"


@pytest.mark.rule("RT-005", "RT-114")
async def test_one_turn_at_a_time_and_the_same_words_are_answered_with_the_same_turn(
    sides: SideStage,
) -> None:
    talk, _ = await sides.stage.settled("[[say done]]")
    side = await sides.open(talk)
    turn = await sides.send(side, "[[sleep 600000]]", "one")
    for submit, words, code in (("two", "x", "session.busy"), ("one", "x", "submit.conflict")):
        refused = await sides.refused(
            "side/send", sideAgentSessionId=side, clientSubmitId=submit, content=text(words)
        )
        assert refused["code"] == code
    refused = await sides.refused("side/cancel", sideAgentSessionId=side, turnId="stranger")
    assert refused["code"] == "turn.not_found"
    canceled = await sides.request("side/cancel", sideAgentSessionId=side, turnId=turn["turnId"])
    assert canceled["turn"]["cancelRequestedAt"] is not None
    assert (await sides.settled(side, turn))["outcome"] == "canceled"
    assert (await sides.send(side, "[[sleep 600000]]", "one"))["turnId"] == turn["turnId"]


async def test_no_more_turns_than_a_side_remembers(tight: SideStage) -> None:
    talk, _ = await tight.stage.settled("[[say done]]")
    side = await tight.open(talk)
    turn = await tight.send(side, "[[say only]]", "only")
    await tight.settled(side, turn)
    refused = await tight.refused(
        "side/send", sideAgentSessionId=side, clientSubmitId="more", content=text("x")
    )
    assert (refused["code"], refused["details"]) == ("limit.exceeded", {"limit": "maxSideTurns"})
    assert (await tight.send(side, "[[say only]]", "only"))["turnId"] == turn["turnId"]


@pytest.mark.rule("RT-115")
async def test_an_answer_names_its_side_turn_and_request_and_fits(sides: SideStage) -> None:
    talk, _ = await sides.stage.settled("[[say done]]")
    side, other = await sides.open(talk), await sides.open(talk)
    turn = await sides.send(side, "[[ask]]")
    asked = (await sides.wait(side, "interaction"))["interaction"]
    named = {"sideAgentSessionId": side, "turnId": turn["turnId"], "requestId": asked["requestId"]}
    first, second = [{"optionId": option["optionId"]} for option in asked["options"]][:2]
    for wrong, code in (
        ({"requestId": "stranger"}, "interaction.not_found"),
        ({"turnId": "stranger"}, "interaction.not_found"),
        ({"sideAgentSessionId": other}, "interaction.not_found"),
        ({"sideAgentSessionId": "stranger"}, "side.not_found"),
        ({"answer": {"optionId": "stranger"}}, "interaction.unsupported_answer"),
    ):
        refused = await sides.refused("side/respond", **{**named, "answer": first, **wrong})
        assert refused["code"] == code, wrong
    given = await sides.request("side/respond", **named, answer=first)
    assert given["interaction"]["status"] == "answered"
    refused = await sides.refused("side/respond", **named, answer=second)
    assert refused["code"] == "interaction.not_pending"


@pytest.mark.rule("RT-118")
@pytest.mark.case("FC-37")
async def test_after_its_process_is_lost_every_command_says_so_and_it_was_told_once(sides: SideStage) -> None:
    talk = await sides.stage.talk("[[say done]]", settings={"dedicatedProcess": True})
    await sides.client.settled(talk.turn)
    side = await sides.open(talk)
    turn = await sides.send(side, "[[ask]]")
    asked = (await sides.wait(side, "interaction"))["interaction"]
    thread = await sides.stage.thread_of(talk)
    (pid,) = {
        note["pid"]
        for note in notes(sides.stage.home)
        if (note.get("told", {}).get("params") or {}).get("threadId") == thread
    }
    os.kill(pid, signal.SIGKILL)
    await sides.wait(side, "expired")
    named = {"sideAgentSessionId": side, "turnId": turn["turnId"]}
    answer = {"optionId": asked["options"][0]["optionId"]}
    for method, params in (
        ("side/send", {"sideAgentSessionId": side, "clientSubmitId": "s", "content": text("x")}),
        ("side/cancel", named),
        ("side/respond", {**named, "requestId": asked["requestId"], "answer": answer}),
        ("side/get", {"sideAgentSessionId": side}),
        ("side/close", {"sideAgentSessionId": side}),
        (
            "side/open",
            {"agentSessionId": talk.session_id, "sideAgentSessionId": side, "surfaceId": "pane"},
        ),
    ):
        assert (await sides.refused(method, **params))["code"] == "side.expired", method
    assert len(sides.told(side, "expired")) == 1
    assert sides.told(side)[-1]["payload"]["type"] == "expired"
