"""A peer on the same work: sandbox-agent, a relay in Rust that keeps everything in memory, with the demo agent behind it.

Owns its daemon, and just enough HTTP to create sessions, follow their event streams and send prompts. Nothing of the
streams is parsed: stamps are looked for in the bytes, as on the other sides.
"""

import itertools
import json
import os
import platform
import shlex
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import h11
import trio

from bench.hosted import cpu_seconds
from bench.stamps import Figures, Stamps, prompt
from runtime.providers.demo import demo_command
from tools.files import ROOT
from tools.npm_packages import install_packages

SOURCE = ROOT / "bench" / "peers"
INSTALLED = ROOT / ".cache" / "bench_peers"
END_OF_TURN = b'"stopReason"'
_MACHINES = {"x86_64": "x64", "aarch64": "arm64"}
_numbers = itertools.count(1)


def program() -> Path:
    """Its native program; installed by `install`."""
    machine = _MACHINES.get(platform.machine(), platform.machine())
    folder = INSTALLED / "node_modules" / "@sandbox-agent" / f"cli-{platform.system().lower()}-{machine}"
    return folder / "bin" / "sandbox-agent"


def install() -> None:
    """Once for each content of the lock; npm does not set the bit that lets it be run."""
    install_packages(SOURCE, INSTALLED, "the peer is an npm package")
    program().chmod(0o755)


@contextmanager
def daemon() -> Iterator[tuple[int, subprocess.Popen[bytes]]]:
    """A daemon of its own on a free port; ended by its pid, and its agents with it."""
    folder = Path(tempfile.mkdtemp(prefix="greenroom-bench-peer-"))
    agents = folder / "sandbox-agent" / "bin"
    (agents / "agent_processes").mkdir(parents=True)
    _executable(agents / "agent_processes" / "mock-acp", f"exec {shlex.join(demo_command())}")
    _executable(agents / "mock", "exit 0")
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    environment = {"PATH": os.environ["PATH"], "HOME": str(folder), "XDG_DATA_HOME": str(folder)}
    process = subprocess.Popen(
        [str(program()), "server", "--no-token", "--no-telemetry", "--port", str(port)],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env={**environment, "RUST_LOG": "error"},
    )
    try:
        yield port, process
    finally:
        process.terminate()
        process.wait(20)
        shutil.rmtree(folder, ignore_errors=True)


async def run(sessions: int, chunks: int, size: int, delay_ms: int, readers: int = 1) -> Figures:
    """Stream `chunks` in each of `sessions` sessions at once, each followed by `readers` event streams."""
    with daemon() as (port, process):
        await _until_up(port)
        made = [await _create(port) for _ in range(sessions)]
        stamps = [Stamps() for _ in range(readers)]
        async with trio.open_nursery() as nursery:
            streams = [[await _follow(port, server) for server, _ in made] for _ in range(readers)]
            begun, cpu_before = trio.current_time(), cpu_seconds(process.pid)
            async with trio.open_nursery() as reading:
                for reader, followed in zip(stamps, streams, strict=True):
                    for stream in followed:
                        reading.start_soon(_read_turn, stream, reader)
                for server, session in made:
                    nursery.start_soon(_prompt, port, server, session, prompt(chunks, size, delay_ms))
            seconds, cpu = trio.current_time() - begun, cpu_seconds(process.pid) - cpu_before
            nursery.cancel_scope.cancel()
        together = Stamps.together(stamps)
        return Figures(
            "sandbox-agent",
            sessions,
            sessions * chunks,
            len(together.latencies_ns),
            seconds,
            cpu,
            together.quantile_ms(0.5),
            together.quantile_ms(0.99),
            together.reads,
        )


async def _until_up(port: int) -> None:
    with trio.fail_after(20):
        while True:
            try:
                await _exchange(port, "GET", "/v1/health")
            except OSError:
                await trio.sleep(0.02)
            else:
                return


async def _create(port: int) -> tuple[str, str]:
    """The names of an agent process and of the session in it."""
    server = f"s{next(_numbers)}"
    hello = {"protocolVersion": 1, "clientCapabilities": {}}
    await _call(port, f"{server}?agent=mock", "initialize", hello)
    made = await _call(port, server, "session/new", {"cwd": "/", "mcpServers": []})
    return server, str(made["sessionId"])


async def _prompt(port: int, server: str, session: str, text: str) -> None:
    content = [{"type": "text", "text": text}]
    await _call(port, server, "session/prompt", {"sessionId": session, "prompt": content})


async def _call(port: int, path: str, method: str, params: dict[str, object]) -> dict[str, object]:
    frame = {"jsonrpc": "2.0", "id": next(_numbers), "method": method, "params": params}
    answer = json.loads(await _exchange(port, "POST", f"/v1/acp/{path}", json.dumps(frame).encode()))
    if "result" not in answer:
        raise RuntimeError(f"{method}: {answer}")
    return answer["result"]


async def _exchange(port: int, method: str, target: str, body: bytes = b"") -> bytes:
    """One request on a connection of its own."""
    stream = await trio.open_tcp_stream("127.0.0.1", port)
    connection = h11.Connection(h11.CLIENT)
    head = [("host", "127.0.0.1"), ("content-type", "application/json"), ("content-length", str(len(body)))]
    await stream.send_all(
        connection.send(h11.Request(method=method, target=target, headers=head))
        + connection.send(h11.Data(data=body))
        + connection.send(h11.EndOfMessage())
    )
    received = b""
    async with stream:
        while True:
            event = connection.next_event()
            if event is h11.NEED_DATA:
                connection.receive_data(await stream.receive_some(65536))
            elif isinstance(event, h11.Data):
                received += event.data
            elif isinstance(event, h11.EndOfMessage):
                return received


async def _follow(port: int, server: str) -> trio.SocketStream:
    """The event stream of one agent process, from here on."""
    stream = await trio.open_tcp_stream("127.0.0.1", port)
    head = f"GET /v1/acp/{server} HTTP/1.1\r\nhost: 127.0.0.1\r\naccept: text/event-stream\r\n\r\n"
    await stream.send_all(head.encode())
    received = b""
    while b"\r\n\r\n" not in received:
        received += await stream.receive_some(65536)
    if b" 200 " not in received.splitlines()[0]:
        raise RuntimeError(f"no event stream: {received[:200]!r}")
    return stream


async def _read_turn(stream: trio.SocketStream, stamps: Stamps) -> None:
    """Each stamp once, also where a read cut it in two."""
    data = b""
    while END_OF_TURN not in data:
        received = bytes(await stream.receive_some(262144))
        if not received:
            raise RuntimeError("the event stream ended")
        data = stamps.cut(data) + received
        stamps.feed(data)


def _executable(path: Path, line: str) -> None:
    path.write_text(f"#!/bin/sh\n{line}\n")
    path.chmod(0o755)
