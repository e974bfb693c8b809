"""Settings of a real ACP agent: changed with the next turn, given to the next process, refused by the agent."""

import pytest

from tests.doubles.model_script import hold, script
from tests.doubles.model_server import ModelServer
from tests.end_to_end.client import Client, Json
from tests.end_to_end.talk import Talk, start
from tests.providers_real.codex_acp import MODEL, TARGET, holding

pytestmark = pytest.mark.real_agent


async def row(talk: Talk) -> Json:
    session: Json = (await talk.client.request("session/get", **talk.key))["session"]
    return session


async def update(talk: Talk, **settings: str | None) -> Json:
    reply = await talk.client.request("session/updateSettings", **talk.key, settings=settings)
    session: Json = reply["session"]
    return session


async def test_changes_in_a_running_turn_go_along_with_the_next_one_and_to_the_next_process(
    client: Client, workspace: str, model: ModelServer
) -> None:
    prompt = "Acp settings one. " + script(["First ", hold("acp settings"), "half."])
    talk = await start(client, workspace, prompt, target=TARGET)
    await holding(model, "acp settings")
    first = await row(talk)
    assert first["settings"] == {"model": MODEL, "reasoningEffort": "medium"}
    assert set(first["settingsSource"].values()) == {"provider"}
    session = await update(talk, model="gpt-5.4", reasoningEffort="low")
    assert session["settings"] == {"model": "gpt-5.4", "reasoningEffort": "low"}
    assert set(session["settingsSource"].values()) == {"explicit"}
    model.release("acp settings")
    assert (await client.settled(talk.turn))["outcome"] == "completed"

    assert (await talk.say("Acp settings two. " + script(["Second."])))["outcome"] == "completed"
    (second,) = model.asked("Acp settings two.")
    assert (second.body["model"], second.body["reasoning"]["effort"]) == ("gpt-5.4", "low")
    assert (await row(talk))["settings"] == session["settings"]

    await client.request("session/close", **talk.key)
    assert (await talk.say("Acp settings three. " + script(["Third."])))["outcome"] == "completed"
    (third,) = model.asked("Acp settings three.")
    assert (third.body["model"], third.body["reasoning"]["effort"]) == ("gpt-5.4", "low")

    await update(talk, reasoningEffort=None)
    assert (await talk.say("Acp settings four. " + script(["Fourth."])))["outcome"] == "completed"
    after = await row(talk)
    assert (after["settings"]["model"], after["settingsSource"]["model"]) == ("gpt-5.4", "explicit")
    assert after["settingsSource"]["reasoningEffort"] == "provider"


async def test_what_the_agent_does_not_take_is_refused_and_stored_nowhere(
    client: Client, workspace: str, model: ModelServer
) -> None:
    talk = await start(client, workspace, script(["Hello."]), target=TARGET)
    assert (await client.settled(talk.turn))["outcome"] == "completed"
    before = await row(talk)
    error = await client.refused("session/updateSettings", **talk.key, settings={"mode": "nonsense"})
    assert (error["code"], error["delivery"], error["details"]) == (
        "settings.invalid",
        "rejected",
        {"key": "mode"},
    )
    assert (await row(talk))["settings"] == before["settings"]
    await update(talk, model="no-such-model")
    await talk.say("Acp unknown model. " + script(["Hello."]))
    (request,) = model.asked("Acp unknown model.")
    assert request.body["model"] == "no-such-model", "this agent takes any name, and puts none in its place"
    await update(talk, model=None)
    assert (await talk.say(script(["Again."])))["outcome"] == "completed"
