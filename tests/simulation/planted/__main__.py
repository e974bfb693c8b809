"""Looks for the first seed that shows each planted bug, or those named: the figures for their `seed`."""

import sys
import time

import pytest

from tests.simulation.planted.all import PLANTED


def main() -> None:
    for name in sys.argv[1:] or PLANTED:
        bug, began = PLANTED[name], time.monotonic()
        with pytest.MonkeyPatch.context() as patch:
            bug.plant(patch)
            if bug.protocol is not None:
                found = f"{bug.protocol} {bug.shown_by_protocol()}"
            else:
                found = str(next((seed for seed in sorted(bug.seeds()) if bug.shown_by(seed)), None))
        print(f"{bug.kind:12} {name:55} {found:12} {time.monotonic() - began:6.1f} s", flush=True)


if __name__ == "__main__":
    main()
