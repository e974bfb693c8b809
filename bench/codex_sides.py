"""`python -m bench.codex_sides`: what opening a Side of a running Codex turn costs beside Codex's own fork, and its memory.

Raw is `thread/fork` and `thread/inject_items` with the same members, over the app-server's own pipes while a turn of the
source waits for its model; both sides take turns. Runs only where `make test-providers` has installed Codex.
"""

import argparse
import os
import statistics
import sys
import tempfile
from pathlib import Path

import trio

from bench.codex import WORKSPACE, HostedCodex, megabytes
from bench.codex_direct import DirectCodex
from bench.hosted import connect, daemon
from bench.memory import proportional_mb
from runtime.providers.codex.side_rules import boundary_item
from runtime.providers.side_words import side_rules
from tests.doubles.model_script import hold, script
from tests.doubles.model_server import ModelServer
from tests.end_to_end.daemon import toml
from tests.providers_real.app_server.codex_server import codex_server
from tools.real_agent import INSTALLED, codex_below

WARM_UP = 3
HELD = "the source's model"


class SideSession(HostedCodex):
    """A session of the daemon whose turn goes on, and the Sides of it."""

    def __init__(self, hosted: HostedCodex, session_id: str) -> None:
        super().__init__(hosted.client)
        self._session_id = session_id
        self._sides = 0

    async def begin(self) -> None:
        """A turn that does not end."""
        await self.client.call(
            "session/send",
            {
                "workspaceId": WORKSPACE,
                "agentSessionId": self._session_id,
                "clientSubmitId": "long",
                "content": [{"type": "text", "text": script(["Working, ", hold(HELD)])}],
            },
        )
        await self._until(b'"type":"message_delta"')

    async def open_side(self) -> tuple[float, str]:
        """Seconds from the request to its reply, and the Side."""
        self._sides += 1
        name = f"side{self._sides}"
        begun = trio.current_time()
        number = await self.client.call(
            "side/open",
            {
                "workspaceId": WORKSPACE,
                "agentSessionId": self._session_id,
                "sideAgentSessionId": name,
                "surfaceId": "bench",
            },
        )
        data = await self._until(b'"id":%d,' % number)
        if b'"error"' in data:
            raise RuntimeError(f"the Side was not opened: {data[-400:]!r}")
        return trio.current_time() - begun, name

    async def close_side(self, name: str) -> None:
        """Give it back, so that each is opened beside none."""
        number = await self.client.call("side/close", {"workspaceId": WORKSPACE, "sideAgentSessionId": name})
        await self._until(b'"id":%d,' % number)


def main() -> None:
    """Print the figures of one run."""
    parser = argparse.ArgumentParser(prog="python -m bench.codex_sides", description=__doc__)
    parser.add_argument("--opens", type=int, default=40, help="of each side")
    parser.add_argument("--kept", type=int, default=20, help="Sides open at once, for their memory")
    options = parser.parse_args()
    program = codex_below(INSTALLED)
    if not program.is_file():
        sys.exit("There is no Codex to be measured: `make test-providers` installs it.")
    with tempfile.TemporaryDirectory(prefix="greenroom-sides-") as scratch, ModelServer() as model:
        home = Path(scratch) / "home"
        with daemon(toml({"targets": [codex_server(str(program), home, model)]})) as (ready, process):
            trio.run(_measure, ready, process.pid, program, home, options)
        model.release(HELD)


async def _measure(
    ready: dict[str, object], pid: int, program: Path, home: Path, options: argparse.Namespace
) -> None:
    hosted = HostedCodex(await connect(ready))
    session = SideSession(hosted, await hosted.open(script(["Begun."])))
    await session.begin()
    ours: list[float] = []
    raw: list[float] = []
    async with DirectCodex.running(program, home.parent / "raw-home", home) as direct:
        await direct.turn(script(["Begun."]))
        await direct.begin_turn(script(["Working, ", hold(HELD)]))
        for number in range(WARM_UP + options.opens):
            seconds, name = await session.open_side()
            await session.close_side(name)
            forked = await direct.fork(boundary_item(side_rules(None)))
            if number >= WARM_UP:
                ours.append(seconds)
                raw.append(forked)
    before = sum(megabytes(program, home)), proportional_mb(pid)
    for _ in range(options.kept):
        await session.open_side()
    after = sum(megabytes(program, home)), proportional_mb(pid)
    print(f"open: {_spread(ours)} ms hosted, {_spread(raw)} ms raw")
    print(f"ratio p50 {_at(ours, 0.5) / _at(raw, 0.5):.2f}, p99 {_at(ours, 0.99) / _at(raw, 0.99):.2f}")
    app_server, own = ((after[side] - before[side]) / options.kept for side in (0, 1))
    print(f"{options.kept} Sides open: {app_server:.2f} MB each in Codex, {own:.2f} MB each in the daemon")
    print(f"load {os.getloadavg()[0]:.1f}, {options.opens} opens of each side")


def _at(seconds: list[float], share: float) -> float:
    ordered = sorted(seconds)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


def _spread(seconds: list[float]) -> str:
    low, middle, high = (share * 1000 for share in statistics.quantiles(seconds, n=4))
    return f"{middle:.1f} [{low:.1f}..{high:.1f}], p99 {_at(seconds, 0.99) * 1000:.1f}"


if __name__ == "__main__":
    main()
