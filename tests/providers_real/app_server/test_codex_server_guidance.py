"""Guiding a real Codex: the running answer is broken off for it, in the same turn, and no other turn is ever steered."""

from typing import Any

import pytest

from tests.doubles.model_script import hold, script
from tests.doubles.model_server import ModelServer
from tests.end_to_end.client import Client, Json, Refused, Sent
from tests.end_to_end.talk import Talk, start, text, text_of
from tests.providers_real.app_server.codex_server import TARGET
from tests.providers_real.codex_acp import holding

pytestmark = pytest.mark.real_agent

RACES = 12


def guiding(talk: Talk, words: str, submit_id: str, turn: Json | None = None) -> dict[str, Any]:
    """The params of `turn/guide`."""
    turn_id = (turn or talk.turn)["turnId"]
    return {**talk.key, "turnId": turn_id, "clientSubmitId": submit_id, "content": text(words)}


async def code_of(sent: Sent) -> str | None:
    """The code of a refusal; None for a result."""
    try:
        await sent.result()
    except Refused as refused:
        return str(refused.data["code"])
    return None


@pytest.mark.rule("RT-078", "RT-080", "PR-012", "PR-018")
async def test_guidance_breaks_the_answer_off_and_the_same_turn_goes_on_with_it(
    client: Client, workspace: str, model: ModelServer
) -> None:
    name = f"guided {workspace}"
    talk = await start(client, workspace, "Plant elms. " + script(["Elms, ", hold(name)]), target=TARGET)
    await holding(model, name)
    broken_off = await client.row("message", turnId=talk.turn["turnId"], role="assistant")
    words = f"Rather oaks for {workspace}. " + script(["Oaks."])
    turn = (await client.request("turn/guide", **guiding(talk, words, "g1")))["turn"]
    assert turn["turnId"] == talk.turn["turnId"]
    settled = await client.settled(talk.turn)
    assert (settled["outcome"], settled["cancelRequestedAt"]) == ("completed", None)
    assert settled["providerTurnId"] is not None
    rows = await talk.messages()
    assert [(row["role"], row["status"], text_of(row)) for row in rows[1:]] == [
        ("assistant", "interrupted", "Elms, "),
        ("user", "completed", words),
        ("assistant", "completed", "Oaks."),
    ]
    assert rows[1]["messageId"] == broken_off["messageId"]
    assert rows[2]["clientSubmitId"] == "g1"
    assert {row["turnId"] for row in rows} == {talk.turn["turnId"]}
    (asked,) = model.asked(f"Rather oaks for {workspace}.")
    assert asked.knows("user", "Plant elms.")
    again = await client.request("turn/guide", **guiding(talk, words, "g1"))
    assert again["turn"] == settled
    assert len(model.asked(f"Rather oaks for {workspace}.")) == 1, "never said twice"


@pytest.mark.rule("RT-007", "RT-079")
@pytest.mark.case("FC-27")
async def test_guidance_for_an_older_turn_never_reaches_the_newer_one(
    client: Client, workspace: str, model: ModelServer
) -> None:
    name, words = f"newer {workspace}", f"Stray words in {workspace}."
    talk = await start(client, workspace, script(["One."]), target=TARGET)
    first = await client.settled(talk.turn)
    second = await talk.send("The second. " + script(["Two, ", hold(name)], ["never"]))
    await holding(model, name)
    for turn, code in ((first, "turn.settled"), ({"turnId": "unknown"}, "turn.not_found")):
        refused = await client.refused("turn/guide", **guiding(talk, words, "g1", turn))
        assert (refused["code"], refused["delivery"]) == (code, "not_dispatched")
    model.release(name)
    assert (await client.settled(second))["outcome"] == "completed"
    assert model.asked(words) == []
    assert await talk.texts() == ["One.", "Two, "]


@pytest.mark.rule("RT-079", "RT-080")
async def test_guidance_in_the_moment_of_the_end_is_taken_or_refused_and_spoils_nothing(
    client: Client, workspace: str
) -> None:
    talk = await start(client, workspace, script(["Ready."]), target=TARGET)
    await client.settled(talk.turn)
    for number in range(RACES):
        submit_id, said = f"race-{number}", f"More {number}. "
        turn = await talk.send(f"Round {number}. " + script(["x"]), f"round-{number}")
        await client.row("turn", turnId=turn["turnId"], phase="running")
        if number % 2:
            await client.row("message", turnId=turn["turnId"], role="assistant")
        sent = await client.send("turn/guide", **guiding(talk, said + script(["y"]), submit_id, turn))
        settled = await client.settled(turn)
        assert settled["outcome"] == "completed"
        code = await code_of(sent)
        assert code in (None, "turn.settled", "turn.mismatch"), code
        rows = [row for row in await talk.messages() if row.get("clientSubmitId") == submit_id]
        assert [row["turnId"] for row in rows] == ([turn["turnId"]] if code is None else [])
    assert (await talk.say(script(["Still here."])))["outcome"] == "completed"
