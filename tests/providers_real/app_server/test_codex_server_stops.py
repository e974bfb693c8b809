"""Stopping a real Codex: confirmed by it, felt by its model and by its commands, and nothing in the next prompt's way."""

import pytest

from tests.doubles.model_script import call, hold, pace, script
from tests.doubles.model_server import ModelServer
from tests.end_to_end.client import Client
from tests.end_to_end.daemon import Daemon
from tests.end_to_end.talk import start, text_of
from tests.providers_real.app_server.codex_server import ASKING, FREE, SHELL_TOOL, TARGET
from tests.providers_real.codex_acp import commands, eventually, holding

pytestmark = pytest.mark.real_agent


@pytest.mark.rule("RT-006")
async def test_a_stop_mid_stream_is_confirmed_and_ends_the_request_to_the_model(
    client: Client, workspace: str, model: ModelServer
) -> None:
    tale = ["Once upon ", hold("codex stopped"), pace(0.01), *["a time, " for _ in range(1000)]]
    talk = await start(client, workspace, "The first. " + script(tale), target=TARGET)
    request = await holding(model, "codex stopped")
    message = await client.row("message", role="assistant", kind="text")
    await client.request("turn/cancel", **talk.key, turnId=talk.turn["turnId"])
    turn = await client.settled(talk.turn)
    assert (turn["outcome"], turn["stopReason"]) == ("canceled", "interrupted")
    assert turn["cancelRequestedAt"] is not None
    assert turn["cancelConfirmedAt"] is not None
    model.release("codex stopped")
    await eventually(lambda: request.ending == "client_left", "Codex to leave its model")
    (kept,) = [each for each in await talk.messages() if each["messageId"] == message["messageId"]]
    assert (kept["status"], text_of(kept)) == ("interrupted", "Once upon ")

    assert (await talk.say("The second. " + script(["A new start."])))["outcome"] == "completed"
    assert await talk.texts() == ["Once upon ", "A new start."]
    (second,) = model.asked("The second.")
    assert second.knows("user", "The first."), second.conversation


@pytest.mark.parametrize("asks", [False, True], ids=["free", "asked for"])
async def test_a_stop_ends_the_command_that_runs(
    client: Client, workspace: str, daemon: Daemon, asks: bool
) -> None:
    slow = call(SHELL_TOOL, cmd="echo begun; sleep 600", yield_time_ms=30000)
    settings = ASKING if asks else FREE
    talk = await start(client, workspace, script([slow], ["Done."]), target=TARGET, settings=settings)
    if asks:
        await talk.answer(await talk.pending(), "accept")
    await eventually(lambda: len(commands(daemon, "sleep")) == 1, "the command to run")
    await client.request("turn/cancel", **talk.key, turnId=talk.turn["turnId"])
    assert (await client.settled(talk.turn))["outcome"] == "canceled"
    await eventually(lambda: not commands(daemon, "sleep"), "the command to end")
    assert (await talk.say(script(["Free again."])))["outcome"] == "completed"


async def test_closing_a_session_ends_its_command_and_leaves_the_others_their_process(
    client: Client, workspace: str, daemon: Daemon
) -> None:
    other = await start(client, workspace, script(["Here."]), target=TARGET)
    await client.settled(other.turn)
    slow = call(SHELL_TOOL, cmd="sleep 600", yield_time_ms=250)
    talk = await start(client, workspace, script([slow], ["Left it."]), target=TARGET, settings=FREE)
    await client.settled(talk.turn)
    assert len(commands(daemon, "sleep")) == 1
    await client.request("session/close", **talk.key)
    await eventually(lambda: not commands(daemon, "sleep"), "the command to end")
    assert (await other.say(script(["Still here."])))["outcome"] == "completed"
    assert (await talk.say(script(["Back."])))["outcome"] == "completed"
