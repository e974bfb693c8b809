"""An agent that ends, whenever and however it does: its turn ends with it, and the next prompt starts another one."""

import pytest

from tests.end_to_end.client import Client
from tests.end_to_end.daemon import Daemon
from tests.end_to_end.talk import answer_params, start
from tests.trouble.agents import agent_of, gone, heard, kill, processes_of
from tests.trouble.beside import takes_prompts, undisturbed

ENDS = {
    "[[exit 0]]": "0",
    "[[crash]]": "1",
    "[[die]]": "signal 9",
}
"""How the agent ends, and the word for it that the user is told."""


@pytest.mark.case("FC-10", "FC-11", "FC-25", "FC-49")
@pytest.mark.parametrize("end", ENDS)
async def test_end_in_the_middle_of_a_turn_is_a_failure_that_keeps_the_text(
    daemon: Daemon, client: Client, workspace: str, end: str
) -> None:
    async with undisturbed(client, workspace):
        talk = await start(client, workspace, f"[[tool build status=running]][[stream 10 size=20]]{end}")
        turn = await client.settled(talk.turn)
        assert (turn["outcome"], turn["delivery"], turn["stopReason"]) == ("failed", "accepted", None)
        assert turn["error"]["code"] == "provider.lost"
        assert ENDS[end] in turn["error"]["message"]
        text = "".join(f"{index} ".ljust(20, "x") for index in range(10))
        assert await talk.texts() == [text]
        called, said = (message for message in await talk.messages() if message["role"] == "assistant")
        assert (said["status"], called["status"]) == ("interrupted", "interrupted")
        assert called["toolCall"]["status"] == "interrupted"
        assert gone(daemon, talk)
        again = await talk.say("[[recall]]")
        assert again["outcome"] == "completed"
        assert (await talk.texts())[-1].startswith("I remember 1:")


@pytest.mark.case("FC-42", "FC-49")
async def test_end_before_the_first_word_settles_the_prompt_at_once(client: Client, workspace: str) -> None:
    talk = await start(client, workspace, "[[crash]]")
    turn = await client.settled(talk.turn)
    assert (turn["outcome"], turn["error"]["code"]) == ("failed", "provider.lost")
    assert turn["delivery"] in ("accepted", "unknown")
    await takes_prompts(talk)


@pytest.mark.case("FC-30", "FC-59", "FC-25")
async def test_end_between_turns_is_noticed_and_the_next_prompt_starts_a_new_one(
    daemon: Daemon, client: Client, workspace: str
) -> None:
    async with undisturbed(client, workspace):
        talk = await start(client, workspace, "[[say one]]", target="logged")
        await client.settled(talk.turn)
        kill(agent_of(daemon, talk))
        await client.event("runtime_activity", agentSessionId=talk.session_id, runtimeState="absent")
        read = await client.request("session/get", **talk.key)
        assert read["session"]["runtime"]["state"] == "absent"

        other = await start(client, workspace, "[[say other]]", target="logged")
        assert (await client.settled(other.turn))["outcome"] == "completed"
        assert (await talk.say("[[recall]]"))["outcome"] == "completed"
        assert await talk.texts() == ["one", "I remember 1: [[say one]]"]
        assert len(processes_of(daemon, talk)) == 1


@pytest.mark.case("FC-59")
async def test_session_whose_agent_is_gone_closes_and_closes_again(
    daemon: Daemon, client: Client, workspace: str
) -> None:
    talk = await start(client, workspace, "[[say one]]")
    await client.settled(talk.turn)
    kill(agent_of(daemon, talk))
    for _ in range(2):
        closed = await client.request("session/close", **talk.key)
        assert closed["session"]["runtime"]["state"] == "absent"
    await takes_prompts(talk)


@pytest.mark.case("FC-25", "FC-49")
async def test_prompt_to_an_agent_that_no_longer_reads_fails_and_the_next_one_works(
    daemon: Daemon, client: Client, workspace: str
) -> None:
    async with undisturbed(client, workspace):
        pid = daemon.pid
        talk = await start(client, workspace, "[[close-stdin]][[say last words]]")
        assert (await client.settled(talk.turn))["outcome"] == "completed"
        turn = await talk.say("p" * 100_000)
        assert (turn["outcome"], turn["error"]["code"]) == ("failed", "provider.lost")
        assert turn["delivery"] == "unknown"
        assert gone(daemon, talk)
        await takes_prompts(talk)
        assert daemon.pid == pid
        assert daemon.running


@pytest.mark.case("FC-10", "FC-46")
async def test_open_approval_ends_with_its_agent(daemon: Daemon, client: Client, workspace: str) -> None:
    talk = await start(client, workspace, "[[ask allow_once,reject_once]]")
    asked = await talk.pending()
    kill(agent_of(daemon, talk))
    turn = await client.settled(talk.turn)
    assert (turn["outcome"], turn["error"]["code"]) == ("failed", "provider.lost")
    superseded = await client.row("interaction", requestId=asked["requestId"], status="superseded")
    assert superseded["answer"] is None
    refusal = await client.refused("interaction/respond", **answer_params(asked))
    assert refusal["code"] == "interaction.not_pending"
    assert refusal["details"]["interaction"] == superseded
    await takes_prompts(talk)


@pytest.mark.case("FC-04", "FC-49")
async def test_open_approval_is_answered_with_cancelled_once_when_its_session_is_closed(
    daemon: Daemon, client: Client, workspace: str
) -> None:
    talk = await start(client, workspace, "[[ask allow_once]][[say went on]]", target="logged")
    asked = await talk.pending()
    before = len(_outcomes(daemon))
    closed = await client.request("session/close", **talk.key)
    assert closed["session"]["runtime"]["state"] == "absent"
    turn = await client.settled(talk.turn)
    assert turn["outcome"] == "canceled"
    await client.row("interaction", requestId=asked["requestId"], status="superseded")
    assert _outcomes(daemon)[before:] == ["cancelled"]
    assert gone(daemon, talk)
    await takes_prompts(talk)
    assert "went on" not in await talk.texts()


@pytest.mark.case("FC-04")
async def test_open_approval_is_answered_with_cancelled_once_when_its_turn_is_stopped(
    daemon: Daemon, client: Client, workspace: str
) -> None:
    talk = await start(client, workspace, "[[ask allow_once]][[say went on]]", target="logged")
    asked = await talk.pending()
    before = len(_outcomes(daemon))
    await client.request("turn/cancel", **talk.key, turnId=talk.turn["turnId"])
    turn = await client.settled(talk.turn)
    assert turn["outcome"] == "canceled"
    assert turn["cancelConfirmedAt"] is not None
    refusal = await client.refused("interaction/respond", **answer_params(asked))
    assert refusal["code"] == "interaction.not_pending"
    await takes_prompts(talk)
    assert _outcomes(daemon)[before:] == ["cancelled"]


STOP_REASONS = {
    "[[refuse]]": ("refusal", "provider.refused"),
    "[[stop]]": ("max_tokens", "provider.context_full"),
    "[[stop max_turn_requests]]": ("max_turn_requests", "provider.stopped"),
    "[[stop went fishing]]": ("went fishing", "provider.stopped"),
    "[[stop cancelled]]": ("cancelled", None),
}


@pytest.mark.case("FC-11", "FC-49")
async def test_stop_reasons_are_kept_and_only_the_proper_end_is_a_success(
    client: Client, workspace: str
) -> None:
    talk = await start(client, workspace, "[[say proper]]")
    assert (await client.settled(talk.turn))["stopReason"] == "end_turn"
    for directive, (reason, code) in STOP_REASONS.items():
        turn = await talk.say(f"[[say some]]{directive}")
        assert turn["stopReason"] == reason
        assert turn["outcome"] == ("failed" if code else "canceled")
        assert (turn["error"] or {}).get("code") == code
    assert turn["cancelRequestedAt"] is None
    assert turn["cancelConfirmedAt"] is not None
    await takes_prompts(talk)


@pytest.mark.case("FC-11", "FC-49")
async def test_errors_of_a_prompt_fail_the_turn_and_leave_it_delivered(
    client: Client, workspace: str
) -> None:
    talk = await start(client, workspace, "[[say fine]]")
    await client.settled(talk.turn)
    rejected = await talk.say("[[error -32603]]")
    assert (rejected["outcome"], rejected["delivery"]) == ("failed", "accepted")
    failed = await talk.say("[[say some]][[error -32603]]")
    assert (failed["outcome"], failed["delivery"]) == ("failed", "accepted")
    assert {rejected["error"]["code"], failed["error"]["code"]} == {"provider.rejected"}
    await takes_prompts(talk)


@pytest.mark.case("FC-42")
async def test_turn_that_brought_nothing_says_so(client: Client, workspace: str) -> None:
    talk = await start(client, workspace, "[[sleep 1]]")
    assert (await client.settled(talk.turn))["outcome"] == "completed"
    [notice] = [message for message in await talk.messages() if message["kind"] == "notice"]
    assert notice["content"][0]["code"] == "turn.empty"
    await talk.say("[[tool build]]")
    assert len([message for message in await talk.messages() if message["kind"] == "notice"]) == 1


def _outcomes(daemon: Daemon) -> list[str]:
    """What agents were answered to their requests for permission."""
    answers = [
        frame for frame in heard(daemon, "logged") if str(frame.get("id", "")).startswith("demo-request")
    ]
    return [answer["result"]["outcome"]["outcome"] for answer in answers]
