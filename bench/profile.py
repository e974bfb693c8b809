"""`make profile`: where the daemon's time goes while sessions stream, as folded stacks (`stack;stack count` lines).

Samples the daemon from outside with py-spy, only while its interpreter runs. The ten places with the most samples of
their own are printed; the file reads in any flame graph viewer.
"""

import argparse
import subprocess
import sys
import threading
import time
from collections import Counter
from contextlib import contextmanager
from pathlib import Path

import trio

from bench import hosted

HEAD_SECONDS = 2.0
"""From the daemon's start: sessions are made and have their first turns."""


def main() -> None:
    """Stream for a while, sample meanwhile, write and print."""
    parser = argparse.ArgumentParser(prog="make profile", description=__doc__)
    parser.add_argument("--sessions", type=int, default=10)
    parser.add_argument("--seconds", type=int, default=10)
    parser.add_argument("--delay", type=int, default=5, help="milliseconds between chunks")
    parser.add_argument("--output", default="profile.txt")
    options = parser.parse_args()
    sampler = Sampler(options.seconds, options.output)
    plain = hosted.daemon

    @contextmanager
    def sampled():
        with plain() as (ready, process):
            sampler.begin(process.pid)
            yield ready, process
            sampler.wait()

    hosted.daemon = sampled
    chunks = int((options.seconds + 2 * HEAD_SECONDS) * 1000 / options.delay)
    figures = trio.run(hosted.run, options.sessions, chunks, 64, options.delay)
    print(f"{figures.chunks} chunks, {figures.cpu_per_thousand:.3f} s of CPU for 1,000 (sampling included)")
    own = Counter[str]()
    for line in Path(options.output).read_text().splitlines():
        stack, _, count = line.rpartition(" ")
        own[stack.rpartition(";")[2]] += int(count)
    for place, count in own.most_common(10):
        print(f"{100 * count / own.total():5.1f} %  {place}")


class Sampler:
    """py-spy on one process, begun a moment after it."""

    def __init__(self, seconds: int, output: str) -> None:
        self._seconds = seconds
        self._output = output
        self._thread: threading.Thread | None = None

    def begin(self, pid: int) -> None:
        """Sample in the background."""
        self._thread = threading.Thread(target=self._sample, args=(pid,))
        self._thread.start()

    def wait(self) -> None:
        """Until the file is written."""
        if self._thread is not None:
            self._thread.join()

    def _sample(self, pid: int) -> None:
        time.sleep(HEAD_SECONDS)
        program = str(Path(sys.executable).with_name("py-spy"))
        options = ["--gil", "--rate", "500", "--duration", str(self._seconds), "--format", "raw"]
        command = [program, "record", *options, "--pid", str(pid), "--output", self._output]
        subprocess.run(command, check=True, capture_output=True)


if __name__ == "__main__":
    main()
