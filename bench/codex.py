"""`python -m bench.codex`: what Greenroom adds to a turn of the real Codex, and what sharing a process saves.

Both sides are up at once and take turns at the same scripted model, so that whatever else the machine does meets both;
figures are medians and their ratio. Runs only where `make test-providers` has installed Codex.
"""

import argparse
import os
import statistics
import sys
import tempfile
from collections.abc import Awaitable, Callable
from pathlib import Path

import attrs
import trio

from bench.codex_direct import DirectCodex
from bench.hosted import SETTLED, RawClient, connect, daemon
from bench.memory import proportional_mb
from tests.doubles.model_script import script
from tests.doubles.model_server import ModelServer
from tests.end_to_end.daemon import toml
from tests.providers_real.app_server.codex_server import codex_server
from tools.real_agent import INSTALLED, codex_below

WORKSPACE = "bench"
PIECES = 20
WARM_UP = 3


@attrs.define
class Race:
    """Seconds of the turns of one side: until the first text, and until the end."""

    first: list[float] = attrs.field(factory=list)
    whole: list[float] = attrs.field(factory=list)


@attrs.define
class HostedCodex:
    """The daemon's side: one client, its sessions."""

    client: RawClient
    sessions: int = 0
    sends: int = 0

    async def open(self, prompt: str, dedicated: bool = False) -> str:
        """A new session with one turn, which is over."""
        self.sessions += 1
        params: dict[str, object] = {
            "workspaceId": WORKSPACE,
            "agentTargetId": "codex",
            "agentSessionId": f"s{self.sessions}",
            "clientSubmitId": f"create{self.sessions}",
            "settings": {"dedicatedProcess": True} if dedicated else {},
            "initialContent": [{"type": "text", "text": prompt}],
        }
        await self.client.call("session/create", params)
        await self._until(SETTLED)
        return f"s{self.sessions}"

    async def turn(self, session_id: str, prompt: str) -> tuple[float, float]:
        """Seconds from the request to the first piece of text a client sees, and to the settled turn."""
        self.sends += 1
        begun = trio.current_time()
        params: dict[str, object] = {
            "workspaceId": WORKSPACE,
            "agentSessionId": session_id,
            "clientSubmitId": f"send{self.sends}",
            "content": [{"type": "text", "text": prompt}],
        }
        await self.client.call("session/send", params)
        data = await self._until(b'"type":"message_delta"')
        first = trio.current_time() - begun
        if SETTLED not in data:
            await self._until(SETTLED)
        return first, trio.current_time() - begun

    async def _until(self, mark: bytes) -> bytes:
        data = b""
        while mark not in data:
            data += await self.client.receive()
        return data


def main() -> None:
    """Print the figures of one run."""
    parser = argparse.ArgumentParser(prog="python -m bench.codex", description=__doc__)
    parser.add_argument("--turns", type=int, default=40, help="of each side")
    parser.add_argument("--sessions", type=int, default=16, help="on one process")
    parser.add_argument("--dedicated", type=int, default=4, help="sessions with a process each")
    options = parser.parse_args()
    program = codex_below(INSTALLED)
    if not program.is_file():
        sys.exit("There is no Codex to be measured: `make test-providers` installs it.")
    with tempfile.TemporaryDirectory(prefix="greenroom-codex-") as scratch, ModelServer() as model:
        home = Path(scratch) / "home"
        target = codex_server(str(program), home, model)
        with daemon(toml({"targets": [target]})) as (ready, _):
            trio.run(_measure, ready, program, home, options)


async def _measure(ready: dict[str, object], program: Path, home: Path, options: argparse.Namespace) -> None:
    client = HostedCodex(await connect(ready))
    raw, hosted = await _race(client, program, home, options.turns)
    for name in ("first", "whole"):
        ours, theirs = getattr(hosted, name), getattr(raw, name)
        ratio = statistics.median(ours) / statistics.median(theirs)
        what = "first text" if name == "first" else "whole turn"
        print(f"{what}: {_spread(ours)} ms hosted, {_spread(theirs)} ms raw, ratio {ratio:.2f}")
    one = megabytes(program, home)
    for _ in range(options.sessions - 1):
        await client.open(_prompt())
    shared = megabytes(program, home)
    print(
        f"{len(shared)} process with {options.sessions} sessions: {sum(shared):.0f} MB proportional, "
        f"{sum(shared) / options.sessions:.1f} MB a session (with one session {sum(one):.0f} MB)"
    )
    for _ in range(options.dedicated):
        await client.open(_prompt(), dedicated=True)
    apart = megabytes(program, home)
    extra = (sum(apart) - sum(shared)) / max(1, len(apart) - len(shared))
    print(f"{len(apart) - len(shared)} sessions with a process each: {extra:.1f} MB more for each")
    print(
        f"load {os.getloadavg()[0]:.1f}, {options.turns} turns of each side, {PIECES} pieces of text a turn"
    )


async def _race(client: HostedCodex, program: Path, home: Path, turns: int) -> tuple[Race, Race]:
    raw, hosted = Race(), Race()
    session_id = await client.open(_prompt())
    async with DirectCodex.running(program, home.parent / "raw-home", home) as direct:

        async def hosted_turn(prompt: str) -> tuple[float, float]:
            return await client.turn(session_id, prompt)

        sides: list[tuple[Race, Callable[[str], Awaitable[tuple[float, float]]]]] = [
            (raw, direct.turn),
            (hosted, hosted_turn),
        ]
        for number in range(WARM_UP + turns):
            for race, turn in sides if number % 2 else sides[::-1]:
                first, whole = await turn(_prompt())
                if number >= WARM_UP:
                    race.first.append(first)
                    race.whole.append(whole)
    return raw, hosted


def _prompt() -> str:
    return script([f"piece {number:02} " for number in range(PIECES)])


def _spread(seconds: list[float]) -> str:
    low, middle, high = (share * 1000 for share in statistics.quantiles(seconds, n=4))
    return f"{middle:.1f} [{low:.1f}..{high:.1f}]"


def megabytes(program: Path, home: Path) -> list[float]:
    """Of each app-server on this home, what it does not share with anybody and its part of what it shares."""
    mark = os.fsencode(f"CODEX_HOME={home}")
    found = []
    for folder in Path("/proc").iterdir():
        try:
            ours = folder.name.isdigit() and os.readlink(folder / "exe") == str(program.resolve())
            if ours and mark in (folder / "environ").read_bytes().split(b"\0"):
                found.append(proportional_mb(folder))
        except OSError:
            continue  # ended meanwhile, or not ours to look at
    return found


if __name__ == "__main__":
    main()
