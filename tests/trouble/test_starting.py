"""Agents that cannot start, or not yet: the prompt that needed one fails in words that say why, and nothing stays behind."""

from pathlib import Path

import pytest

from supervisor.process_guard.marks import INSTANCE_MARK, LAUNCH_MARK
from tests.end_to_end.client import Client
from tests.end_to_end.daemon import Daemon
from tests.end_to_end.talk import Talk, start
from tests.trouble.agents import INITIALIZE_SECONDS, agent_of, gone, heard
from tests.trouble.beside import takes_prompts, undisturbed


@pytest.mark.case("FC-50", "FC-49")
async def test_agents_that_do_not_start_fail_their_prompt_by_name_and_kind(
    daemon: Daemon, client: Client, workspace: str
) -> None:
    async with undisturbed(client, workspace):
        deaf = await start(client, workspace, "hello", target="deaf")
        for target, words in {
            "missing": "'no-such-agent-program' was not found",
            "unexecutable": "'unexecutable-agent' cannot be executed",
            "broken": "ended (exit code 3) while it was starting",
        }.items():
            talk = await start(client, workspace, "hello", target=target)
            turn = await client.settled(talk.turn)
            assert (turn["outcome"], turn["delivery"]) == ("failed", "not_dispatched")
            assert turn["error"]["code"] == "provider.unavailable"
            assert words in turn["error"]["message"]
            assert str(daemon.folder) not in turn["error"]["message"], "a path"
            [prompt] = await talk.messages()
            assert prompt["role"] == "user"
            assert (await client.request("session/get", **talk.key))["session"]["runtime"][
                "state"
            ] == "absent"

        turn = await client.settled(deaf.turn)
        assert (turn["outcome"], turn["error"]["code"]) == ("failed", "provider.timeout")
        assert f"{INITIALIZE_SECONDS} s" in turn["error"]["message"]
        assert gone(daemon, deaf)
        assert not [line for line in heard(daemon, "deaf") if line.get("method") == "session/prompt"]


@pytest.mark.case("FC-30")
async def test_agent_that_dies_at_every_start_is_left_alone_for_a_while(
    client: Client, workspace: str
) -> None:
    async with undisturbed(client, workspace):
        talk = await start(client, workspace, "one", target="broken")
        turns = [await client.settled(talk.turn)]
        turns += [await talk.say(f"again {number}") for number in range(5)]
        assert {turn["error"]["code"] for turn in turns} == {"provider.unavailable"}
        assert ["retryAfterMs" in turn["error"] for turn in turns] == [False] * 5 + [True]
        assert turns[-1]["error"]["retryable"]
        assert 0 < turns[-1]["error"]["retryAfterMs"] <= 10_000
        # Only this launch is: another one starts.
        await takes_prompts(await _settled_session(client, workspace))


@pytest.mark.case("FC-50", "FC-44")
async def test_slow_start_is_no_failure_and_can_be_stopped(
    daemon: Daemon, client: Client, workspace: str
) -> None:
    stopped = await start(client, workspace, "[[say never]] stopped-prompt", target="slow")
    waiting = await start(client, workspace, "[[say at last]]", target="slow")
    await client.event("runtime_activity", agentSessionId=stopped.session_id, runtimeState="activating")
    reply = await client.request("turn/cancel", **stopped.key, turnId=stopped.turn["turnId"])
    assert reply["turn"]["outcome"] == "canceled"
    turn = await client.settled(stopped.turn)
    assert (turn["outcome"], turn["delivery"]) == ("canceled", "not_dispatched")
    assert turn["cancelConfirmedAt"] is not None
    await client.event("runtime_activity", agentSessionId=stopped.session_id, runtimeState="absent")
    assert gone(daemon, stopped)
    assert (await client.settled(waiting.turn))["outcome"] == "completed"
    assert await waiting.texts() == ["at last"]
    assert not [line for line in heard(daemon, "slow") if "stopped-prompt" in str(line)]
    await takes_prompts(stopped)


@pytest.mark.case("FC-44", "FC-59")
async def test_session_that_is_still_starting_can_be_closed(
    daemon: Daemon, client: Client, workspace: str
) -> None:
    talk = await start(client, workspace, "hello", target="deaf")
    await client.event("runtime_activity", agentSessionId=talk.session_id, runtimeState="activating")
    closed = await client.request("session/close", **talk.key)
    assert closed["session"]["runtime"]["state"] == "absent"
    assert gone(daemon, talk)
    turn = await client.settled(talk.turn)
    assert (turn["outcome"], turn["delivery"]) == ("canceled", "not_dispatched")


@pytest.mark.case("FC-35")
async def test_missing_working_directory_is_named_as_such_until_it_is_back(
    client: Client, workspace: str, tmp_path: Path
) -> None:
    folder = tmp_path / "project"
    folder.mkdir()
    async with undisturbed(client, workspace):
        talk = await start(client, workspace, "[[say one]]", cwd=str(folder))
        await client.settled(talk.turn)

        folder.rmdir()
        # It goes on where it runs already.
        assert (await talk.say("[[say two]]"))["outcome"] == "completed"
        await client.request("session/close", **talk.key)
        await _fails_without_directory(client, talk)

        folder.write_text("now a file")
        await _fails_without_directory(client, talk)
        refusal = await client.refused(
            "session/create",
            workspaceId=workspace,
            agentTargetId="demo",
            clientSubmitId="file",
            cwd=str(folder),
        )
        assert refusal["code"] == "session.cwd_missing"

        folder.unlink()
        folder.mkdir()
        again = await talk.say("[[recall]]")
        assert again["outcome"] == "completed"
        assert (await talk.texts())[-1] == "I remember 2: [[say one]] | [[say two]]"


@pytest.mark.case("FC-26")
async def test_history_replayed_at_a_load_is_no_new_output(
    daemon: Daemon, client: Client, workspace: str
) -> None:
    talk = await start(client, workspace, "[[say one]]", target="replaying")
    await client.settled(talk.turn)
    await talk.say("[[think 1]][[say two]]")
    await client.request("session/close", **talk.key)
    before, events = await talk.messages(), len(client.received)

    resumed = await client.request("session/resume", **talk.key)
    assert resumed["session"]["resumability"] == "resumable"
    assert [frame["method"] for frame in heard(daemon, "replaying")][-1] == "session/load"
    assert await talk.messages() == before
    later = [frame["type"] for frame in client.received[events:] if "subscriptionId" in frame]
    assert "message_delta" not in later
    activity = [frame["activity"] for frame in client.events("runtime_activity")]
    assert activity[-1] == "idle"
    assert len((await client.request("turn/list", **talk.key))["items"]) == 2

    # The first words of the next turn are not taken for more of the history.
    await talk.say("[[say one]][[recall]]")
    assert await talk.texts() == ["one", "two", "oneI remember 2: [[say one]] | [[think 1]][[say two]]"]


@pytest.mark.case("FC-58", "FC-49")
async def test_first_prompt_stopped_before_the_agent_kept_anything_loses_nothing_but_itself(
    client: Client, workspace: str
) -> None:
    talk = await start(client, workspace, "[[say half]][[hang]]", target="forgetful")
    await client.event("message_delta", agentSessionId=talk.session_id)
    await client.request("turn/cancel", **talk.key, turnId=talk.turn["turnId"])
    assert (await client.settled(talk.turn))["outcome"] == "canceled"
    await client.request("session/close", **talk.key)
    await takes_prompts(talk)
    notices = [message for message in await talk.messages() if message["kind"] == "notice"]
    assert [notice["content"][0]["code"] for notice in notices] == ["session.fresh_conversation"]
    assert await talk.texts() == ["half", "still here"]


@pytest.mark.case("FC-07", "FC-49")
async def test_conversation_the_agent_lost_is_not_replaced_in_silence(
    daemon: Daemon, client: Client, workspace: str
) -> None:
    talk = await start(client, workspace, "[[say kept]]", target="forgetful")
    await client.settled(talk.turn)
    await client.request("session/close", **talk.key)
    turn = await talk.say("[[say lost]]")
    assert (turn["outcome"], turn["error"]["code"]) == ("failed", "session.not_resumable")
    tries = len(heard(daemon, "forgetful"))
    refusal = await client.refused("session/send", **talk.key, clientSubmitId="once more", content=_text("x"))
    assert refusal["code"] == "session.not_resumable"
    assert (await client.refused("session/resume", **talk.key))["code"] == "session.not_resumable"
    assert len(heard(daemon, "forgetful")) == tries, "the agent was asked again"

    await client.request("session/resume", **talk.key, mode="fresh")
    await takes_prompts(talk)
    assert await talk.texts() == ["kept", "still here"]


@pytest.mark.case("FC-51")
async def test_agents_see_neither_the_daemons_secrets_nor_the_marks_of_another_agent(
    daemon: Daemon, client: Client, workspace: str
) -> None:
    talk = await start(client, workspace, "[[say hello]]", target="banner")
    await client.settled(talk.turn)
    entries = Path(f"/proc/{agent_of(daemon, talk)}/environ").read_bytes().split(b"\0")
    seen = dict(entry.decode().split("=", 1) for entry in entries if entry)
    own = {name for name in seen if name.startswith(("GREENROOM_", "DEMO_"))}
    allowed = {"PATH", "HOME", "USER", "SHELL", "LANG", "LC_TIME", "TZ", "TMPDIR", "INHERITED"}
    assert seen.keys() - own <= allowed
    assert seen["INHERITED"] == "yes"
    assert seen["LC_TIME"] == "C"
    assert own == {"DEMO_LOG", "DEMO_BANNER", INSTANCE_MARK, LAUNCH_MARK}
    assert not [name for name, value in seen.items() if daemon.token in value or "hush" in value]


async def _fails_without_directory(client: Client, talk: Talk) -> None:
    turn = await talk.say("[[say nobody hears this]]")
    assert (turn["outcome"], turn["delivery"]) == ("failed", "not_dispatched")
    assert turn["error"]["code"] == "session.cwd_missing"
    assert "working directory" in turn["error"]["message"]
    assert "agent" not in turn["error"]["message"]
    assert len(await talk.messages()) > 2


async def _settled_session(client: Client, workspace: str) -> Talk:
    talk = await start(client, workspace, "[[say fine]]")
    await client.settled(talk.turn)
    return talk


def _text(content: str) -> list[dict[str, str]]:
    return [{"type": "text", "text": content}]
