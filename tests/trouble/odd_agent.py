"""An agent with one fault that no directive of the demo agent has: `python -I -S odd_agent.py FAULT`. Standard library only."""

import json
import os
import sys
import time

FAULT = sys.argv[1]


def write(frame: dict[str, object], end: bytes = b"\n", length: int | None = None) -> None:
    data = json.dumps({"jsonrpc": "2.0", **frame}).encode() + end
    os.write(1, data[:length])


def say(text: str) -> None:
    update = {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": text}}
    write({"method": "session/update", "params": {"sessionId": "odd", "update": update}})


def initialize(request_id: object) -> None:
    match FAULT:
        case "floods before it shakes hands":
            for _ in range(2000):
                os.write(1, b"noise\n")
        case "wrong version":
            write({"id": request_id, "result": {"protocolVersion": 7}})
        case "refuses to shake hands":
            write({"id": request_id, "error": {"code": -32603, "message": "no"}})
        case "shakes hands with nothing":
            write({"id": request_id, "result": None})
        case _:
            write(
                {
                    "id": request_id,
                    "result": {"protocolVersion": 1, "agentCapabilities": {"loadSession": True}},
                }
            )


def new_session(request_id: object) -> None:
    match FAULT:
        case "opens nothing":
            return
        case "ends when asked to open":
            os._exit(3)
        case "opens without a name":
            write({"id": request_id, "result": {}})
        case _:
            write({"id": request_id, "result": {"sessionId": "odd"}})


def prompt(request_id: object) -> None:
    answer = {"id": request_id, "result": {"stopReason": "end_turn"}}
    say("whole")
    match FAULT:
        case "ends without a newline":
            write(answer, end=b"")
            os._exit(0)
        case "ends in the middle of a frame":
            write(answer, length=20)
            os._exit(0)
        case "closes its output":
            os.close(1)
            time.sleep(600)
        case "gives no reason":
            write({"id": request_id, "result": {}})
        case "gives an odd reason":
            write({"id": request_id, "result": {"stopReason": {"why": 1}}})
        case "answers with nothing":
            write({"id": request_id, "result": None})
        case "fails without words":
            write({"id": request_id, "error": None, "result": {}})
        case "fails oddly":
            write({"id": request_id, "error": "odd"})
        case _:
            write(answer)


HANDLERS = {
    "initialize": initialize,
    "session/new": new_session,
    "session/load": new_session,
    "session/prompt": prompt,
}

for line in sys.stdin:
    message = json.loads(line)
    if message.get("method") in HANDLERS:
        HANDLERS[message["method"]](message["id"])
