"""What a real Codex keeps of a turn that was cut off: read when its conversation is open again, and what lacked is added."""

import os
import signal
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import trio

from tests.doubles.model_script import call, hold, script
from tests.doubles.model_server import ModelServer
from tests.end_to_end.client import connected
from tests.end_to_end.daemon import PROVIDERS_END_SECONDS, Daemon
from tests.end_to_end.fixtures import MakeDaemon
from tests.end_to_end.talk import start, text, text_of
from tests.providers_real.app_server.codex_server import FREE, SHELL_TOOL, TARGET, codex_server, tool_calls
from tests.providers_real.codex_acp import agents, eventually, holding, kill_agent

pytestmark = pytest.mark.real_agent

GUIDE_TIMEOUT_SECONDS = 1.0


@pytest.fixture
def daemon(make_daemon: MakeDaemon, codex: str, model: ModelServer, tmp_path: Path) -> Daemon:
    """One to be killed."""
    target = codex_server(codex, tmp_path / "codex", model)
    return make_daemon({"targets": [target], "limits": {"guideTimeoutSeconds": GUIDE_TIMEOUT_SECONDS}})


@contextmanager
def held_still(pid: int) -> Iterator[None]:
    """A process that does not run for a while; it may have been ended meanwhile."""
    os.kill(pid, signal.SIGSTOP)
    try:
        yield
    finally:
        os.kill(pid, signal.SIGCONT)


def written_behind(daemon: Daemon, text: str) -> bool:
    """Whether a message that still streams has this text in the database."""
    database = sqlite3.connect(f"file:{daemon.data_dir / 'greenroom.db'}?mode=ro", uri=True)
    try:
        found = database.execute("SELECT 1 FROM message_pieces WHERE instr(text, ?) > 0", (text,)).fetchone()
    finally:
        database.close()
    return found is not None


@pytest.mark.rule("RT-003")
@pytest.mark.case("FC-10")
async def test_after_a_killed_app_server_its_record_repeats_nothing_that_is_known(
    daemon: Daemon, codex: str, model: ModelServer
) -> None:
    async with connected(daemon) as client:
        await client.subscribe("w")
        command = call(SHELL_TOOL, cmd="echo one")
        talk = await start(
            client,
            "w",
            "Work. " + script(["First. ", command], ["Then, ", hold("killed in a turn")]),
            target=TARGET,
            settings=FREE,
        )
        await holding(model, "killed in a turn")
        await client.event("message_delta", text="Then, ")
        (agent,) = agents(daemon, codex)
        kill_agent(agent)
        lost = await client.settled(talk.turn)
        assert (lost["outcome"], lost["delivery"], lost["error"]["code"]) == (
            "failed",
            "accepted",
            "provider.lost",
        )
        before = await talk.messages()
        assert [text_of(row) for row in before if row["toolCall"] is None][1:] == ["First. ", "Then, "]
        assert (await talk.say("And now? " + script(["Next."])))["outcome"] == "completed"
        after = [row for row in await talk.messages() if row["turnId"] == lost["turnId"]]
        assert after == before
        assert (await client.request("turn/get", **talk.key, turnId=lost["turnId"]))["turn"] == lost
    assert len(model.asked("Work.")) == 2, "nothing is sent again by itself"


@pytest.mark.rule("RT-003", "RT-034")
@pytest.mark.case("FC-06")
async def test_after_a_killed_daemon_what_codex_did_without_it_is_added_to_the_interrupted_turn(
    daemon: Daemon, model: ModelServer
) -> None:
    async with connected(daemon) as client:
        await client.subscribe("w")
        command = call(SHELL_TOOL, cmd="echo unheard")
        steps = (["Heard.", hold("daemon gone"), command], ["Unheard."])
        talk = await start(client, "w", "Work on. " + script(*steps), target=TARGET, settings=FREE)
        await holding(model, "daemon gone")
        await client.row("turn", turnId=talk.turn["turnId"], phase="running")
        # Streamed text survives up to the last write-behind: a row cut before it keeps what it has.
        await eventually(lambda: written_behind(daemon, "Heard."), "the streamed text in the database")
        daemon.signal(signal.SIGSTOP)
        model.release("daemon gone")
        await eventually(
            lambda: [each.ending for each in model.asked("Work on.")] == ["complete", "complete"],
            "the whole turn without the daemon",
        )
        await rollouts_hold(daemon, "Unheard.")
        daemon.kill()
    assert daemon.providers_left(PROVIDERS_END_SECONDS) == []

    daemon.start()
    async with connected(daemon) as client:
        await client.subscribe("w")
        talk = talk.through(client)
        turn = (await client.request("turn/get", **talk.key, turnId=talk.turn["turnId"]))["turn"]
        assert (turn["phase"], turn["outcome"], turn["delivery"]) == ("settled", "interrupted", "accepted")
        assert (await talk.say("What was that? " + script(["It."])))["outcome"] == "completed"
        rows = [row for row in await talk.messages() if row["turnId"] == turn["turnId"]]
        assert [text_of(row) for row in rows if row["kind"] == "text"][1:] == ["Heard.", "Unheard."]
        (tool,) = tool_calls(rows)
        assert (tool["status"], tool["output"]["text"], tool["output"]["exitCode"]) == (
            "completed",
            "unheard\n",
            0,
        )
        assert all(row["status"] != "streaming" for row in rows)
        after = (await client.request("turn/get", **talk.key, turnId=turn["turnId"]))["turn"]
        assert after == turn, "the outcome stands"
        assert after["providerTurnId"] is not None
    assert len(model.asked("What was that?")) == 1


@pytest.mark.rule("RT-034", "RT-037")
async def test_guidance_whose_answer_was_lost_is_found_in_the_record(
    daemon: Daemon, codex: str, model: ModelServer
) -> None:
    words = "Rather oaks. " + script(["Oaks."])
    async with connected(daemon) as client:
        await client.subscribe("w")
        talk = await start(client, "w", "Plant. " + script(["Elms, ", hold("nobody listens")]), target=TARGET)
        await holding(model, "nobody listens")
        await client.row("turn", turnId=talk.turn["turnId"], phase="running")
        guide = {
            **talk.key,
            "turnId": talk.turn["turnId"],
            "clientSubmitId": "g1",
            "content": text(words),
        }
        (agent,) = agents(daemon, codex)
        with held_still(agent):
            assert (await client.refused("turn/guide", **guide))["code"] == "submit.delivery_unknown"
            daemon.signal(signal.SIGSTOP)
        await eventually(lambda: model.asked("Rather oaks."), "Codex to take it")
        await rollouts_hold(daemon, "Oaks.")
        daemon.kill()
    assert daemon.providers_left(PROVIDERS_END_SECONDS) == []

    daemon.start()
    async with connected(daemon) as client:
        await client.subscribe("w")
        talk = talk.through(client)
        assert (await client.refused("turn/guide", **guide))["code"] == "submit.delivery_unknown"
        assert (await talk.say("Well? " + script(["Done."])))["outcome"] == "completed"
        rows = [row for row in await talk.messages() if row["turnId"] == guide["turnId"]]
        found = [row for row in rows if row.get("clientSubmitId") == "g1"]
        assert [(row["role"], text_of(row)) for row in found] == [("user", words)]
        assert (await client.request("turn/guide", **guide))["turn"]["outcome"] == "interrupted"
    assert len(model.asked("Rather oaks.")) == 1, "nothing is sent again by itself"


async def rollouts_hold(daemon: Daemon, words: str) -> None:
    """Codex has written these words of its agent down: what it keeps is what a later process finds."""
    home = daemon.folder.parent / "codex"
    kept = f'"text":"{words}"'

    def held() -> bool:
        return any(kept in file.read_text() for file in home.glob("sessions/**/*.jsonl"))

    await eventually(held, f"{words!r} in a rollout")
    await trio.lowlevel.checkpoint()
