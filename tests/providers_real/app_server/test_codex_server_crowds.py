"""Sixteen sessions on one real app-server: streaming side by side, one of them huge, all of them losing their process."""

from pathlib import Path

import pytest

from tests.doubles.model_script import call, hold, script
from tests.doubles.model_server import ModelServer
from tests.end_to_end.client import connected
from tests.end_to_end.fixtures import MakeDaemon
from tests.end_to_end.talk import start, streamed
from tests.providers_real.app_server.codex_server import FREE, SHELL_TOOL, TARGET, codex_server, tool_calls
from tests.providers_real.codex_acp import agents, eventually, kill_agent

pytestmark = pytest.mark.real_agent

SESSIONS = 16
NUL_BYTES = 1024 * 1024
"""Of a command's output: in JSON each is six characters, so that its item is a line of more than six megabytes."""


@pytest.mark.case("FC-10", "FC-24", "FC-25")
async def test_sixteen_sessions_stream_on_one_process_and_all_survive_its_death(
    make_daemon: MakeDaemon, codex: str, model: ModelServer, tmp_path: Path
) -> None:
    daemon = make_daemon({"targets": [codex_server(codex, tmp_path / "codex", model)]})
    async with connected(daemon) as client:
        await client.subscribe("w")
        talks = [
            await start(
                client,
                "w",
                f"Crowd {number:02}. " + script([f"begun {number:02} ", hold("crowd"), f"ended {number:02}"]),
                target=TARGET,
            )
            for number in range(SESSIONS)
        ]
        await eventually(
            lambda: sum(each.holding == "crowd" for each in model.requests) == SESSIONS, "all to stream"
        )
        (agent,) = agents(daemon, codex)
        for number, talk in enumerate(talks):
            row = await client.row("message", agentSessionId=talk.session_id, role="assistant")
            await client.wait(
                lambda row=row, number=number: streamed(client, row["messageId"]) == f"begun {number:02} ",
                "the text so far",
            )
        model.release("crowd")
        for number, talk in enumerate(talks):
            assert (await client.settled(talk.turn))["outcome"] == "completed"
            assert await talk.texts() == [f"begun {number:02} ended {number:02}"]

        lost = [await talk.send(script(["So far ", hold("crowd lost")])) for talk in talks]
        await eventually(
            lambda: sum(each.holding == "crowd lost" for each in model.requests) == SESSIONS, "all again"
        )
        kill_agent(agent)
        for turn in lost:
            settled = await client.settled(turn)
            assert (settled["outcome"], settled["error"]["code"]) == ("failed", "provider.lost")
        again = [
            await talk.send(f"Crowd again {number:02}. " + script(["Here."]))
            for number, talk in enumerate(talks)
        ]
        for number, turn in enumerate(again):
            assert (await client.settled(turn))["outcome"] == "completed"
            (request,) = model.asked(f"Crowd again {number:02}.")
            assert request.knows("user", f"Crowd {number:02}.")
        assert len(agents(daemon, codex)) == 1


@pytest.mark.case("FC-08")
async def test_an_item_of_six_megabytes_passes_and_holds_nobody_up(
    make_daemon: MakeDaemon, codex: str, model: ModelServer, tmp_path: Path
) -> None:
    daemon = make_daemon({"targets": [codex_server(codex, tmp_path / "codex", model)]})
    async with connected(daemon) as client:
        await client.subscribe("w")
        beside = await start(
            client, "w", script(["Beside ", hold("beside huge"), "it."]), target=TARGET, settings=FREE
        )
        huge = call(SHELL_TOOL, cmd=f"head -c {NUL_BYTES} /dev/zero", yield_time_ms=20000)
        talk = await start(client, "w", script([huge], ["That was much."]), target=TARGET, settings=FREE)
        turn = await client.settled(talk.turn)
        assert (turn["outcome"], turn["error"]) == ("completed", None)
        (tool,) = tool_calls(await talk.messages())
        assert (tool["status"], tool["output"]["exitCode"]) == ("completed", 0)
        assert await talk.texts() == ["That was much."]
        model.release("beside huge")
        assert (await client.settled(beside.turn))["outcome"] == "completed"
        assert await beside.texts() == ["Beside it."]


@pytest.mark.case("FC-12")
@pytest.mark.rule("RT-006")
async def test_a_stop_ends_a_turn_whose_model_cannot_be_reached(
    make_daemon: MakeDaemon, codex: str, tmp_path: Path
) -> None:
    with ModelServer() as gone:
        target = codex_server(codex, tmp_path / "codex", gone)
    daemon = make_daemon({"targets": [target]})
    async with connected(daemon) as client:
        await client.subscribe("w")
        talk = await start(client, "w", script(["Never said."]), target=TARGET)
        notice = await client.row("message", turnId=talk.turn["turnId"], kind="notice")
        assert notice["content"][0]["code"] == "provider.retrying"
        await client.request("turn/cancel", **talk.key, turnId=talk.turn["turnId"])
        turn = await client.settled(talk.turn)
        assert (turn["outcome"], turn["stopReason"]) == ("canceled", "interrupted")
        assert turn["cancelConfirmedAt"] is not None
