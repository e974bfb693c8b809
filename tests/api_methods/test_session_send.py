"""`session/send`: one turn at a time, named at once, started once, whatever the client repeats."""

import json
from itertools import groupby

import pytest

from tests.end_to_end.client import Client, Json
from tests.end_to_end.daemon import Daemon
from tests.end_to_end.fixtures import Connect, token_of
from tests.end_to_end.talk import start, text, text_of


@pytest.mark.rule("RT-028", "RT-002")
async def test_the_reply_names_the_turn_and_precedes_its_first_event(client: Client, workspace: str) -> None:
    talk = await start(client, workspace)
    sent = await client.send(
        "session/send", **talk.key, clientSubmitId="one", content=text("[[think 1]] [[say hi]]")
    )
    turn = (await sent.result())["turn"]
    settled = await client.settled(turn)
    rows = client.rows("turn", turnId=turn["turnId"])
    assert [phase for phase, _ in groupby(row["phase"] for row in rows)] == [
        "submitted",
        "running",
        "settled",
    ]
    assert [delivery for delivery, _ in groupby(row["delivery"] for row in rows)] == [
        "not_dispatched",
        "dispatching",
        "accepted",
    ]
    assert turn == rows[0]
    assert {row["outcome"] for row in rows[:-1]} == {None}
    first = next(
        place
        for place, frame in enumerate(client.received)
        if frame.get("type") == "commit" and any(c["row"].get("turnId") for c in frame["changes"])
    )
    assert sent.place < first
    assert (settled["outcome"], settled["stopReason"], settled["error"]) == ("completed", "end_turn", None)
    assert settled["startedAt"] is not None
    assert settled["settledAt"] >= settled["startedAt"] >= settled["submittedAt"]
    assert settled["timings"]["startMs"] is not None


@pytest.mark.rule("RT-005")
@pytest.mark.case("FC-28")
async def test_a_second_prompt_while_a_turn_runs_is_busy_and_frees_its_id(
    client: Client, workspace: str, daemon: Daemon
) -> None:
    talk = await start(client, workspace, "[[say first]] [[ask]]", target="logged")
    asked = await talk.pending()
    params = {**talk.key, "clientSubmitId": "second", "content": text("[[say second of many]]")}
    refused = await client.refused("session/send", **params)
    assert (refused["code"], refused["retryable"]) == ("session.busy", True)
    assert refused["delivery"] == "not_dispatched"
    assert refused["details"] == {"turnId": talk.turn["turnId"]}
    await talk.answer(asked)
    await client.settled(talk.turn)
    turn = (await client.request("session/send", **params))["turn"]
    assert (await client.settled(turn))["outcome"] == "completed"
    assert (daemon.folder / "logged.jsonl").read_text().count("second of many") == 1
    assert await talk.texts() == ["first", "Permission: allow_once (allow-once).", "second of many"]


@pytest.mark.rule("RT-005")
async def test_two_prompts_in_one_breath_start_one_turn(client: Client, workspace: str) -> None:
    talk = await start(client, workspace)
    sent = [
        await client.send("session/send", **talk.key, clientSubmitId=name, content=text(f"[[say {name}]]"))
        for name in ("one", "two")
    ]
    first = (await sent[0].result())["turn"]
    assert await sent[1].refusal() == {
        "code": "session.busy",
        "retryable": True,
        "delivery": "not_dispatched",
        "details": {"turnId": first["turnId"]},
    }
    await client.settled(first)
    assert await talk.texts() == ["one"]


@pytest.mark.case("FC-22")
async def test_prompts_during_a_turn_and_its_stop_stay_with_the_client_and_run_once_in_its_order(
    client: Client, workspace: str, daemon: Daemon
) -> None:
    talk = await start(client, workspace, "[[say first]] [[cancel-late 100]] [[hang]]", target="logged")
    await client.event("message_delta")
    prompts = {name: f"[[say {workspace} {name}]]" for name in ("one", "two", "three")}
    for name, prompt in list(prompts.items())[:2]:
        refused = await client.refused("session/send", **talk.key, clientSubmitId=name, content=text(prompt))
        assert (refused["code"], refused["delivery"]) == ("session.busy", "not_dispatched")
    await client.request("turn/cancel", **talk.key, turnId=talk.turn["turnId"])
    refused = await client.refused(
        "session/send", **talk.key, clientSubmitId="three", content=text(prompts["three"])
    )
    assert refused["code"] == "session.busy", "a turn that is stopping still runs"
    assert (await client.settled(talk.turn))["outcome"] == "canceled"
    assert (await client.request("turn/list", **talk.key))["items"][1:] == [], "a Stop starts nothing"
    for name, prompt in prompts.items():
        assert (await client.settled(await talk.send(prompt, name)))["outcome"] == "completed"
    assert await talk.texts() == ["first", *(f"{workspace} {name}" for name in prompts)]
    told = (daemon.folder / "logged.jsonl").read_text()
    assert [told.count(json.dumps(prompt)) for prompt in prompts.values()] == [1, 1, 1]


@pytest.mark.rule("RT-037", "RT-032")
@pytest.mark.case("FC-23")
async def test_a_repeat_shows_the_same_turn_as_it_stands(
    client: Client, connect: Connect, workspace: str, daemon: Daemon
) -> None:
    talk = await start(client, workspace, target="logged")
    params = {**talk.key, "clientSubmitId": "one", "content": text("[[say repeated]] [[ask]]")}
    async with connect() as other:
        sent = [await one.send("session/send", **params) for one in (client, other, client)]
        turns = [(await one.result())["turn"] for one in sent]
    assert len({turn["turnId"] for turn in turns}) == 1
    asked = await talk.pending()
    waiting = (await client.request("session/send", **params))["turn"]
    assert (waiting["turnId"], waiting["phase"]) == (turns[0]["turnId"], "waiting")
    await talk.answer(asked)
    settled = await client.settled(waiting)
    assert (await client.request("session/send", **params))["turn"] == settled
    await talk.say("[[say between]]")
    assert (await client.request("session/send", **params))["turn"] == settled
    assert (daemon.folder / "logged.jsonl").read_text().count("say repeated") == 1


@pytest.mark.case("FC-23")
@pytest.mark.parametrize(
    "change",
    [{"content": text("[[say other]]")}, {"displayPrompt": "other"}],
    ids=["content", "displayPrompt"],
)
async def test_the_same_id_for_something_else_is_a_conflict(
    client: Client, workspace: str, change: Json
) -> None:
    talk = await start(client, workspace)
    params = {**talk.key, "clientSubmitId": "one", "content": text("[[say hello]]")}
    turn = (await client.request("session/send", **params))["turn"]
    running = await client.refused("session/send", **{**params, **change})
    await client.settled(turn)
    after = await client.refused("session/send", **{**params, **change})
    assert {running["code"], after["code"]} == {"submit.conflict"}
    assert len((await client.request("turn/list", **talk.key))["items"]) == 1


@pytest.mark.rule("RT-037")
@pytest.mark.case("FC-23")
@pytest.mark.parametrize("prompt", [None, "[[say hello]]"])
async def test_the_id_of_a_create_counts_as_used_in_the_new_session(
    client: Client, workspace: str, prompt: str | None
) -> None:
    talk = await start(client, workspace, prompt, clientSubmitId="made")
    if prompt is not None:
        await client.settled(talk.turn)
    params = {**talk.key, "clientSubmitId": "made", "content": text(prompt or "[[say hello]]")}
    refused = await client.refused("session/send", **params)
    assert (refused["code"], refused["delivery"]) == ("submit.conflict", "not_dispatched")
    other = await start(client, workspace, clientSubmitId="another")
    assert (await client.settled(await other.send("[[say hello]]", "made")))["outcome"] == "completed"


@pytest.mark.case("FC-23")
async def test_the_same_id_in_another_session_is_another_prompt(client: Client, workspace: str) -> None:
    one = await start(client, workspace, clientSubmitId="a")
    two = await start(client, workspace, clientSubmitId="b")
    turns = [await talk.send("[[say hello]]", "shared") for talk in (one, two)]
    assert turns[0]["turnId"] != turns[1]["turnId"]
    for turn in turns:
        await client.settled(turn)


# --- how turns end --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("prompt", "outcome", "stop_reason", "code"),
    [
        ("[[say x]]", "completed", "end_turn", None),
        ("[[refuse]]", "failed", "refusal", "provider.refused"),
        ("[[stop max_tokens]]", "failed", "max_tokens", "provider.context_full"),
        ("[[stop max_turn_requests]]", "failed", "max_turn_requests", "provider.stopped"),
        ("[[stop sunset]]", "failed", "sunset", "provider.stopped"),
        ("[[stop cancelled]]", "canceled", "cancelled", None),
        ("[[say x]] [[error -32603]]", "failed", None, "provider.rejected"),
        ("[[say x]] [[crash]]", "failed", None, "provider.lost"),
        ("[[say x]] [[exit 0]]", "failed", None, "provider.lost"),
        ("[[say x]] [[die]]", "failed", None, "provider.lost"),
    ],
)
@pytest.mark.case("FC-49")
async def test_each_end_has_its_outcome_and_the_next_prompt_works(
    client: Client, workspace: str, prompt: str, outcome: str, stop_reason: str | None, code: str | None
) -> None:
    talk = await start(client, workspace, "[[say warm-up]]")
    await client.settled(talk.turn)
    settled = await talk.say(prompt)
    assert (settled["outcome"], settled["stopReason"]) == (outcome, stop_reason)
    assert (settled["error"] or {}).get("code") == code
    assert settled["cancelRequestedAt"] is None
    assert (settled["cancelConfirmedAt"] is not None) is (outcome == "canceled")
    assert (await client.request("session/get", **talk.key))["session"]["activeTurnId"] is None
    after = await talk.say("[[recall]]")
    assert after["outcome"] == "completed"
    assert "warm-up" in (await talk.texts())[-1]


async def test_a_completed_turn_that_said_nothing_gets_a_notice(client: Client, workspace: str) -> None:
    talk = await start(client, workspace, "[[sleep 1]]")
    settled = await client.settled(talk.turn)
    assert settled["outcome"] == "completed"
    notice = (await talk.messages())[-1]
    assert (notice["kind"], notice["turnId"]) == ("notice", talk.turn["turnId"])
    assert notice["content"][0]["code"] == "turn.empty"


@pytest.mark.case("FC-54")
async def test_answers_nobody_asked_for_settle_nothing(client: Client, workspace: str) -> None:
    talk = await start(
        client, workspace, "[[unknown-id]] [[stray]] [[garbage hm]] [[say still here]] [[twice]]"
    )
    settled = await client.settled(talk.turn)
    assert settled["outcome"] == "completed"
    assert (await talk.texts())[-1] == "still here"
    assert (await talk.say("[[say next]]"))["outcome"] == "completed"
    assert (await talk.texts())[-1] == "next"


@pytest.mark.rule("RT-003")
async def test_late_words_of_a_settled_turn_change_nothing(client: Client, workspace: str) -> None:
    talk = await start(client, workspace, "[[tool a status=pending]] [[late 1]]")
    settled = await client.settled(talk.turn)
    second = await talk.say("[[sleep 60]] [[say second]]")
    assert second["outcome"] == "completed"
    assert (await client.request("turn/get", **talk.key, turnId=settled["turnId"]))["turn"] == settled
    assert [text_of(m) for m in await talk.messages() if "late words" in text_of(m)] == []


# --- refusals -------------------------------------------------------------------------------------------------------


@pytest.mark.rule("RT-040", "AP-038")
async def test_an_unknown_session_is_not_found_and_none_is_made(client: Client, workspace: str) -> None:
    params = {"clientSubmitId": "one", "content": text("hello")}
    talk = await start(client, workspace)
    for key in ({**talk.key, "agentSessionId": "unknown"}, {**talk.key, "workspaceId": f"{workspace}-x"}):
        refused = await client.refused("session/send", **key, **params)
        assert (refused["code"], refused["delivery"]) == ("session.not_found", "not_dispatched")
    assert len((await client.request("session/list", workspaceId=workspace))["items"]) == 1


@pytest.mark.parametrize(
    ("change", "path"),
    [
        ({"content": None}, "params.content"),
        ({"content": "hello"}, "params.content"),
        ({"content": []}, "params.content"),
        ({"content": text("")}, "params.content"),
        ({"content": [{"type": "text", "text": "x", "colour": "red"}]}, "params.content[0].colour"),
        ({"content": [{"text": "x"}]}, "params.content[0].type"),
        ({"clientSubmitId": 7}, "params.clientSubmitId"),
        ({"displayPrompt": 7}, "params.displayPrompt"),
        ({"mode": "queue"}, "params.mode"),
    ],
)
async def test_what_is_wrong_with_it_is_named(
    client: Client, workspace: str, change: Json, path: str
) -> None:
    talk = await start(client, workspace)
    params = {**talk.key, "clientSubmitId": "one", "content": text("hello"), **change}
    refused = await client.refused("session/send", **params)
    assert (refused["code"], refused["details"]["path"]) == ("request.invalid", path)
    assert (await client.request("turn/list", **talk.key))["items"] == []


async def test_what_the_target_cannot_take_is_refused_whole(client: Client, workspace: str) -> None:
    talk = await start(client, workspace, target="blind")
    await client.request("session/resume", **talk.key)
    image = {"type": "image", "mediaType": "image/png", "bytes": 1, "attachmentId": "a"}
    refused = await client.refused(
        "session/send", **talk.key, clientSubmitId="one", content=[*text("see"), image]
    )
    assert refused["code"] == "attachment.unsupported"
    refused = await client.refused(
        "session/send", **talk.key, clientSubmitId="one", content=text("ü" * (2 * 1024 * 1024 + 1))
    )
    assert refused["code"] == "request.too_large"
    assert await talk.messages() == []


async def test_a_token_for_reading_sends_nothing(client: Client, connect: Connect, workspace: str) -> None:
    talk = await start(client, workspace)
    async with connect(token=token_of("reader")) as reader:
        refused = await reader.refused(
            "session/send", **talk.key, clientSubmitId="one", content=text("hello")
        )
        assert refused["code"] == "auth.forbidden"
    assert (await client.request("turn/list", **talk.key))["items"] == []
