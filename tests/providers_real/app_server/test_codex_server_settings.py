"""Settings of a real app-server's thread: changed with a turn, kept after it, and given back by another process."""

import pytest

from tests.doubles.model_script import script
from tests.doubles.model_server import ModelServer
from tests.end_to_end.client import Client, Json
from tests.end_to_end.talk import Talk, start
from tests.providers_real.app_server.codex_server import TARGET, sandbox_told

pytestmark = pytest.mark.real_agent


async def update(talk: Talk, **settings: str | None) -> Json:
    reply = await talk.client.request("session/updateSettings", **talk.key, settings=settings)
    session: Json = reply["session"]
    return session


async def row(talk: Talk) -> Json:
    session: Json = (await talk.client.request("session/get", **talk.key))["session"]
    return session


async def test_a_change_goes_along_with_the_next_turn_and_holds_from_there_on(
    client: Client, workspace: str, model: ModelServer
) -> None:
    talk = await start(client, workspace, "Settings one. " + script(["First."]), target=TARGET)
    assert (await client.settled(talk.turn))["outcome"] == "completed"
    opened = await row(talk)
    assert opened["settingsSource"]["approvalPolicy"] == "default"
    assert opened["settingsSource"]["model"] == "provider"

    await update(talk, model="gpt-5.4", reasoningEffort="low", sandbox="read-only", approvalPolicy="never")
    assert (await talk.say("Settings two. " + script(["Second."])))["outcome"] == "completed"
    (second,) = model.asked("Settings two.")
    assert second.body["model"] == "gpt-5.4"
    assert second.body["reasoning"]["effort"] == "low"
    assert sandbox_told(second) == "read-only"

    assert (await talk.say("Settings three. " + script(["Third."])))["outcome"] == "completed"
    (third,) = model.asked("Settings three.")
    assert (third.body["model"], third.body["reasoning"]["effort"]) == ("gpt-5.4", "low")
    session = await row(talk)
    chosen = {
        "model": "gpt-5.4",
        "reasoningEffort": "low",
        "sandbox": "read-only",
        "approvalPolicy": "never",
    }
    assert session["settings"] == chosen
    assert set(session["settingsSource"].values()) == {"explicit"}

    await client.request("session/close", **talk.key)
    await update(talk, sandbox=None, model="gpt-5.2")
    assert (await talk.say("Settings four. " + script(["Fourth."])))["outcome"] == "completed"
    (fourth,) = model.asked("Settings four.")
    assert (fourth.body["model"], fourth.body["reasoning"]["effort"]) == ("gpt-5.2", "low")
    assert sandbox_told(fourth) == "workspace-write", "nobody chooses it any more: the default is said again"


async def test_a_change_in_a_running_turn_waits_and_a_wider_sandbox_is_taken_too(
    client: Client, workspace: str, model: ModelServer
) -> None:
    talk = await start(client, workspace, "Wide one. " + script(["First."]), target=TARGET)
    session = await update(talk, sandbox="danger-full-access")
    assert session["settings"]["sandbox"] == "danger-full-access"
    assert (await client.settled(talk.turn))["outcome"] == "completed"
    assert (await talk.say("Wide two. " + script(["Second."])))["outcome"] == "completed"
    (second,) = model.asked("Wide two.")
    assert sandbox_told(second) == "danger-full-access"
    assert (await row(talk))["settingsSource"]["sandbox"] == "explicit"
    await update(talk, sandbox="workspace-write")
    assert (await talk.say("Wide three. " + script(["Third."])))["outcome"] == "completed"
    (third,) = model.asked("Wide three.")
    assert sandbox_told(third) == "workspace-write"


async def test_a_title_of_codex_does_not_take_the_place_of_the_users(
    client: Client, workspace: str, model: ModelServer
) -> None:
    talk = await start(client, workspace, "Title. " + script(["Hello."]), target=TARGET)
    renamed = await client.request("session/rename", **talk.key, title="Mine")
    assert renamed["session"]["titleSource"] == "user"
    assert (await client.settled(talk.turn))["outcome"] == "completed"
    assert (await talk.say("Title again. " + script(["Hello again."])))["outcome"] == "completed"
    session = await row(talk)
    assert (session["title"], session["titleSource"]) == ("Mine", "user")
