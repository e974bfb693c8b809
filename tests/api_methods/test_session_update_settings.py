"""`session/updateSettings`: one lane, live first where a change takes effect at once, and whose choice each value is."""

import json
from pathlib import Path

import pytest

from tests.end_to_end.client import Client, Json, connected
from tests.end_to_end.daemon import Daemon
from tests.end_to_end.fixtures import Connect, MakeDaemon, agent, token_of
from tests.end_to_end.talk import Talk, start


async def update(talk: Talk, **settings: object) -> Json:
    reply = await talk.client.request("session/updateSettings", **talk.key, settings=settings)
    session: Json = reply["session"]
    return session


async def refused(talk: Talk, **settings: object) -> Json:
    return await talk.client.refused("session/updateSettings", **talk.key, settings=settings)


async def session_of(talk: Talk) -> Json:
    session: Json = (await talk.client.request("session/get", **talk.key))["session"]
    return session


async def seen_by_agent(talk: Talk) -> Json:
    """What the agent itself says holds, in a turn of its own."""
    assert (await talk.say("[[settings]]"))["outcome"] == "completed"
    return await said(talk)


async def said(talk: Talk) -> Json:
    """The settings in the agent's last words."""
    held: Json = json.loads("{" + (await talk.texts())[-1].partition("{")[2])
    return held


async def live(client: Client, workspace: str, **params: object) -> Talk:
    talk = await start(client, workspace, "[[say hello]]", **params)
    assert (await client.settled(talk.turn))["outcome"] == "completed"
    return talk


async def test_settings_are_described_by_the_target(client: Client) -> None:
    items = (await client.request("target/list", limit=200))["items"]
    [demo] = [item for item in items if item["agentTargetId"] == "demo"]
    settings = {setting["key"]: setting for setting in demo["settings"]}
    assert {key: setting["change"] for key, setting in settings.items()} == {
        "model": "next_turn",
        "mode": "now",
        "dedicatedProcess": "launch",
    }
    assert [value["value"] for value in settings["mode"]["values"]] == ["ask", "auto"]
    assert [value["effect"] for value in settings["mode"]["values"]] == ["asks", "edits"]
    assert settings["model"]["default"] == "demo-small"


@pytest.mark.rule("RT-054")
async def test_without_a_runtime_it_is_stored_and_holds_when_one_comes(
    client: Client, workspace: str, daemon: Daemon
) -> None:
    before = set(daemon.providers())
    talk = await start(client, workspace)
    session = await update(talk, model="demo-large", mode="auto", dedicatedProcess=True)
    assert session["settings"] == {"model": "demo-large", "mode": "auto", "dedicatedProcess": True}
    assert set(session["settingsSource"].values()) == {"explicit"}
    assert set(daemon.providers()) == before, "nothing was started for that"
    assert await seen_by_agent(talk) == {"model": "demo-large", "mode": "auto"}
    assert (await session_of(talk))["settings"] == session["settings"]


async def test_what_changes_at_once_is_asked_of_the_live_agent_first(client: Client, workspace: str) -> None:
    talk = await live(client, workspace)
    assert (await session_of(talk))["settingsSource"] == {"model": "default", "mode": "default"}
    running = await talk.send("[[ask]] [[settings]]")
    asked = await talk.pending()
    session = await update(talk, mode="auto")
    assert (session["settings"]["mode"], session["settingsSource"]["mode"]) == ("auto", "explicit")
    assert session["activeTurnId"] == running["turnId"]
    await talk.answer(asked)
    await client.settled(running)
    assert (await said(talk))["mode"] == "auto", "in the turn that was running"


async def test_what_waits_for_the_next_turn_goes_along_with_it(client: Client, workspace: str) -> None:
    talk = await live(client, workspace)
    running = await talk.send("[[ask]] [[settings]]")
    asked = await talk.pending()
    session = await update(talk, model="demo-large")
    assert (session["settings"]["model"], session["settingsSource"]["model"]) == ("demo-large", "explicit")
    await talk.answer(asked)
    await client.settled(running)
    assert (await said(talk))["model"] == "demo-small", "not in the running turn"
    assert (await session_of(talk))["settings"]["model"] == "demo-large", "nor lost with its end"
    assert (await seen_by_agent(talk))["model"] == "demo-large"


async def test_null_gives_the_choice_back(client: Client, workspace: str) -> None:
    talk = await live(client, workspace, settings={"dedicatedProcess": True})
    await update(talk, model="demo-large", mode="auto")
    assert await seen_by_agent(talk) == {"model": "demo-large", "mode": "auto"}
    session = await update(talk, model=None, mode=None)
    assert session["settings"] == {"dedicatedProcess": True, "mode": "ask", "model": "demo-large"}
    sources = {"dedicatedProcess": "explicit", "mode": "default", "model": "provider"}
    assert session["settingsSource"] == sources, "the model still holds, and is nobody's choice any more"
    assert await seen_by_agent(talk) == {"model": "demo-small", "mode": "ask"}


@pytest.mark.rule("RT-051")
async def test_a_launch_setting_changes_before_the_launch_alone(client: Client, workspace: str) -> None:
    talk = await start(client, workspace, settings={"dedicatedProcess": False})
    await update(talk, dedicatedProcess=True)
    await talk.say("[[say hello]]")
    error = await refused(talk, dedicatedProcess=False, mode="auto")
    assert (error["code"], error["details"]) == ("settings.launch_only", {"key": "dedicatedProcess"})
    assert (await session_of(talk))["settings"]["mode"] == "ask", "all or nothing"
    assert (await update(talk, dedicatedProcess=True))["settings"]["dedicatedProcess"], "no change is none"
    await client.request("session/close", **talk.key)
    assert (await refused(talk, dedicatedProcess=None))["code"] == "settings.launch_only"


@pytest.mark.rule("RT-051")
async def test_unknown_keys_and_values_are_refused_whole(
    client: Client, connect: Connect, workspace: str
) -> None:
    talk = await start(client, workspace)
    for key, value in (
        ("colour", "red"),
        ("mode", "nonsense"),
        ("mode", True),
        ("dedicatedProcess", "yes"),
        ("colour", None),
    ):
        error = await refused(talk, **{"model": "demo-large", key: value})
        assert (error["code"], error["details"]) == ("settings.invalid", {"key": key})
    assert (await session_of(talk))["settings"] == {}
    for wrong in ({"mode": 3}, {"mode": ["ask"]}, {"mode": "x" * 1001}, None):
        invalid = await client.refused("session/updateSettings", **talk.key, settings=wrong)
        assert invalid["code"] == "request.invalid"
    nowhere = {**talk.key, "agentSessionId": "nowhere"}
    missing = await client.refused("session/updateSettings", **nowhere, settings={})
    assert missing["code"] == "session.not_found"
    async with connect(token=token_of("reader")) as reader:
        forbidden = await reader.refused("session/updateSettings", **talk.key, settings={})
        assert forbidden["code"] == "auth.forbidden"


async def test_an_agent_that_refuses_leaves_everything_as_it_was(client: Client, workspace: str) -> None:
    talk = await live(client, workspace, target="logged")
    before = await session_of(talk)
    error = await refused(talk, mode="nonsense", model="demo-large")
    assert (error["code"], error["delivery"]) == ("settings.invalid", "rejected")
    assert error["details"] == {"key": "mode"}
    after = await session_of(talk)
    assert (after["settings"], after["settingsSource"]) == (before["settings"], before["settingsSource"])
    assert await seen_by_agent(talk) == {"model": "demo-small", "mode": "ask"}


@pytest.mark.rule("RT-053", "RT-056")
async def test_a_chosen_model_the_agent_does_not_take_fails_the_turn_and_is_never_replaced(
    client: Client, workspace: str
) -> None:
    talk = await live(client, workspace, target="logged")
    await update(talk, model="no-such-model")
    turn = await talk.say("[[say hello]]")
    assert (turn["outcome"], turn["delivery"]) == ("failed", "rejected")
    assert turn["error"]["code"] == "provider.model_unavailable"
    assert (await session_of(talk))["settings"]["model"] == "no-such-model"
    created = await start(
        client, workspace, "[[say hello]]", target="logged", settings={"model": "no-such-model"}
    )
    failed = await client.settled(created.turn)
    assert failed["error"]["code"] == "provider.model_unavailable"
    error = await client.refused("session/resume", **created.key)
    assert error["code"] == "provider.model_unavailable"
    await update(talk, model="demo-large")
    assert (await seen_by_agent(talk))["model"] == "demo-large", "the next choice works"


async def test_what_the_agent_changes_by_itself_becomes_its_own(client: Client, workspace: str) -> None:
    talk = await live(client, workspace)
    await update(talk, mode="auto", model="demo-large")
    await talk.say("[[mode ask]]")
    session = await session_of(talk)
    assert (session["settings"]["mode"], session["settingsSource"]["mode"]) == ("ask", "provider")
    assert (session["settings"]["model"], session["settingsSource"]["model"]) == ("demo-large", "explicit")
    running = await talk.send("[[ask]] [[model demo-large]]")
    asked = await talk.pending()
    await update(talk, model="demo-small")
    await talk.answer(asked)
    await client.settled(running)
    assert (await session_of(talk))["settings"]["model"] == "demo-small", (
        "the choice still waits for its turn"
    )
    assert (await seen_by_agent(talk))["model"] == "demo-small"


async def test_prompts_wait_for_the_changes_before_them(client: Client, workspace: str) -> None:
    talk = await live(client, workspace)
    changes = [
        await client.send("session/updateSettings", **talk.key, settings={"mode": mode})
        for mode in ("auto", "ask", "auto")
    ]
    assert await seen_by_agent(talk) == {"model": "demo-small", "mode": "auto"}
    for change in changes:
        await change.result()


async def test_a_silent_agent_is_a_timeout_with_nothing_stored_and_no_turn_held_up(
    client: Client, workspace: str
) -> None:
    talk = await live(client, workspace, target="stiff")
    error = await refused(talk, mode="auto")
    assert (error["code"], error["delivery"]) == ("provider.timeout", "unknown")
    assert (await session_of(talk))["settings"]["mode"] == "ask"
    change = await client.send("session/updateSettings", **talk.key, settings={"mode": "auto"})
    assert (await talk.say("[[say on]]"))["outcome"] == "completed"
    assert (await change.refusal())["code"] == "provider.timeout"


async def test_a_close_answers_the_change_that_was_under_way(client: Client, workspace: str) -> None:
    talk = await live(client, workspace, target="stiff")
    change = await client.send("session/updateSettings", **talk.key, settings={"mode": "auto"})
    stored = await client.send("session/updateSettings", **talk.key, settings={"model": "demo-large"})
    await client.request("session/close", **talk.key)
    error = await change.refusal()
    assert (error["code"], error["delivery"]) == ("provider.lost", "unknown")
    assert (await stored.result())["session"]["settings"]["model"] == "demo-large"


async def test_choices_survive_a_restart_and_a_hard_end(make_daemon: MakeDaemon, tmp_path: Path) -> None:
    daemon: Daemon = make_daemon({"targets": [agent("keeps", tmp_path)]})
    async with connected(daemon) as client:
        await client.subscribe("w")
        talk = await live(client, "w", target="keeps")
        await update(talk, mode="auto")
        await update(talk, model="demo-large")
    daemon.kill()
    daemon.start()
    async with connected(daemon) as client:
        await client.subscribe("w")
        talk = talk.through(client)
        assert (await session_of(talk))["settings"] == {"mode": "auto", "model": "demo-large"}
        await update(talk, mode="ask")
        assert await seen_by_agent(talk) == {"model": "demo-large", "mode": "ask"}


async def test_a_target_that_is_gone_or_disabled_is_named(make_daemon: MakeDaemon, tmp_path: Path) -> None:
    daemon: Daemon = make_daemon({"targets": [agent("one", tmp_path), agent("two", tmp_path)]})
    async with connected(daemon) as client:
        talks = [await start(client, "w", target=target) for target in ("one", "two")]
    daemon.stop()
    daemon.settings = {"targets": [{**agent("one", tmp_path), "enabled": False}]}
    daemon.start()
    async with connected(daemon) as client:
        codes = [(await refused(talk.through(client), mode="auto"))["code"] for talk in talks]
        assert codes == ["target.disabled", "target.not_found"]
        renamed = await client.request("session/rename", **talks[1].key, title="Still here")
        assert renamed["session"]["title"] == "Still here", "a title needs no target"
