"""The same streams through Greenroom: a real daemon, one client over its socket, durability switched on."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import trio
from wsproto import ConnectionType, WSConnection
from wsproto.events import AcceptConnection, Request, TextMessage

from bench.stamps import Figures, Stamps, prompt

SETTLED = b'"phase":"settled"'
CLOCK_TICKS = os.sysconf("SC_CLK_TCK")


@contextmanager
def daemon(
    configuration: str = "", kept: Path | None = None
) -> Iterator[tuple[dict[str, object], subprocess.Popen[bytes]]]:
    """A daemon of its own with a scratch data directory, or on the folder `kept`, which stays; ended by its pid."""
    folder = kept or Path(tempfile.mkdtemp(prefix="greenroom-bench-"))
    (folder / "config.toml").write_text(configuration)
    command = [sys.executable, "-m", "runtime.cli", "serve", "--data-dir", str(folder / "data")]
    command += ["--config", str(folder / "config.toml")]
    environment = {**os.environ, "HOME": str(folder)}
    process = subprocess.Popen(
        [*command, "--listen", "127.0.0.1:0"],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=environment,
    )
    try:
        assert process.stdout is not None
        yield json.loads(process.stdout.readline()), process
    finally:
        process.terminate()
        process.wait(60)
        if kept is None:
            shutil.rmtree(folder, ignore_errors=True)


class RawClient:
    """Sends by wsproto, receives raw bytes: parsing on this side would be measured with the daemon's."""

    def __init__(self, stream: trio.SocketStream, connection: WSConnection) -> None:
        self._stream = stream
        self._connection = connection
        self._requests = 0

    async def call(self, method: str, params: dict[str, object]) -> int:
        """Send one request."""
        self._requests += 1
        frame = {"jsonrpc": "2.0", "id": self._requests, "method": method, "params": params}
        await self._stream.send_all(self._connection.send(TextMessage(json.dumps(frame))))
        return self._requests

    async def receive(self) -> bytes:
        """Whatever came."""
        data = bytes(await self._stream.receive_some(262144))
        if not data:
            raise RuntimeError("the daemon closed the connection")
        return data


async def connect(ready: dict[str, object]) -> RawClient:
    """Open, authenticate, initialize and subscribe."""
    host, port = str(ready["url"]).removeprefix("ws://").split("/")[0].split(":")
    token = Path(str(ready["tokenFile"])).read_text().strip()
    stream = await trio.open_tcp_stream(host, int(port))
    connection = WSConnection(ConnectionType.CLIENT)
    head = Request(
        host=f"{host}:{port}",
        target="/v1/ws",
        subprotocols=["greenroom.v1"],
        extra_headers=[(b"authorization", f"Bearer {token}".encode())],
    )
    await stream.send_all(connection.send(head))
    connection.receive_data(await stream.receive_some(65536))
    assert any(isinstance(event, AcceptConnection) for event in connection.events())
    client = RawClient(stream, connection)
    await client.call("initialize", {"protocolVersion": 1, "clientInfo": {"name": "bench"}})
    await client.call("events/subscribe", {"workspaceId": "bench", "topics": ["agent.activity.updated"]})
    return client


async def run(sessions: int, chunks: int, size: int, delay_ms: int, readers: int = 1) -> Figures:
    """Stream `chunks` in each of `sessions` sessions at once to `readers` clients; each has had one small turn before."""
    with daemon() as (ready, process):
        client = await connect(ready)
        others = [await connect(ready) for _ in range(readers - 1)]
        for number in range(sessions):
            await client.call(
                "session/create",
                {
                    "workspaceId": "bench",
                    "agentTargetId": "demo",
                    "agentSessionId": f"s{number}",
                    "clientSubmitId": f"create{number}",
                    "initialContent": [{"type": "text", "text": "[[say hi]]"}],
                },
            )
        for reader in (client, *others):
            await _settle(reader, sessions, Stamps())
        cpu_before, begun = cpu_seconds(process.pid), trio.current_time()
        for number in range(sessions):
            await client.call(
                "session/send",
                {
                    "workspaceId": "bench",
                    "agentSessionId": f"s{number}",
                    "clientSubmitId": f"send{number}",
                    "content": [{"type": "text", "text": prompt(chunks, size, delay_ms)}],
                },
            )
        seen = [Stamps() for _ in range(readers)]
        deltas: list[int] = []

        async def follow(reader: RawClient, stamps: Stamps) -> None:
            deltas.append(await _settle(reader, sessions, stamps))

        async with trio.open_nursery() as nursery:
            for reader, stamps in zip((client, *others), seen, strict=True):
                nursery.start_soon(follow, reader, stamps)
        together = Stamps.together(seen)
        return Figures(
            "greenroom",
            sessions,
            sessions * chunks,
            len(together.latencies_ns),
            trio.current_time() - begun,
            cpu_seconds(process.pid) - cpu_before,
            together.quantile_ms(0.5),
            together.quantile_ms(0.99),
            sum(deltas),
        )


async def _settle(client: RawClient, sessions: int, stamps: Stamps) -> int:
    """Read until every session's turn has settled; gives the number of deltas."""
    settled = deltas = 0
    kept = b""
    while settled < sessions:
        data = kept + await client.receive()
        # Only whole frames are looked at: each ends with `}}` before the next frame's header.
        cut = data.rfind(b"}}") + 2
        data, kept = data[:cut], data[cut:]
        deltas += data.count(b'"type":"message_delta"')
        settled += data.count(SETTLED)
        stamps.feed(_deltas_only(data))
    return deltas


def _deltas_only(data: bytes) -> bytes:
    """The final rows repeat the text: a stamp counts only where it travelled as a delta."""
    return b"".join(part for part in data.split(b'{"jsonrpc"') if b'"message_delta"' in part)


def cpu_seconds(pid: int) -> float:
    """User and system time of one process."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / CLOCK_TICKS
