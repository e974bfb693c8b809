"""How long the tree of a provider that resists everything outlives its daemon: from the SIGKILL to zero survivors.

Seven processes a tree: they ignore TERM, leave their session, fork twice, forget their environment, are born again. In
every second tree the reaper is killed first (R6: 50 trees, no survivor, a median of 50 ms, at most 2 s). Run it with
`make bench-trees`; --trees changes how many.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
import uuid
from pathlib import Path
from typing import Any

from tests.process_guard.support import (
    HERE,
    STUBBORN_ROLES,
    StubbornTree,
    alive,
    kill_now,
    stubborn_argv,
    stubborn_tree,
)

WAIT_SECONDS = 10.0
POLL_SECONDS = 0.001


def main() -> None:
    """Print the figures of both ways to end; exit code 1 when a process was left."""
    parser = argparse.ArgumentParser(prog="make bench-trees", description=__doc__)
    parser.add_argument("--trees", type=int, default=50)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    seconds: dict[str, list[float | None]] = {"the daemon": [], "the reaper, then the daemon": []}
    with tempfile.TemporaryDirectory(prefix="greenroom-trees-") as name:
        for number in range(options.trees):
            how = list(seconds)[number % 2]
            seconds[how].append(_seconds_to_none(Path(name) / str(number), reaper_first=number % 2 == 1))
    figures = {how: _figures(one) for how, one in seconds.items() if one}
    load = round(os.getloadavg()[0], 1)
    if options.json:
        print(json.dumps({"trees": options.trees, "load": load, "killed": figures}))
    else:
        for how, one in figures.items():
            print(
                f"killed {how}: {one['trees']} trees, {one['survived']} with survivors after {WAIT_SECONDS:g} s, "
                f"none left after {one['medianMs']} ms (median), {one['maxMs']} ms at most; load {load}"
            )
    sys.exit(any(one["survived"] for one in figures.values()))


def _figures(seconds: list[float | None]) -> dict[str, Any]:
    gone = [one * 1000 for one in seconds if one is not None]
    return {
        "trees": len(seconds),
        "survived": len(seconds) - len(gone),
        "medianMs": round(statistics.median(gone), 1) if gone else None,
        "maxMs": round(max(gone), 1) if gone else None,
    }


def _seconds_to_none(folder: Path, *, reaper_first: bool) -> float | None:
    """None when something of it survived."""
    folder.mkdir()
    with stubborn_tree(folder / "tree") as tree, _daemon(folder, tree) as daemon:
        assert daemon.stdout is not None
        facts = json.loads(daemon.stdout.readline())
        assert tree.survivors().keys() == STUBBORN_ROLES
        try:
            began = time.monotonic()
            if reaper_first:
                kill_now(facts["reaper"])
            daemon.kill()
            while tree.survivors():
                if time.monotonic() - began > WAIT_SECONDS:
                    return None
                time.sleep(POLL_SECONDS)
            seconds = time.monotonic() - began
            while (
                alive(facts["reaper"]) or alive(facts["spawner"])
            ) and time.monotonic() - began < WAIT_SECONDS:
                time.sleep(POLL_SECONDS)
            return seconds if not (alive(facts["reaper"]) or alive(facts["spawner"])) else None
        finally:
            kill_now(facts["reaper"], facts["spawner"])


def _daemon(folder: Path, tree: StubbornTree) -> "subprocess.Popen[bytes]":
    paths = [str(HERE.parents[1]), os.environ.get("PYTHONPATH", "")]
    return subprocess.Popen(
        [
            sys.executable,
            str(HERE / "guard_daemon.py"),
            str(folder / "instances"),
            uuid.uuid4().hex,
            *stubborn_argv(tree.folder),
        ],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, paths))},
    )


if __name__ == "__main__":
    main()
