"""A Codex app-server in miniature that can be guided: `python -I -S guided_agent.py`. Standard library only.

What it does with a prompt, or with guidance, is the first word of it; each line it is told is kept in the file that
`GUIDED_LOG` names. It runs a turn until it is stopped, or guided with `end`; a prompt `mute` is done at once and never
said to be, which only its record shows; with `perish` it dies in the turn, of which its record has more than it said.
The record outlives its process. While the file `GUIDED_LOG` + `.gone` exists its conversations are gone.
"""

import json
import os
import sys
from pathlib import Path

TARGET = "guided"
THREAD = "guided-thread"
SETTINGS = {
    "model": "none",
    "approvalPolicy": "on-request",
    "approvalsReviewer": "user",
    "sandbox": {"type": "workspaceWrite"},
    "reasoningEffort": None,
}
turns = 0
running = ""


def guided_target(folder: Path) -> dict[str, object]:
    """The `[[targets]]` entry of this agent; what it is told is kept in `told.jsonl`."""
    return {
        "id": TARGET,
        "provider": "codex",
        "command": [sys.executable, "-I", "-S", __file__, "app-server"],
        "env": {"GUIDED_LOG": str(folder / "told.jsonl")},
    }


def write(**frame: object) -> None:
    os.write(1, json.dumps(frame).encode() + b"\n")


def tell(method: str, **params: object) -> None:
    write(method=method, params={"threadId": THREAD, **params})


def refuse(request: object, message: str) -> None:
    write(error={"code": -32600, "message": message}, id=request)


def item(kind: str, item_id: str, **members: object) -> None:
    for phase in ("started", "completed"):
        tell(f"item/{phase}", turnId=running, item={"type": kind, "id": item_id, **members})


def end(status: str) -> None:
    global running
    ended, running = running, ""
    tell("turn/completed", turn={"id": ended, "status": status, "items": []})


def record(*turns: object) -> list[str]:
    """The record with these turns added, the newest first."""
    with open(os.environ["GUIDED_LOG"] + ".record", "a+", encoding="utf-8") as kept:
        kept.writelines(json.dumps(turn) + "\n" for turn in turns)
        kept.seek(0)
        return kept.readlines()[::-1]


def begin(said: str) -> None:
    global running
    word = said.split()[0]
    if word in ("mute", "perish"):
        items = [{"type": "agentMessage", "id": name, "text": name} for name in ("begun", "done")]
        status = "completed" if word == "mute" else "interrupted"
        record({"id": running, "status": status, "items": items})
        running = ""
    if word == "perish":
        os._exit(9)


def steer(request: object, params: dict[str, object], said: str) -> None:
    word = said.split()[0]
    match word:
        case "silence":
            return
        case "die":
            os._exit(9)
        case "mismatch":
            refuse(request, f"expected active turn id `{running}` but found `another`")
        case "reject":
            refuse(request, "this turn cannot be steered")
        case _ if params["expectedTurnId"] != running:
            refuse(request, "no active turn to steer")
        case _:
            write(id=request, result={"turnId": running})
            name = params["clientUserMessageId"]
            item("userMessage", f"user-{request}", clientId=name, content=[{"type": "text", "text": said}])
            item("agentMessage", f"agent-{request}", text=f"heard {said}")
            if word == "end":
                end("completed")


def answer(request: object, method: str, params: dict[str, object]) -> None:
    global turns, running
    match method:
        case "initialize":
            write(id=request, result={"userAgent": "greenroom/0.171.0 (guided)", "codexHome": "/"})
        case "thread/resume" if os.path.exists(os.environ["GUIDED_LOG"] + ".gone"):
            refuse(request, f"no rollout found for thread id {THREAD}")
        case "thread/turns/list":
            open_turn = [{"id": running, "status": "inProgress", "items": []}] if running else []
            write(id=request, result={"data": open_turn + [json.loads(line) for line in record()]})
        case "thread/start" | "thread/resume":
            thread = {"id": THREAD, "status": {"type": "idle"}}
            write(id=request, result={"thread": thread, "cwd": params["cwd"], **SETTINGS})
        case "turn/start":
            turns += 1
            running = f"turn-{os.getpid()}-{turns}"
            write(id=request, result={"turn": {"id": running, "status": "inProgress"}})
            tell("turn/started", turn={"id": running, "status": "inProgress", "items": []})
            item("agentMessage", "begun", text="begun")
            begin(params["input"][0]["text"])  # type: ignore[index]
        case "turn/steer":
            steer(request, params, params["input"][0]["text"])  # type: ignore[index]
        case "turn/interrupt":
            write(id=request, result={})
            end("interrupted")
        case _:
            write(id=request, result={"data": []})


def main() -> None:
    with open(os.environ["GUIDED_LOG"], "a", encoding="utf-8") as log:
        for line in sys.stdin:
            log.write(line)
            log.flush()
            frame = json.loads(line)
            if "id" in frame and "method" in frame:
                answer(frame["id"], frame["method"], frame.get("params") or {})


if __name__ == "__main__":
    main()
