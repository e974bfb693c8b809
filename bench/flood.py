"""What frozen clients cost under a flood: the daemon's peak memory with them, against the same flood without."""

import re
from pathlib import Path

import attrs
import trio

from bench.hosted import SETTLED, RawClient, connect, daemon

MIB = 1024 * 1024
PIECE_BYTES, PIECES, MESSAGES = 32 * 1024, 4, 1600
"""200 MiB of text; on the wire twice that, since the row that ends a message repeats it."""
PROMPT = f"[[stream {PIECES} size={PIECE_BYTES} batch=4]] [[tool next output=ok]] " * MESSAGES
PATIENT = "[limits]\nclientSendDeadlineSeconds = 600\npingSeconds = 600\n"


@attrs.frozen
class FloodFigures:
    """Of one flood: how long, how much reached who reads, and what it took."""

    frozen: int
    seconds: float
    received_mib: float
    peak_mib: float
    """The most memory the daemon had since it started."""


async def run(frozen: int) -> list[FloodFigures]:
    """The flood with nobody frozen, then again in the same daemon with `frozen` clients that take nothing."""
    with daemon(PATIENT) as (ready, process):
        reader = await connect(ready)
        figures = [await _flood(reader, "alone", 0, process.pid)]
        held = [await connect(ready) for _ in range(frozen)]
        figures.append(await _flood(reader, "beside", len(held), process.pid))
        return figures


async def _flood(reader: RawClient, name: str, frozen: int, pid: int) -> FloodFigures:
    begun, received, kept = trio.current_time(), 0, b""
    await reader.call(
        "session/create",
        {
            "workspaceId": "bench",
            "agentTargetId": "demo",
            "agentSessionId": name,
            "clientSubmitId": name,
            "initialContent": [{"type": "text", "text": PROMPT}],
        },
    )
    settled = False
    while not settled:
        data = await reader.receive()
        received += len(data)
        settled = SETTLED in kept + data
        kept = data[-len(SETTLED) :]
    return FloodFigures(frozen, trio.current_time() - begun, received / MIB, _peak_mib(pid))


def _peak_mib(pid: int) -> float:
    found = re.search(r"VmHWM:\s+(\d+) kB", Path(f"/proc/{pid}/status").read_text())
    assert found is not None
    return int(found[1]) / 1024
