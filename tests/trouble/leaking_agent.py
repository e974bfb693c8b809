"""An agent that lets out what it is told to, on every way an error has: `python -I -S leaking_agent.py WORDS.json START`.

`START` is where it fails at once; anything else starts, and a prompt says where it then fails. Standard library only.
"""

import json
import os
import sys
from pathlib import Path

WORDS = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
START = sys.argv[2]
ALL = "\n".join(WORDS)
ERROR = {"code": -32603, "message": ALL, "data": {"details": ALL, "error": {"message": ALL}}}


def write(**frame: object) -> None:
    os.write(1, json.dumps({"jsonrpc": "2.0", **frame}).encode() + b"\n")


def let_out() -> None:
    """Beside the protocol: lines that are none, frames that nobody knows, and the other stream."""
    for words in WORDS:
        os.write(2, words.encode() + b"\n")
        os.write(1, words.replace("\n", " ").encode() + b"\n")
    write(method=f"{WORDS[0]}/{ALL}"[:200], params={"why": ALL})
    write(id=ALL[:60], result={"why": ALL})
    write(id=9, error=ERROR)


def prompt(request_id: object, way: str) -> None:
    let_out()
    if way == "stop":
        write(id=request_id, result={"stopReason": ALL})
    elif way == "die":
        os._exit(3)
    elif way == "ask":
        write(id=77, method="session/request_permission", params={"sessionId": "s", "options": ALL})
        write(id=request_id, result={"stopReason": "end_turn"})
    else:
        write(id=request_id, error=ERROR)


def main() -> None:
    for line in sys.stdin:
        frame = json.loads(line)
        method, request_id = frame.get("method"), frame.get("id")
        if method == START:
            let_out()
            if request_id is not None:
                write(id=request_id, error=ERROR)
            os._exit(1)
        if method == "initialize":
            write(id=request_id, result={"protocolVersion": 1, "agentCapabilities": {"loadSession": True}})
        elif method == "session/new":
            write(id=request_id, result={"sessionId": "s"})
        elif method == "session/prompt":
            prompt(request_id, frame["params"]["prompt"][0]["text"])


main()
