"""Stop and close against agents that do not obey: bounded, honest about it, and the session goes on (FC-12, FC-03)."""

from pathlib import Path

import pytest

from tests.end_to_end.client import Client, Json
from tests.end_to_end.daemon import Daemon, poll_until
from tests.end_to_end.talk import Talk, start
from tests.process_guard.support import alive
from tests.trouble.agents import agent_of, gone, heard, processes_of
from tests.trouble.beside import takes_prompts, undisturbed


async def stop(client: Client, talk: Talk) -> Json:
    """Ask for the end of the first turn, twice; the settled turn."""
    for _ in range(2):
        reply = await client.request("turn/cancel", **talk.key, turnId=talk.turn["turnId"])
        assert reply["turn"]["cancelRequestedAt"] is not None
        assert reply["turn"]["phase"] == "settling"
    return await client.settled(talk.turn)


@pytest.mark.case("FC-12", "FC-49")
@pytest.mark.parametrize(
    "defiance",
    [
        "[[ignore-cancel]][[stream 100000 delay=5]]",
        "[[ignore-cancel]][[say some]][[hang]]",
        "[[say some]][[silent-end]]",
        "[[say some]][[cancel-late 60000]][[hang]]",
    ],
    ids=["streams on", "falls silent", "never answers", "answers much later"],
)
async def test_agent_that_does_not_stop_is_forced_within_the_grace(
    daemon: Daemon, client: Client, workspace: str, defiance: str
) -> None:
    async with undisturbed(client, workspace):
        talk = await start(client, workspace, defiance)
        await client.event("message_delta", agentSessionId=talk.session_id)
        pid = agent_of(daemon, talk)
        turn = await stop(client, talk)
        assert turn["outcome"] == "canceled"
        assert turn["cancelConfirmedAt"] is None, "forced, not confirmed"
        assert poll_until(lambda: not alive(pid), 6)
        text = await talk.texts()
        await takes_prompts(talk)
        assert await talk.texts() == [*text, "still here"], "words of a stopped turn changed the transcript"


@pytest.mark.case("FC-12")
async def test_agent_that_stops_in_time_is_confirmed_and_kept(
    daemon: Daemon, client: Client, workspace: str
) -> None:
    talk = await start(client, workspace, "[[say some]][[cancel-late 200]][[hang]]")
    await client.event("message_delta", agentSessionId=talk.session_id)
    pid = agent_of(daemon, talk)
    turn = await stop(client, talk)
    assert turn["outcome"] == "canceled"
    assert turn["cancelConfirmedAt"] is not None
    await takes_prompts(talk)
    assert agent_of(daemon, talk) == pid


@pytest.mark.case("FC-01", "FC-09", "FC-49")
async def test_end_that_never_comes_leaves_a_turn_that_runs_and_can_be_stopped(
    client: Client, workspace: str
) -> None:
    talk = await start(client, workspace, "[[say all done]][[silent-end]]")
    await client.event("message_delta", agentSessionId=talk.session_id)
    read = await client.request("session/get", **talk.key)
    assert read["activeTurn"]["phase"] == "running"
    assert read["session"]["runtime"]["lastActivityAt"] is not None
    await stop(client, talk)
    assert await talk.texts() == ["all done"]
    await takes_prompts(talk)


@pytest.mark.case("FC-43")
async def test_stop_of_a_turn_that_is_over_returns_it_as_it_is(
    daemon: Daemon, client: Client, workspace: str
) -> None:
    talk = await start(client, workspace, "[[say done]]", target="logged")
    settled = await client.settled(talk.turn)
    before = len(heard(daemon, "logged"))
    for _ in range(2):
        reply = await client.request("turn/cancel", **talk.key, turnId=settled["turnId"])
        assert reply["turn"] == settled
    unknown = await client.refused("turn/cancel", **talk.key, turnId="no-such-turn")
    assert unknown["code"] == "turn.not_found"
    await takes_prompts(talk)
    assert [line["method"] for line in heard(daemon, "logged")[before:]] == ["session/prompt"]


@pytest.mark.case("FC-03", "FC-59")
async def test_stubborn_agent_ends_with_everything_it_started(
    daemon: Daemon, client: Client, workspace: str, tmp_path: Path
) -> None:
    pids = tmp_path / "pids"
    family = "".join(
        f"[[grandchild {kind} file={pids}]]" for kind in ("", "setsid", "stubborn", "setsid stubborn")
    )
    async with undisturbed(client, workspace):
        other = await start(client, workspace, "[[say other]]", target="stubborn")
        await client.settled(other.turn)
        talk = await start(client, workspace, f"{family}[[say born]]", target="stubborn")
        await client.settled(talk.turn)
        grandchildren = [int(line) for line in pids.read_text().split()]
        assert len(grandchildren) == 4
        assert len(processes_of(daemon, talk)) == 5
        closed = await client.request("session/close", **talk.key)
        assert closed["session"]["runtime"]["state"] == "absent"
        assert gone(daemon, talk, seconds=1)
        assert not [pid for pid in grandchildren if alive(pid)]
        assert agent_of(daemon, other)
        await takes_prompts(talk)
