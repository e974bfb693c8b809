"""What a client may rely on when the daemon dies or is stopped: nothing acknowledged is lost, nothing is sent twice."""

import signal
from typing import Any

import pytest
import trio

from tests.end_to_end.client import Client, connected
from tests.end_to_end.fixtures import MakeDaemon, agent
from tests.end_to_end.talk import Talk, answer_params, start, text, text_of

SESSIONS, RUNNING, ASKING = 20, 8, 3


async def twenty(client: Client) -> list[Talk]:
    """Twenty sessions: three ask, five more run, the others are settled or were never used."""
    talks = []
    for number in range(SESSIONS):
        prompt = "[[say before]] [[ask]]" if number < ASKING else "[[say before]] [[hang]]"
        if number >= RUNNING:
            prompt = "[[say done]]"
        talks.append(
            await start(
                client,
                "w",
                None if number == SESSIONS - 1 else prompt,
                target="logged",
                clientSubmitId=f"create-{number}",
            )
        )
    for talk in talks[:ASKING]:
        await talk.pending()
    for talk in talks[ASKING:RUNNING]:
        await client.event("message_delta", agentSessionId=talk.session_id)
    for talk in talks[RUNNING:-1]:
        await client.settled(talk.turn)
    return talks


@pytest.mark.case("FC-06", "FC-14")
@pytest.mark.rule("RT-034", "RT-037", "RT-077", "AP-016")
async def test_a_killed_daemon_settles_everything_before_it_serves_again(make_daemon: MakeDaemon) -> None:
    daemon = make_daemon(start=False)
    daemon.settings = {"targets": [agent("logged", daemon.folder)], "limits": {"writeBehindMs": 50}}
    daemon.start()
    async with connected(daemon) as client:
        first_hello = client.hello
        await client.subscribe("w")
        talks = await twenty(client)
        cut = client.events("commit")[10]["commitSeq"]
        streaming = {e["agentSessionId"]: e["text"] for e in client.events("message_delta")}
        # What was streamed is written behind: wait for the flush that holds the last of it.
        await settled_writes(client, talks)
        providers = daemon.providers()
        assert len(providers) == SESSIONS - 1
        await trio.to_thread.run_sync(daemon.kill)
    assert await trio.to_thread.run_sync(daemon.providers_left) == []
    prompts = (daemon.folder / "logged.jsonl").read_text().count('"session/prompt"')
    await trio.to_thread.run_sync(daemon.start)
    async with connected(daemon) as back:
        assert back.hello["storeId"] == first_hello["storeId"]
        assert back.hello["serverInfo"]["instanceId"] != first_hello["serverInfo"]["instanceId"]
        await back.subscribe("w", afterCommitSeq=cut, storeId=first_hello["storeId"])
        listed = (await back.request("session/list", workspaceId="w"))["items"]
        assert {item["agentSessionId"] for item in listed} == {talk.session_id for talk in talks}
        assert {item["activity"]["phase"] for item in listed} == {None}
        assert {item["runtime"]["state"] for item in listed} == {"absent"}
        assert (await back.request("interaction/list", workspaceId="w", status="pending"))["items"] == []
        superseded = await back.request("interaction/list", workspaceId="w", status="superseded")
        assert len(superseded["items"]) == ASKING
        for talk in talks[:RUNNING]:
            turn = (await back.request("turn/get", **talk.key, turnId=talk.turn["turnId"]))["turn"]
            assert (turn["phase"], turn["outcome"], turn["delivery"]) == (
                "settled",
                "interrupted",
                "accepted",
            )
            there = talk.through(back)
            said = [m for m in await there.messages() if m["kind"] == "text" and m["role"] == "assistant"]
            assert [text_of(message) for message in said] == [streaming[talk.session_id]] == ["before"]
            assert {message["status"] for message in await there.messages()} <= {"completed", "interrupted"}
            await back.row("turn", turnId=turn["turnId"], phase="settled")
        replayed = [event["commitSeq"] for event in back.events("commit")]
        assert replayed == sorted(set(replayed))
        assert min(replayed) > cut
        for talk in talks:
            repeated = await back.request("session/create", **talk.params)
            assert repeated["session"]["agentSessionId"] == talk.session_id
            assert ("turn" in repeated) is ("turn" in talk.created)
            assert repeated.get("turn", {}).get("turnId") == talk.created.get("turn", {}).get("turnId")
        assert (daemon.folder / "logged.jsonl").read_text().count('"session/prompt"') == prompts
        assert daemon.providers() == [], "nothing is started by itself, or by reading and repeating"
        for talk in (talks[ASKING - 1], talks[RUNNING - 1]):
            resumed = await back.request("session/resume", **talk.key)
            assert resumed["session"]["runtime"]["state"] == "live"
            turn = (await back.request("turn/get", **talk.key, turnId=talk.turn["turnId"]))["turn"]
            assert turn["outcome"] == "interrupted", "a conversation that is open again goes on with nothing"
        for talk in talks[:2] + talks[-2:]:
            there = talk.through(back)
            assert (await there.say("[[recall]]"))["outcome"] == "completed"
            remembered = int("turn" in talk.created)
            assert (await there.texts())[-1].startswith(f"I remember {remembered}:")
        for talk in (talks[ASKING - 1], talks[RUNNING - 1]):
            assert (await talk.through(back).say("[[say on]]"))["outcome"] == "completed"
        # Agents note what they read in its order: no prompt of before was among it (RT-077).
        told = (daemon.folder / "logged.jsonl").read_text().count('"session/prompt"')
        assert told == prompts + 6


@pytest.mark.rule("ST-004")
async def test_what_commits_tell_is_all_that_reads_show_also_after_a_recovery(
    make_daemon: MakeDaemon,
) -> None:
    daemon = make_daemon()
    async with connected(daemon) as client:
        await client.subscribe("w")
        told = await start(
            client, "w", "[[think 2]] [[plan a;b]] [[edit a.py]] [[say x]]", clientSubmitId="a"
        )
        await client.settled(told.turn)
        stopped = await start(client, "w", "[[ask]]", clientSubmitId="b")
        await stopped.pending()
        await client.request("turn/cancel", **stopped.key, turnId=stopped.turn["turnId"])
        await client.settled(stopped.turn)
        await client.request("session/rename", **stopped.key, title="Renamed")
        lost = await start(client, "w", "[[say some]] [[ask]]", clientSubmitId="c")
        await lost.pending()
    await trio.to_thread.run_sync(daemon.kill)
    await trio.to_thread.run_sync(daemon.start)
    async with connected(daemon) as client:
        await client.subscribe("w", afterCommitSeq=0)
        await client.row("turn", turnId=lost.turn["turnId"], outcome="interrupted")
        await client.row("interaction", agentSessionId=lost.session_id, status="superseded")
        for talk in (told, stopped, lost):
            assert newest_rows(client, talk) == await read_rows(client, talk)


KEY_OF = {"session": "agentSessionId", "turn": "turnId", "message": "messageId", "interaction": "requestId"}
OBSERVED = {"runtime", "messageVersion", "updatedAt"}
"""Members of a session that alone never make a commit."""


def newest_rows(client: Client, talk: Talk) -> dict[tuple[str, str], Any]:
    """The rows of a session as commits told them last."""
    return {
        (kind, row[name]): without(row, OBSERVED)
        for kind, name in KEY_OF.items()
        for row in client.rows(kind, agentSessionId=talk.session_id)
    }


async def read_rows(client: Client, talk: Talk) -> dict[tuple[str, str], Any]:
    """The same as reads show them."""
    detail = await client.request("session/get", **talk.key)
    rows = {
        "session": [detail["session"]],
        "turn": detail["turns"],
        "message": await talk.through(client).messages(),
        "interaction": detail["interactions"],
    }
    return {
        (kind, row[KEY_OF[kind]]): without(row, OBSERVED) for kind, listed in rows.items() for row in listed
    }


def without(row: dict[str, Any], names: set[str]) -> dict[str, Any]:
    return {name: value for name, value in row.items() if name not in names}


async def settled_writes(client: Client, talks: list[Talk]) -> None:
    """Two commits later than the last delta every flush that held it is on the disk: the writer keeps order."""
    for number in range(2):
        with trio.move_on_after(0.2):
            await trio.sleep_forever()
        await start(client, "other", clientSubmitId=f"flush-{number}-{len(talks)}")


@pytest.mark.rule("RT-144")
async def test_a_clean_stop_interrupts_turns_and_leaves_no_process(make_daemon: MakeDaemon) -> None:
    daemon = make_daemon()
    async with connected(daemon) as client:
        await client.subscribe("w")
        running = await start(client, "w", "[[say before]] [[hang]]", clientSubmitId="a")
        asking = await start(client, "w", "[[ask]]", clientSubmitId="b")
        stubborn = await start(client, "w", "[[ignore-cancel]] [[say x]] [[hang]]", clientSubmitId="c")
        await asking.pending()
        for talk in (running, stubborn):
            await client.event("message_delta", agentSessionId=talk.session_id)
        assert await trio.to_thread.run_sync(daemon.stop) == 0
        assert (await client.end())[0] == 1001
        for talk in (running, asking, stubborn):
            [settled] = client.rows("turn", turnId=talk.turn["turnId"], phase="settled")
            assert settled["outcome"] == "interrupted"
    assert daemon.providers() == []
    await trio.to_thread.run_sync(daemon.start)
    async with connected(daemon) as back:
        await back.subscribe("w")
        for talk in (running, asking, stubborn):
            there = talk.through(back)
            turn = (await back.request("turn/get", **talk.key, turnId=talk.turn["turnId"]))["turn"]
            assert turn["outcome"] == "interrupted"
            assert (await there.say("[[say after]]"))["outcome"] == "completed"
        assert (await running.through(back).texts())[0] == "before"
        refused = await back.refused("interaction/respond", **answer_params(await only(back)))
        assert refused["code"] == "interaction.not_pending"


async def only(client: Client) -> dict[str, str]:
    [asked] = (await client.request("interaction/list", workspaceId="w"))["items"]
    assert asked["status"] == "superseded"
    return dict(asked)


async def test_a_stopping_daemon_refuses_commands_and_still_answers_reads(make_daemon: MakeDaemon) -> None:
    daemon = make_daemon(start=False)
    daemon.settings = {
        "targets": [agent("stubborn", daemon.folder, DEMO_STUBBORN="1")],
        "limits": {"shutdownGraceSeconds": 3},
    }
    daemon.start()
    async with connected(daemon) as client:
        await client.subscribe("w")
        talk = await start(client, "w", "[[say x]]", target="stubborn")
        await client.settled(talk.turn)
        await client.request("events/subscribe", workspaceId="any", topics=["host.updated"])
        daemon.signal(signal.SIGTERM)
        assert (await client.event("shutdown"))["graceSeconds"] == 3
        # The agent is asked to end, and does not: until it is made to, the daemon is stopping.
        await client.event("runtime_activity", runtimeState="closing")
        for method, params in (
            ("session/create", {"workspaceId": "w", "agentTargetId": "demo", "clientSubmitId": "late"}),
            ("session/send", {**talk.key, "clientSubmitId": "late", "content": text("late")}),
            ("session/resume", talk.key),
        ):
            refused = await client.refused(method, **params)
            assert (refused["code"], refused["retryable"]) == ("shutdown.in_progress", True), method
            assert refused["delivery"] == "not_dispatched"
        detail = await client.request("session/get", **talk.key)
        assert detail["session"]["runtime"]["state"] == "closing"
        first_refusal = next(p for p, frame in enumerate(client.received) if "error" in frame)
        assert client.received.index(client.events("shutdown")[0]) < first_refusal
        assert (await client.end())[0] == 1001
    assert await trio.to_thread.run_sync(daemon.reap) == 0
    assert daemon.providers() == []


async def test_a_second_signal_stops_at_once_and_loses_nothing(make_daemon: MakeDaemon) -> None:
    daemon = make_daemon({"limits": {"shutdownGraceSeconds": 30}})
    async with connected(daemon) as client:
        await client.subscribe("w")
        talk = await start(client, "w", "[[ignore-cancel]] [[say x]] [[hang]]")
        await client.event("message_delta")
        daemon.signal(signal.SIGTERM)
        daemon.signal(signal.SIGTERM)
        await client.end()
    await trio.to_thread.run_sync(daemon.reap)
    assert await trio.to_thread.run_sync(daemon.providers_left) == []
    await trio.to_thread.run_sync(daemon.start)
    async with connected(daemon) as back:
        turn = (await back.request("turn/get", **talk.key, turnId=talk.turn["turnId"]))["turn"]
        assert (turn["phase"], turn["outcome"]) == ("settled", "interrupted")


async def test_replay_goes_on_over_restarts(make_daemon: MakeDaemon) -> None:
    daemon = make_daemon()
    numbers: list[int] = []
    for run in range(2):
        async with connected(daemon) as client:
            await client.subscribe("w", afterCommitSeq=numbers[-1] if numbers else 0)
            talk = await start(client, "w", "[[think 1]] [[say x]]", clientSubmitId=f"{run}")
            await client.settled(talk.turn)
            numbers += [event["commitSeq"] for event in client.events("commit")]
        await trio.to_thread.run_sync(daemon.kill if run else daemon.stop)
        await trio.to_thread.run_sync(daemon.start)
    assert numbers == sorted(set(numbers))
    async with connected(daemon) as client:
        await client.subscribe("w", afterCommitSeq=0)
        await client.wait(lambda: len(client.rows("turn", phase="settled")) == 2, "both")
        assert [event["commitSeq"] for event in client.events("commit")] == numbers
