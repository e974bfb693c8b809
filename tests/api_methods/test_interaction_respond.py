"""`interaction/respond`: exactly that Interaction, the first valid answer, written to the agent once."""

import json

import pytest

from tests.end_to_end.client import Client, Json, Sent
from tests.end_to_end.daemon import Daemon
from tests.end_to_end.fixtures import Connect, token_of
from tests.end_to_end.talk import Talk, answer_params, start

OPTIONS = "[[ask allow_once,allow_always,reject_once]]"


async def asking(client: Client, workspace: str, prompt: str = OPTIONS, **params: str) -> tuple[Talk, Json]:
    """A session whose turn waits, and what it asks."""
    talk = await start(client, workspace, prompt, **params)
    return talk, await talk.pending()


def answers_told(daemon: Daemon) -> list[str | None]:
    """The outcomes that agents of the target `logged` were told, in order; None is a cancelled request."""
    log_file = daemon.folder / "logged.jsonl"
    told = [json.loads(line) for line in log_file.read_text().splitlines()] if log_file.exists() else []
    results = [line.get("result", {}) for line in told]
    return [result["outcome"].get("optionId") for result in results if "outcome" in result]


@pytest.mark.rule("RT-009", "RT-019", "RT-014")
async def test_an_answer_reaches_the_agent_and_the_turn_goes_on(client: Client, workspace: str) -> None:
    talk, asked = await asking(client, workspace, f"{OPTIONS} [[say done]]")
    assert (asked["kind"], asked["answer"], asked["resolvedAt"]) == ("approval", None, None)
    assert asked["input"]["title"] == "make demo"
    assert [(option["optionId"], option["kind"]) for option in asked["options"]] == [
        ("allow-once", "allow_once"),
        ("allow-always", "allow_always"),
        ("reject-once", "reject_once"),
    ]
    sent = await client.send("interaction/respond", **answer_params(asked, "allow-always"))
    answered = (await sent.result())["interaction"]
    assert (answered["status"], answered["answerDelivery"]) == ("answered", "delivered")
    assert answered["answer"] == {"optionId": "allow-always"}
    assert answered["resolvedAt"] is not None
    settled = await client.settled(talk.turn)
    assert settled["outcome"] == "completed"
    assert await talk.texts() == ["Permission: allow_always (allow-always).done"]
    rows = [row["answerDelivery"] for row in client.rows("interaction", requestId=asked["requestId"])]
    assert rows == [None, "dispatching", "delivered"]
    places = [
        place
        for place, frame in enumerate(client.received)
        for change in frame.get("changes", ())
        if change["type"] == "interaction"
    ]
    assert places[1] < sent.place < places[2], "the reply comes before the event with the final result"
    said = next(p for p, frame in enumerate(client.received) if "Permission" in frame.get("text", ""))
    assert places[2] < said, "an answered Interaction precedes what its answer caused"


@pytest.mark.rule("RT-002")
async def test_the_turn_waits_while_it_is_pending_and_runs_on_with_the_answer(
    client: Client, workspace: str
) -> None:
    talk, asked = await asking(client, workspace)
    await client.row("turn", turnId=talk.turn["turnId"], phase="waiting")
    await talk.answer(asked)
    await client.settled(talk.turn)
    phases = [row["phase"] for row in client.rows("turn", turnId=talk.turn["turnId"])]
    assert phases[phases.index("waiting") :] == ["waiting", "running", "settled"]


async def test_a_rejection_is_an_answer_too(client: Client, workspace: str) -> None:
    talk, asked = await asking(client, workspace)
    answered = await talk.answer(asked, "reject-once")
    assert answered["answer"] == {"optionId": "reject-once"}
    await client.settled(talk.turn)
    assert await talk.texts() == ["Permission: reject_once (reject-once)."]


@pytest.mark.rule("RT-009", "ST-002")
@pytest.mark.case("FC-45")
async def test_two_clients_race_and_the_first_one_wins(
    client: Client, connect: Connect, workspace: str, daemon: Daemon
) -> None:
    talk = await start(client, workspace, "[[ask allow_once,allow_always]] " * 5, target="logged")
    told, winners = len(answers_told(daemon)), []
    async with connect() as other:
        for number in range(5):
            asked = await nth_question(client, number)
            rivals = [(client, "allow-once"), (other, "allow-always")]
            sent = [
                await one.send("interaction/respond", **answer_params(asked, option))
                for one, option in (rivals if number % 2 else rivals[::-1])
            ]
            rows = [await outcome_of(one) for one in sent]
            assert rows[0]["answer"] == rows[1]["answer"], "both are told the answer that won"
            winners.append(rows[0]["answer"]["optionId"])
    assert (await client.settled(talk.turn))["outcome"] == "completed"
    assert answers_told(daemon)[told:] == winners, "the agent was told each winner, and nothing else"


async def nth_question(client: Client, number: int) -> Json:
    """The question of that number, counted from 0."""
    rows: list[Json] = await client.wait(
        lambda: (rows := client.rows("interaction", status="pending"))[number:] and rows, f"question {number}"
    )
    return rows[number]


async def outcome_of(sent: Sent) -> Json:
    """The row of an answer: that of the reply, or that of the refusal which says which answer won."""
    answer = await sent.client.wait(lambda: sent.answer, "the reply")
    if "result" in answer:
        return dict(answer["result"]["interaction"])
    assert answer["error"]["data"]["code"] == "interaction.not_pending"
    return dict(answer["error"]["data"]["details"]["interaction"])


@pytest.mark.case("FC-45")
async def test_the_equal_answer_again_shows_the_row_and_another_one_the_winner(
    client: Client, workspace: str
) -> None:
    talk, asked = await asking(client, workspace)
    answered = await talk.answer(asked)
    assert await talk.answer(asked) == answered
    refused = await client.refused("interaction/respond", **answer_params(asked, "reject-once"))
    assert (refused["code"], refused["details"]) == ("interaction.not_pending", {"interaction": answered})
    await client.settled(talk.turn)
    assert await talk.answer(asked) == answered
    assert len(client.rows("interaction", requestId=asked["requestId"])) == 3


@pytest.mark.rule("RT-010", "RT-011", "RT-039", "AP-038")
@pytest.mark.case("FC-45")
async def test_wrong_scopes_and_options_leave_it_pending(client: Client, workspace: str) -> None:
    talk, asked = await asking(client, workspace)
    other, asked_there = await asking(client, workspace)
    assert asked_there["requestId"] == asked["requestId"], "ids are unique inside their session alone"
    right = answer_params(asked)
    for change, code in (
        ({"turnId": "unknown"}, "interaction.not_found"),
        ({"turnId": other.turn["turnId"]}, "interaction.not_found"),
        ({"requestId": "unknown"}, "interaction.not_found"),
        ({"agentSessionId": "unknown"}, "session.not_found"),
        ({"workspaceId": f"{workspace}-x"}, "session.not_found"),
        ({"answer": {"optionId": "not-offered"}}, "interaction.unsupported_answer"),
        ({"answer": {"answersByQuestionId": {"q": "a"}}}, "interaction.unsupported_answer"),
        ({"answer": {"optionId": "allow-once", "feedback": "x"}}, "interaction.unsupported_answer"),
        ({"answer": {"optionId": "reject-once", "feedback": "x"}}, "interaction.unsupported_answer"),
    ):
        refused = await client.refused("interaction/respond", **{**right, **change})
        assert refused["code"] == code, change
    for answer in ({}, {"optionId": 1}, {"optionId": "allow-once", "colour": "red"}, None, "allow-once"):
        refused = await client.refused("interaction/respond", **{**right, "answer": answer})
        assert refused["code"] == "request.invalid", answer
    pending = await client.request("interaction/list", workspaceId=workspace, status="pending")
    assert len(pending["items"]) == 2
    await talk.answer(asked)
    assert (await client.settled(talk.turn))["outcome"] == "completed"
    [left] = (await client.request("interaction/list", workspaceId=workspace, status="pending"))["items"]
    assert left == asked_there
    await other.answer(asked_there)
    await client.settled(other.turn)


@pytest.mark.rule("RT-010")
async def test_a_request_id_of_an_earlier_turn_is_another_interaction(client: Client, workspace: str) -> None:
    talk, asked = await asking(client, workspace)
    await talk.answer(asked)
    await client.settled(talk.turn)
    second = await talk.send(OPTIONS)
    later = await client.row("interaction", turnId=second["turnId"], status="pending")
    if later["requestId"] == asked["requestId"]:
        assert (await talk.answer(asked))["status"] == "answered", "that of the first turn, as it was"
    [pending] = (await client.request("interaction/list", workspaceId=workspace, status="pending"))["items"]
    assert pending == later
    await talk.answer(later)
    assert (await client.settled(second))["outcome"] == "completed"


@pytest.mark.rule("RT-026")
@pytest.mark.case("FC-04")
async def test_a_cancel_that_came_first_makes_the_answer_late(
    client: Client, workspace: str, daemon: Daemon
) -> None:
    talk, asked = await asking(client, workspace, f"[[cancel-late 100]] {OPTIONS}", target="logged")
    before = len(answers_told(daemon))
    sent = [
        await client.send("turn/cancel", **talk.key, turnId=talk.turn["turnId"]),
        await client.send("interaction/respond", **answer_params(asked)),
    ]
    await sent[0].result()
    refused = await sent[1].refusal()
    assert refused["code"] == "interaction.not_pending"
    superseded = refused["details"]["interaction"]
    assert (superseded["status"], superseded["answer"]) == ("superseded", None)
    assert superseded["resolvedAt"] is not None
    assert (await client.settled(talk.turn))["outcome"] == "canceled"
    rows = client.rows("interaction", requestId=asked["requestId"])
    assert [row["status"] for row in rows] == ["pending", "superseded"]
    assert (await client.refused("interaction/respond", **answer_params(asked)))["code"] == (
        "interaction.not_pending"
    )
    assert answers_told(daemon)[before:] == [None], "told once, and that it was cancelled"


@pytest.mark.case("FC-46")
async def test_an_agent_that_dies_withdraws_what_it_asked(client: Client, workspace: str) -> None:
    talk, asked = await asking(client, workspace, "[[grandchild]] [[ask]]")
    await client.request("session/close", **talk.key)
    assert (await client.settled(talk.turn))["outcome"] == "canceled"
    await client.row("interaction", requestId=asked["requestId"], status="superseded")
    refused = await client.refused("interaction/respond", **answer_params(asked))
    assert refused["code"] == "interaction.not_pending"


@pytest.mark.case("FC-05")
async def test_a_client_that_connects_later_sees_and_answers_it(connect: Connect, workspace: str) -> None:
    async with connect() as first:
        await first.subscribe(workspace)
        talk, asked = await asking(first, workspace)
    async with connect() as second, connect() as third:
        await third.subscribe(workspace)
        [found] = (await second.request("interaction/list", workspaceId=workspace))["items"]
        assert found == asked
        detail = await second.request("session/get", **talk.key)
        assert detail["interactions"] == [asked]
        await second.request("interaction/respond", **answer_params(found))
        await third.row("interaction", status="answered")
        assert (await third.settled(talk.turn))["outcome"] == "completed"


async def test_a_token_for_reading_answers_nothing(client: Client, connect: Connect, workspace: str) -> None:
    talk, asked = await asking(client, workspace)
    async with connect(token=token_of("reader")) as reader:
        refused = await reader.refused("interaction/respond", **answer_params(asked))
        assert refused["code"] == "auth.forbidden"
    await talk.answer(asked)
    await client.settled(talk.turn)
