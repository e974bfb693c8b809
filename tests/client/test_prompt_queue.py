"""Prompts wait in the client, run in their order and at most once, and stand still after a stop until told to go on."""

import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

import anyio
import anyio.lowlevel
import anyio.to_thread
import pytest
from wsproto.events import TextMessage

import greenroom_client
from greenroom_client import Client, PromptQueue, QueuedPrompt, QueueFull, connect, connect_to_daemon, prompt
from tests.client.loops import on_both_loops
from tests.client.odd_daemon import SOON, Line, odd_daemon
from tests.end_to_end.daemon import Daemon
from tests.end_to_end.fixtures import MakeDaemon


class Stage:
    """A queue that runs, and what became of its session."""

    def __init__(self, queue: PromptQueue) -> None:
        self.queue = queue
        self.changed = anyio.Event()

    async def until(self, holds: Callable[[PromptQueue], bool]) -> None:
        while not holds(self.queue):
            await self.changed.wait()

    def tell(self, _: PromptQueue) -> None:
        self.changed.set()
        self.changed = anyio.Event()

    async def prompts(self) -> list[str]:
        """What the agent was asked, in order."""
        queue = self.queue
        read = await queue.client.session_messages(
            workspace_id=queue.workspace_id, agent_session_id=queue.agent_session_id, after_version=0
        )
        rows = sorted(read["messages"], key=lambda row: row["sequence"])
        return [greenroom_client.text_of(row) for row in rows if row["role"] == "user"]

    async def settled(self, number: int) -> list[str]:
        """The outcomes once so many turns are settled, the oldest first."""
        queue = self.queue
        while True:
            turns = await queue.client.turn_list(
                workspace_id=queue.workspace_id, agent_session_id=queue.agent_session_id
            )
            outcomes = [turn["outcome"] for turn in turns["items"] if turn["phase"] == "settled"]
            if len(outcomes) >= number:
                return outcomes[::-1]
            await anyio.lowlevel.checkpoint()


@asynccontextmanager
async def stage(
    client: Client, workspace: str, *restored: QueuedPrompt, session: str = ""
) -> AsyncIterator[Stage]:
    if not session:
        created = await client.session_create(
            workspace_id=workspace, agent_target_id="demo", client_submit_id=greenroom_client.new_submit_id()
        )
        session = created["session"]["agentSessionId"]
    queue = PromptQueue(client, workspace, session)
    one = Stage(queue)
    queue.on_change = one.tell
    queue.restore(restored)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(queue.run)
        yield one
        tasks.cancel_scope.cancel()


@on_both_loops
async def test_prompts_run_in_their_order_each_after_the_one_before(daemon: Daemon, workspace: str):
    async with connect_to_daemon(daemon.data_dir) as client, stage(client, workspace) as one:
        texts = [f"[[say {number}]]" for number in range(3)]
        for text in texts:
            one.queue.add(text)
        assert await one.settled(3) == ["completed"] * 3
        assert await one.prompts() == texts
        await one.until(lambda queue: not queue.waiting)


@pytest.mark.case("FC-22")
@on_both_loops
async def test_a_stop_starts_nothing_and_keeps_what_waits(daemon: Daemon, workspace: str):
    async with connect_to_daemon(daemon.data_dir) as client, stage(client, workspace) as one:
        queue = one.queue
        queue.add("[[hang]]")
        second, third = queue.add("[[say second]]"), queue.add("[[say third]]")
        await one.until(lambda queue: len(queue.waiting) == 2)
        (running,) = (
            await client.turn_list(workspace_id=workspace, agent_session_id=queue.agent_session_id)
        )["items"]
        await client.turn_cancel(
            workspace_id=workspace, agent_session_id=queue.agent_session_id, turn_id=running["turnId"]
        )
        await one.until(lambda queue: queue.halted is not None)
        assert queue.halted == "canceled"
        assert queue.waiting == (second, third)
        assert await one.prompts() == ["[[hang]]"]
        assert queue.remove(second.submit_id)
        assert not queue.remove(second.submit_id)
        queue.resume()
        assert await one.settled(2) == ["canceled", "completed"]
        assert await one.prompts() == ["[[hang]]", "[[say third]]"]


@pytest.mark.case("FC-22")
@on_both_loops
async def test_a_queue_survives_the_daemon(make_daemon: MakeDaemon):
    daemon = make_daemon()
    async with connect_to_daemon(daemon.data_dir) as client, stage(client, "w") as one:
        one.queue.add("[[hang]]")
        waits = one.queue.add("[[say after]]")
        await one.until(lambda queue: queue.waiting == (waits,))
        await anyio.to_thread.run_sync(daemon.kill)
        await anyio.to_thread.run_sync(daemon.start)
        await one.until(lambda queue: queue.halted is not None)
        assert (one.queue.halted, one.queue.waiting) == ("interrupted", (waits,))
        one.queue.resume()
        assert await one.settled(2) == ["interrupted", "completed"]


@pytest.mark.case("FC-22")
@on_both_loops
async def test_a_prompt_handed_in_again_after_the_programs_restart_runs_once(daemon: Daemon, workspace: str):
    kept = QueuedPrompt(prompt("[[say once]]"))
    async with connect_to_daemon(daemon.data_dir) as client:
        async with stage(client, workspace, kept) as one:
            await one.settled(1)
            session = one.queue.agent_session_id
        # What the program had stored still holds it: it ended before it could store anything else.
        async with stage(
            client, workspace, kept, QueuedPrompt(prompt("[[say next]]")), session=session
        ) as one:
            assert await one.settled(2) == ["completed", "completed"]
            assert await one.prompts() == ["[[say once]]", "[[say next]]"]


@on_both_loops
async def test_a_turn_that_somebody_else_began_is_waited_for(daemon: Daemon, workspace: str):
    async with connect_to_daemon(daemon.data_dir) as client:
        created = await client.session_create(
            workspace_id=workspace,
            agent_target_id="demo",
            client_submit_id="one",
            initial_content=prompt("[[sleep 200]] [[say theirs]]"),
        )
        session = created["session"]["agentSessionId"]
        async with stage(client, workspace, QueuedPrompt(prompt("[[say ours]]")), session=session) as one:
            assert await one.settled(2) == ["completed", "completed"]
            assert await one.prompts() == ["[[sleep 200]] [[say theirs]]", "[[say ours]]"]


@pytest.mark.case("FC-56")
@on_both_loops
async def test_a_session_that_takes_no_prompt_halts_its_own_queue_alone(daemon: Daemon, workspace: str):
    async with connect_to_daemon(daemon.data_dir) as client:
        async with stage(client, workspace) as here, stage(client, workspace) as there:
            too_large = here.queue.add([])
            there.queue.add("[[say there]]")
            await here.until(lambda queue: queue.halted is not None)
            assert here.queue.halted == "request.invalid"
            assert here.queue.waiting == (too_large,)
            assert await there.settled(1) == ["completed"]
            assert await here.prompts() == []


@pytest.mark.parametrize(("outcome", "halted"), [("completed", None), ("failed", "failed")])
def test_a_turn_whose_end_comes_together_with_its_reply_is_over(outcome: str, halted: str | None):
    asked = []

    async def quick(line: Line) -> None:
        await line.welcome()
        await line.subscribed(0)
        await line.reply(
            await line.expect("session/get"),
            {"turns": [], "activeTurn": None, "interactions": [], "commitSeq": 0},
        )
        for number in (1, 2):
            request = await line.expect("session/send")
            asked.append(request["params"]["content"][0]["text"])
            row = {"workspaceId": "w", "agentSessionId": "s", "turnId": f"t{number}", "outcome": outcome}
            reply = {"turn": {**row, "phase": "submitted"}, "commitSeq": number}
            change = {"type": "turn", "row": {**row, "phase": "settled"}}
            # Both in one piece: whichever task runs first, both have come.
            frames = [
                {"jsonrpc": "2.0", "id": request["id"], "result": reply},
                event_frame("commit", commitSeq=number, changes=[change]),
            ]
            await line.bytes(b"".join(line.protocol.send(TextMessage(json.dumps(frame))) for frame in frames))
        await line.wait_for_end()

    async def body() -> None:
        async with odd_daemon(quick) as daemon, connect(daemon.url, token="t", options=SOON) as client:
            async with stage(client, "w", session="s") as one:
                one.queue.restore([QueuedPrompt(prompt("one")), QueuedPrompt(prompt("two"))])
                with anyio.fail_after(10):
                    await one.until(lambda queue: not queue.waiting or queue.halted is not None)
                assert one.queue.halted == halted

    for backend in ("asyncio", "trio"):
        asked.clear()
        anyio.run(body, backend=backend)
        assert asked == (["one", "two"] if halted is None else ["one"])


def event_frame(kind: str, **members: object) -> dict:
    params = {"subscriptionId": 1, "topic": "agent.activity.updated", "type": kind, **members}
    return {"jsonrpc": "2.0", "method": "event", "params": params}


def test_a_queue_is_bounded():
    queue = PromptQueue(None, "w", "s")  # type: ignore[arg-type]
    queue.restore(QueuedPrompt(prompt(str(number))) for number in range(100))
    with pytest.raises(QueueFull):
        queue.add("one more")
    assert len(queue.waiting) == 100
