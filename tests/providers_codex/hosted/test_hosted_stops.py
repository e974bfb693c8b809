"""Stopping turns of a scripted Codex: which turn it names, what it ignores, and that the others never notice."""

import pytest

from tests.end_to_end.daemon import Daemon
from tests.providers_codex.hosted.stage import Stage


@pytest.mark.case("FC-02")
@pytest.mark.rule("RT-006", "RT-007")
async def test_a_stop_of_a_turn_codex_names_otherwise_is_tried_once_more_with_that_name(stage: Stage) -> None:
    talk = await stage.talk("[[wrong-id]] [[stream 500 delay=10]]")
    await stage.client.row("message", role="assistant", kind="text")
    await stage.client.request("turn/cancel", **talk.key, turnId=talk.turn["turnId"])
    turn = await stage.client.settled(talk.turn)
    assert (turn["outcome"], turn["stopReason"]) == ("canceled", "interrupted")
    assert turn["cancelRequestedAt"] <= turn["cancelConfirmedAt"]
    first, second = await stage.calls(talk, "turn/interrupt")
    (started,) = await stage.calls(talk, "turn/start")
    assert first["turnId"] != second["turnId"]
    assert started["clientUserMessageId"] == talk.turn["turnId"]
    assert (await talk.say("[[say next]]"))["outcome"] == "completed"


@pytest.mark.case("FC-02", "FC-12")
@pytest.mark.rule("RT-006", "RT-008")
async def test_a_stop_that_is_refused_twice_is_not_taken_for_done(stage: Stage, daemon: Daemon) -> None:
    talk = await stage.talk("[[wrong-id refuses=2]] [[stream 2000 delay=10]]")
    await stage.client.row("message", role="assistant", kind="text")
    reply = await stage.client.request("turn/cancel", **talk.key, turnId=talk.turn["turnId"])
    assert reply["turn"]["outcome"] is None
    turn = await stage.client.settled(talk.turn)
    assert (turn["outcome"], turn["cancelConfirmedAt"]) == ("canceled", None), "forced, never confirmed"
    assert len(await stage.calls(talk, "turn/interrupt")) == 2
    assert (await talk.say("[[say next]]"))["outcome"] == "completed"


@pytest.mark.case("FC-12")
@pytest.mark.rule("RT-008")
async def test_forcing_one_session_drains_its_process_and_never_kills_the_others(stage: Stage) -> None:
    beside = [await stage.talk("[[stream 250 delay=10]] [[say done]]") for _ in range(3)]
    stuck = await stage.talk("[[ignore-cancel]] [[say stuck]] [[stream 4000 delay=10]]")
    await stage.client.row("message", turnId=stuck.turn["turnId"], role="assistant")
    await stage.client.request("turn/cancel", **stuck.key, turnId=stuck.turn["turnId"])
    forced = await stage.client.settled(stuck.turn)
    assert (forced["outcome"], forced["cancelConfirmedAt"]) == ("canceled", None)
    kept = await stuck.messages()
    for talk in beside:
        turn = await stage.client.settled(talk.turn)
        assert (turn["outcome"], turn["error"]) == ("completed", None)
        assert (await talk.texts())[-1].endswith("done")
    after = [row for row in await stuck.messages() if row["turnId"] == stuck.turn["turnId"]]
    assert [row["content"] for row in after] == [row["content"] for row in kept], (
        "what it still says is nobody's"
    )
    assert (await stuck.say("[[say again]]"))["outcome"] == "completed", (
        "it waits for its thread to be let go"
    )


@pytest.mark.case("FC-13")
@pytest.mark.rule("RT-003", "RT-007", "ST-006")
async def test_late_words_of_a_stopped_turn_are_not_in_the_next_one(stage: Stage) -> None:
    talk = await stage.talk("[[late 300]] [[say first]] [[hang]]")
    await stage.client.row("message", role="assistant", kind="text")
    await stage.client.request("turn/cancel", **talk.key, turnId=talk.turn["turnId"])
    stopped = await stage.client.settled(talk.turn)
    following = await talk.send("[[say second]] [[sleep 600]] [[say third]]")
    turn = await stage.client.settled(following)
    assert turn["outcome"] == "completed"
    assert await talk.texts() == ["first", "secondthird"]
    again = (await stage.client.request("turn/cancel", **talk.key, turnId=stopped["turnId"]))["turn"]
    assert again == stopped, "a stop of the old turn changes nothing"
    assert len(await stage.calls(talk, "turn/interrupt")) == 1


@pytest.mark.rule("RT-006", "RT-008")
async def test_a_stop_that_codex_takes_its_time_over_is_asked_then_confirmed(stage: Stage) -> None:
    talk = await stage.talk("[[cancel-late 400]] [[say so far]] [[hang]]")
    await stage.client.row("message", role="assistant", kind="text")
    reply = await stage.client.request("turn/cancel", **talk.key, turnId=talk.turn["turnId"])
    assert (reply["turn"]["phase"], reply["turn"]["cancelConfirmedAt"]) == ("settling", None)
    turn = await stage.client.settled(talk.turn)
    assert (turn["outcome"], turn["stopReason"]) == ("canceled", "interrupted")
    assert turn["cancelConfirmedAt"] > turn["cancelRequestedAt"]


@pytest.mark.case("FC-04")
async def test_a_stop_ends_the_command_that_the_turn_was_running(stage: Stage) -> None:
    talk = await stage.talk("[[background 60000]] [[hang]]")
    await stage.client.row("message", kind="tool_call")
    await stage.client.request("turn/cancel", **talk.key, turnId=talk.turn["turnId"])
    assert (await stage.client.settled(talk.turn))["outcome"] == "canceled"
    ended = await stage.client.wait(
        lambda: [
            row
            for row in stage.client.rows("message", kind="tool_call")
            if row["toolCall"]["output"]["text"] == "begun\n"
        ],
        "the end of the command",
    )
    assert (ended[-1]["turnId"], ended[-1]["toolCall"]["output"]["exitCode"]) == (talk.turn["turnId"], -1)
    assert len(await stage.calls(talk, "thread/backgroundTerminals/terminate")) == 1


@pytest.mark.case("FC-01")
@pytest.mark.rule("RT-006")
async def test_a_stop_of_a_turn_whose_end_was_never_told_finds_how_it_ended(stage: Stage) -> None:
    talk = await stage.talk("[[say all of it]] [[silent-end]]")
    await stage.client.row("message", role="assistant", kind="text", status="completed")
    await stage.client.request("turn/cancel", **talk.key, turnId=talk.turn["turnId"])
    turn = await stage.client.settled(talk.turn)
    assert (turn["outcome"], turn["stopReason"]) == ("completed", "completed")
    assert await talk.texts() == ["all of it"]
    assert len(await stage.calls(talk, "turn/start")) == 1
    assert (await talk.say("[[say next]]"))["outcome"] == "completed"


@pytest.mark.rule("RT-003", "RT-007")
@pytest.mark.parametrize("word", ["goal 1 lasts=20000", "review lasts=20000"])
async def test_a_turn_that_codex_began_is_stopped_like_any_other(stage: Stage, word: str) -> None:
    talk, _ = await stage.settled(f"[[{word}]] [[say mine]]")
    own = await stage.client.row("turn", origin="provider")
    refused = await stage.client.refused(
        "session/send", **talk.key, clientSubmitId="early", content=[{"type": "text", "text": "x"}]
    )
    assert refused["code"] == "session.busy", "another prompt would steer it"
    await stage.client.request("turn/cancel", **talk.key, turnId=own["turnId"])
    turn = await stage.client.settled(own)
    assert (turn["outcome"], turn["stopReason"]) == ("canceled", "interrupted")
    stops = await stage.calls(talk, "turn/interrupt")
    assert len(stops) == (2 if "review" in word else 1), (
        "a review has an id to be told by and one to be stopped by"
    )
    assert (await talk.say("[[say next]]"))["outcome"] == "completed"
    assert len(await stage.calls(talk, "turn/start")) == 2


@pytest.mark.rule("RT-006", "RT-007")
async def test_a_command_that_outlives_its_turn_is_stopped_by_a_cancel_of_that_settled_turn(
    stage: Stage,
) -> None:
    talk, turn = await stage.settled("[[background 60000]] [[say left it running]]")
    activity = await stage.client.event(
        "runtime_activity", agentSessionId=talk.session_id, activity="running"
    )
    assert activity["runtimeState"] in ("activating", "live")
    reply = await stage.client.request("turn/cancel", **talk.key, turnId=turn["turnId"])
    assert reply["turn"] == turn, "it stands as it ended"
    ended = await stage.client.wait(
        lambda: [
            row
            for row in stage.client.rows("message", agentSessionId=talk.session_id, status="failed")
            if row["toolCall"]
        ],
        "the command's end",
    )
    assert ended[-1]["turnId"] == turn["turnId"]
    assert (await talk.say("[[say next]]"))["outcome"] == "completed"
