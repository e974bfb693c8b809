"""The direct pipe: demo agents over their own pipes, no server between. What is left of a figure after this is ours."""

import json
import subprocess

import trio

from bench.stamps import Figures, Stamps, prompt
from runtime.providers.demo import demo_command

CHUNK_END = b'"stopReason"'


async def run(sessions: int, chunks: int, size: int, delay_ms: int) -> Figures:
    """Stream `chunks` from each of `sessions` agents at once."""
    stamps = Stamps()
    agents: list[trio.Process] = []
    async with trio.open_nursery() as nursery:
        agents.extend([await _start() for _ in range(sessions)])
        opened = [await _open(agent) for agent in agents]
        begun = trio.current_time()
        async with trio.open_nursery() as turns:
            for agent, session_id in zip(agents, opened, strict=True):
                turns.start_soon(_turn, agent, session_id, prompt(chunks, size, delay_ms), stamps)
        seconds = trio.current_time() - begun
        for agent in agents:
            agent.kill()
            await agent.wait()
        nursery.cancel_scope.cancel()
    return Figures(
        "direct",
        sessions,
        sessions * chunks,
        len(stamps.latencies_ns),
        seconds,
        None,
        stamps.quantile_ms(0.5),
        stamps.quantile_ms(0.99),
        stamps.reads,
    )


async def _start() -> trio.Process:
    pipe = subprocess.PIPE
    return await trio.lowlevel.open_process(
        demo_command(), stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL
    )


async def _open(agent: trio.Process) -> str:
    await _send(agent, 1, "initialize", {"protocolVersion": 1, "clientCapabilities": {}})
    await _until(agent, b'"id":1')
    await _send(agent, 2, "session/new", {"cwd": "/", "mcpServers": []})
    answer = await _until(agent, b'"id":2')
    line = next(line for line in answer.splitlines() if b'"id":2' in line)
    return json.loads(line)["result"]["sessionId"]


async def _turn(agent: trio.Process, session_id: str, text: str, stamps: Stamps) -> None:
    await _send(
        agent, 3, "session/prompt", {"sessionId": session_id, "prompt": [{"type": "text", "text": text}]}
    )
    tail = b""
    while CHUNK_END not in tail:
        data = bytes(await agent.stdout.receive_some(65536))
        if not data:
            raise RuntimeError("the agent ended")
        stamps.feed(data)
        tail = tail[-64:] + data


async def _send(agent: trio.Process, request_id: int, method: str, params: dict[str, object]) -> None:
    frame = {"jsonrpc": "2.0", "id": request_id, "method": method, "params": params}
    await agent.stdin.send_all(json.dumps(frame).encode() + b"\n")


async def _until(agent: trio.Process, mark: bytes) -> bytes:
    data = b""
    while mark not in data.replace(b" ", b"") or not data.endswith(b"\n"):
        received = bytes(await agent.stdout.receive_some(65536))
        if not received:
            raise RuntimeError("the agent ended")
        data += received
    return data.replace(b'": ', b'":')
