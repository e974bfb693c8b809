"""Stands between a client and an agent and keeps every frame either of them sends, as JSON lines.

`python frame_recorder.py FILE PROGRAM [ARGUMENT...]` passes stdin to the program and its output on, untouched, and
appends `{"dir": "out" | "in", "t": seconds, "msg": {...}}` for each whole line: the form of tests/histories/acp.
A program of its own and of the standard library alone, since it is what the daemon starts as its agent.
"""

import json
import os
import select
import subprocess
import sys
import time

PIECE_BYTES = 65536


def main(file: str, *command: str) -> int:
    """Record until the agent ends; its exit code."""
    started = time.monotonic()
    agent = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert agent.stdin is not None
    assert agent.stdout is not None
    ways = {
        sys.stdin.fileno(): (agent.stdin.fileno(), "out"),
        agent.stdout.fileno(): (sys.stdout.fileno(), "in"),
    }
    begun = dict.fromkeys(ways, b"")
    with open(file, "ab", buffering=0) as record:
        while agent.stdout.fileno() in ways:
            for source in select.select(list(ways), [], [])[0]:
                target, direction = ways[source]
                piece = os.read(source, PIECE_BYTES)
                if not piece:
                    del ways[source]
                    os.close(target)
                    continue
                *lines, begun[source] = (begun[source] + piece).split(b"\n")
                for line in lines:
                    entry = {
                        "dir": direction,
                        "t": round(time.monotonic() - started, 3),
                        "msg": _message(line),
                    }
                    record.write(json.dumps(entry, ensure_ascii=False).encode() + b"\n")
                _write_all(target, piece)
    return agent.wait()


def _message(line: bytes) -> object:
    try:
        return json.loads(line)
    except ValueError:
        return line.decode(errors="replace")  # no frame: kept as the text it is


def _write_all(target: int, data: bytes) -> None:
    while data:
        data = data[os.write(target, data) :]


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
