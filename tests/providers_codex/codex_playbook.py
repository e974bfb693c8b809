"""A Codex app-server on a table: its frames, and a playbook whose beginnings are those of Codex."""

import json

from runtime.providers.codex.descriptor import CodexDescriptor
from runtime.providers.port import AdapterLimits, OpenThread, Scope, StartTurn, Write
from runtime.providers.programs import ProgramReport
from store.canonical.common import Settings
from store.canonical.identifiers import TurnId
from store.canonical.message import TextBlock
from tests.providers.adapter_playbook import A, Playbook

T1, T2 = TurnId("t1"), TurnId("t2")
CWD = "/w"
USER_AGENT = "greenroom/0.171.0 (Debian 12.0.0; x86_64) unknown (greenroom; 0)"

CORE = ("thread/start", "thread/resume", "thread/unsubscribe", "turn/start")
"""Methods without which no Codex can be used."""

__all__ = ["CWD", "T1", "T2", "A"]


def frame(**members: object) -> bytes:
    """A frame of Codex, which has no version member."""
    return json.dumps(members).encode() + b"\n"


def unknown_method(*known: str) -> dict[str, object]:
    """How a Codex that knows these refuses a method it does not know."""
    listed = ", ".join(f"`{method}`" for method in known)
    message = f"Invalid request: unknown variant `greenroom/methods`, expected one of {listed}"
    return {"code": -32600, "message": message}


def notice(method: str, thread_id: str | None = "th", turn_id: str | None = None, **params: object) -> bytes:
    """A notification."""
    names = {"threadId": thread_id, "turnId": turn_id}
    told = {name: value for name, value in names.items() if value is not None}
    return frame(method=method, params={**told, **params}, emittedAtMs=1)


def request(
    number: object, method: str, thread_id: str = "th", turn_id: str = "p1", **params: object
) -> bytes:
    """A request of the server."""
    return frame(id=number, method=method, params={"threadId": thread_id, "turnId": turn_id, **params})


def started(kind: str, item_id: str, turn_id: str = "p1", thread_id: str = "th", **item: object) -> bytes:
    """An item begins."""
    return notice("item/started", thread_id, turn_id, item={"type": kind, "id": item_id, **item})


def completed(kind: str, item_id: str, turn_id: str = "p1", thread_id: str = "th", **item: object) -> bytes:
    """An item as it finally is."""
    return notice("item/completed", thread_id, turn_id, item={"type": kind, "id": item_id, **item})


def delta(text: str, item_id: str = "m1", turn_id: str = "p1", thread_id: str = "th") -> bytes:
    """A piece of an answer."""
    return notice("item/agentMessage/delta", thread_id, turn_id, itemId=item_id, delta=text)


def turn_started(turn_id: str = "p1", thread_id: str = "th") -> bytes:
    """A turn begins."""
    return notice("turn/started", thread_id, turn={"id": turn_id, "status": "inProgress", "items": []})


def turn_completed(
    status: str = "completed", turn_id: str = "p1", thread_id: str = "th", **turn: object
) -> bytes:
    """The end of a turn."""
    return notice("turn/completed", thread_id, turn={"id": turn_id, "status": status, "items": [], **turn})


def command(
    item_id: str = "c1", text: str = "make", status: str = "inProgress", **item: object
) -> dict[str, object]:
    """The members of a command's item, for `started` and `completed`."""
    return {
        "kind": "commandExecution",
        "item_id": item_id,
        "command": f"/bin/bash -lc '{text}'",
        "cwd": CWD,
        "status": status,
        "commandActions": [{"type": "unknown", "command": text}],
        **item,
    }


def opened_result(thread_id: str = "th", cwd: str = CWD, **members: object) -> dict[str, object]:
    """The result of `thread/start` and `thread/resume`."""
    return {
        "thread": {"id": thread_id, "status": {"type": "idle"}},
        "cwd": cwd,
        "model": "gpt-5.5",
        "approvalPolicy": "on-request",
        "approvalsReviewer": "user",
        "sandbox": {"type": "workspaceWrite"},
        "reasoningEffort": None,
        **members,
    }


class CodexPlaybook(Playbook):
    """Drives a Codex adapter."""

    def __init__(self, limits: AdapterLimits | None = None, report: ProgramReport | None = None) -> None:
        super().__init__(CodexDescriptor("7").adapter(limits or AdapterLimits(), report))

    def reply(self, method: str, **members: object) -> "CodexPlaybook":
        """Codex answers the newest request of this method."""
        call = next(sent for sent in reversed(self.frames) if sent.get("method") == method)
        self.receive(frame(id=call["id"], **members))
        return self

    def replies(self) -> list[tuple[object, object]]:
        """The answers to requests of Codex so far: the id, and what was answered."""
        return [
            (sent["id"], sent.get("result", sent.get("error")))
            for output in self.everything
            if isinstance(output, Write) and "method" not in (sent := json.loads(output.data))
        ]

    def calls(self) -> list[str]:
        """The methods of all requests sent so far."""
        return [str(sent["method"]) for sent in self.frames if "method" in sent and "id" in sent]

    # --- common beginnings ------------------------------------------------------------------------------------

    def ready(self, **_: object) -> "CodexPlaybook":
        """The handshake is done."""
        self.begin().reply("initialize", result={"userAgent": USER_AGENT, "codexHome": "/h"})
        self.reply("thread/loaded/list", result={"data": []}).skip()
        return self

    def opened(
        self,
        scope: Scope = A,
        session_id: str = "th",
        settings: Settings | None = None,
        resumes: bool = False,
        **members: object,
    ) -> "CodexPlaybook":
        """A thread is open."""
        if not self.frames:
            self.ready()
        self.command(OpenThread(scope, CWD, settings or {}, session_id if resumes else None))
        method = "thread/resume" if resumes else "thread/start"
        self.reply(method, result=opened_result(session_id, **members)).skip()
        return self

    def prompted(
        self, scope: Scope = A, turn_id: TurnId = T1, text: str = "go", provider_turn_id: str = "p1"
    ) -> "CodexPlaybook":
        """A prompt is accepted."""
        self.command(StartTurn(scope, turn_id, (TextBlock(text),)))
        self.reply("turn/start", result={"turn": {"id": provider_turn_id, "status": "inProgress"}}).skip()
        return self

    def running(self) -> "CodexPlaybook":
        """One thread with one turn."""
        self.opened().prompted().receive(turn_started()).skip()
        return self
