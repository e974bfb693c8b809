"""Records conversations of a client with a real daemon, for `tests/contract/test_client_histories.py`.

`python -m tools.client_history NAME…` has each named conversation below once and writes it to
`tests/histories/client_v1/NAME.jsonl`; a file that is there is never written over. A conversation is written down
here, so that a new method is a new one, or a new function, and the old files stay as they are.
"""

import json
import sys
import tempfile
from base64 import b64encode
from collections.abc import Awaitable, Callable
from functools import partial
from pathlib import Path
from typing import Any

import attrs
import trio

from tests.contract.client_histories import FOLDER, Line, prepare, write
from tests.doubles.scripted_codex import TARGET as SCRIPTED
from tests.end_to_end.client import ACTIVITY, Client, Json, Sent, connected
from tests.end_to_end.daemon import Daemon
from tests.end_to_end.talk import text
from tools.files import ROOT

CWD = "/"
"""A folder that is everywhere and says nothing about the machine."""
DEDICATED = {"dedicatedProcess": True}
PICTURE = b64encode(b"\x89PNG\r\n\x1a\n and the rest of a picture").decode()
NOWHERE = {"workspaceId": "w", "agentSessionId": "nowhere"}


@attrs.define(eq=False)
class Recorder:
    """One connection, and what was said on it."""

    client: Client
    daemon: Daemon
    _said: list[tuple[int, Line]] = attrs.field(factory=list, init=False)
    _numbers: int = attrs.field(default=0, init=False)

    async def ask(self, method: str, **params: Any) -> Json:
        """The whole reply, once it is there."""
        self._numbers += 1
        frame = {"jsonrpc": "2.0", "id": self._numbers, "method": method, "params": params}
        self._note(Line("client", frame))
        await self.client.send_text(json.dumps(frame))
        sent = Sent(self.client, self._numbers, method)
        await self.client.wait(lambda: sent.answer, f"the reply to {method}")
        assert sent.answer is not None
        return sent.answer

    async def get(self, method: str, **params: Any) -> Json:
        """The result; a refusal is a mistake of this script."""
        reply = await self.ask(method, **params)
        assert "result" in reply, (method, params, reply)
        result: Json = reply["result"]
        return result

    async def refused(self, code: str, method: str, **params: Any) -> None:
        """A request that is expected to be refused with this code."""
        reply = await self.ask(method, **params)
        assert "error" in reply, (method, params, reply)
        assert reply["error"]["data"]["code"] == code, (method, params, reply)

    async def mutter(self, said: str) -> None:
        """A frame that is no request; its refusal names no id."""
        before = len(self.client.received)
        self._note(Line("client", said))
        await self.client.send_text(said)
        await self.client.wait(
            lambda: any(frame.get("id", 0) is None for frame in self.client.received[before:]),
            f"the refusal of {said}",
        )

    def operate(self, signal_name: str, number: int) -> None:
        """Send the daemon a signal."""
        self._note(Line("operator", signal_name))
        self.daemon.signal(number)

    async def begin(self, **subscribed: Any) -> None:
        """Initialize and follow the workspace."""
        await self.get("initialize", protocolVersion=1, clientInfo={"name": "history", "version": "1"})
        params = {"workspaceId": "w", "topics": [ACTIVITY, "host.updated"], **subscribed}
        await self.get("events/subscribe", **params)

    async def create(self, submit_id: str, prompt: str | None = None, **params: Any) -> tuple[Json, Json]:
        """A session's key, and the turn of its first prompt (empty without one)."""
        said = {} if prompt is None else {"initialContent": text(prompt)}
        asked = {"workspaceId": "w", "agentTargetId": "demo", "clientSubmitId": submit_id, "cwd": CWD}
        created = await self.get("session/create", **{**asked, **said, **params})
        key = {name: created["session"][name] for name in ("workspaceId", "agentSessionId")}
        return key, created.get("turn") or {}

    async def send(self, key: Json, submit_id: str, prompt: str, *blocks: Json) -> Json:
        """The turn of a prompt."""
        content = [*text(prompt), *blocks]
        turn: Json = (await self.get("session/send", **key, clientSubmitId=submit_id, content=content))[
            "turn"
        ]
        return turn

    async def picture(self) -> Json:
        """The block that shows a stored picture."""
        put = await self.get("attachment/put", workspaceId="w", mediaType="image/png", data=PICTURE)
        return {"type": "image", **{name: put[name] for name in ("mediaType", "bytes", "attachmentId")}}

    async def reached(self, turn: Json, phase: str = "settled") -> None:
        """A turn has come to a phase."""
        await self.client.row("turn", turnId=turn["turnId"], phase=phase)

    def payloads(self, kind: str, **members: Any) -> list[Json]:
        """What was told of Sides, of one kind and with these members in its row."""
        told = [event["payload"] for event in self.client.events("side") if event["payload"]["type"] == kind]
        rows = [payload.get(kind, payload) for payload in told]
        return [row for row in rows if all(row[name] == value for name, value in members.items())]

    async def told(self, kind: str, turn_id: str, **members: Any) -> Json:
        """A row of a Side, waited for."""
        rows = await self.client.wait(lambda: self.payloads(kind, turnId=turn_id, **members), f"a {kind}")
        row: Json = rows[0]
        return row

    def lines(self) -> list[Line]:
        """All of it, in the order of the connection."""
        ends = [place for place, _ in self._said[1:]] + [len(self.client.received)]
        lines = []
        for (place, line), end in zip(self._said, ends, strict=True):
            lines += [line, *map(_heard, self.client.received[place:end])]
        return lines

    def _note(self, line: Line) -> None:
        self._said.append((len(self.client.received), line))


def _heard(frame: Json) -> Line:
    is_event = "subscriptionId" in frame and "jsonrpc" not in frame
    return Line("server", {"jsonrpc": "2.0", "method": "event", "params": frame} if is_event else frame)


# --- the conversations ----------------------------------------------------------------------------------------------


async def working(record: Recorder) -> None:
    """Sessions that are made, read, changed and searched."""
    await record.begin()
    for method in ("target/list", "workspace/list", "health/read", "metrics/read"):
        await record.get(method)
    prompt = (
        "[[think 2]] [[plan look;write]] [[say I look]] [[tool ls output=a.py]] [[edit a.py]] [[say done]]"
    )
    key, turn = await record.create("c1", prompt, title="The first", settings={"model": "demo-large"})
    await record.reached(turn)
    await record.get("session/get", **key)
    await record.get("session/get", **key, projection="summary")
    window = await record.get("session/messages", **key, afterVersion=0)
    await record.get("session/messages", **key, beforeSequence=4, limit=2)
    await record.get("session/messages", **key, messageIds=[window["messages"][0]["messageId"]])
    await record.get("turn/get", **key, turnId=turn["turnId"])
    await record.get("turn/list", **key)
    await record.get("session/rename", **key, title="Another name")
    await record.get("session/pin", **key, pinned=True)
    await record.get("session/updateSettings", **key, settings={"mode": "auto", "model": None})
    await record.refused("settings.invalid", "session/updateSettings", **key, settings={"colour": "red"})
    turn = await record.send(key, "s1", "[[settings]] [[usage used=10 size=100 cents=5]] [[title Mine]]")
    await record.reached(turn)
    image = await record.picture()
    await record.get("attachment/get", workspaceId="w", attachmentId=image["attachmentId"])
    turn = await record.send(key, "s2", "[[say I see]]", image)
    await record.reached(turn)
    await record.get("session/list", workspaceId="w", order="created", pinned=True)
    await record.get("session/search", workspaceId="w", query="look")
    await record.get("interaction/list", workspaceId="w", status="pending")
    await record.get("debug/session", **key)
    await record.get("session/close", **key)
    await record.get("session/resume", **key)


async def asking(record: Recorder) -> None:
    """Approvals answered and not, turns stopped, and a second subscription that finds a message streaming."""
    await record.begin()
    key, _ = await record.create("c1")
    turn = await record.send(key, "s1", "[[ask allow_once,allow_always,reject_once]] [[say thanks]]")
    asked = await record.client.row("interaction", turnId=turn["turnId"], status="pending")
    await record.get("interaction/list", workspaceId="w", status="pending")
    named = {name: asked[name] for name in ("workspaceId", "agentSessionId", "turnId", "requestId")}
    answer = partial(record.ask, "interaction/respond", **named)
    await record.refused("session.busy", "session/send", **key, clientSubmitId="s2", content=text("more"))
    wrong = {"optionId": "not-offered"}
    await record.refused("interaction.unsupported_answer", "interaction/respond", **named, answer=wrong)
    options = [option["optionId"] for option in asked["options"]]
    await answer(answer={"optionId": options[0]})
    await record.reached(turn)
    await answer(answer={"optionId": options[0]})
    other = {"optionId": options[2]}
    await record.refused("interaction.not_pending", "interaction/respond", **named, answer=other)
    absent = {**named, "requestId": "nothing"}
    await record.refused("interaction.not_found", "interaction/respond", **absent, answer=other)
    turn = await record.send(key, "s2", "[[ask]]")
    await record.client.row("interaction", turnId=turn["turnId"], status="pending")
    await record.get("turn/cancel", **key, turnId=turn["turnId"])
    await record.reached(turn)
    await record.get("turn/cancel", **key, turnId=turn["turnId"])
    turn = await record.send(key, "s3", "[[say words that stay]] [[hang]]")
    await record.client.event("message_delta", turnId=turn["turnId"])
    await record.refused(
        "capability.unsupported",
        "turn/guide",
        **key,
        turnId=turn["turnId"],
        clientSubmitId="g1",
        content=text("x"),
    )
    second = await record.get("events/subscribe", workspaceId="w", topics=[ACTIVITY], deltas="all")
    await record.client.event("message_snapshot")
    number = second["subscriptionId"]
    await record.get("events/update", subscriptionId=number, deltas="none")
    await record.get("events/unsubscribe", subscriptionId=number)
    await record.get("turn/cancel", **key, turnId=turn["turnId"])
    await record.reached(turn)
    elsewhere = {"workspaceId": "v", "agentTargetId": "demo", "clientSubmitId": "v1", "cwd": CWD}
    await record.get("session/create", **elsewhere)
    await record.client.event("checkpoint")


async def guiding(record: Recorder) -> None:
    """A turn that is told more while it runs."""
    await record.begin()
    key, turn = await record.create("c1", "go", agentTargetId="guided")
    await record.reached(turn, "running")
    guide = {**key, "turnId": turn["turnId"]}
    await record.get("turn/guide", **guide, clientSubmitId="g1", content=text("a word"))
    await record.get("turn/guide", **guide, clientSubmitId="g1", content=text("a word"))
    await record.refused("submit.conflict", "turn/guide", **guide, clientSubmitId="g1", content=text("two"))
    for code, word in (("turn.mismatch", "mismatch"), ("provider.rejected", "reject")):
        await record.refused(code, "turn/guide", **guide, clientSubmitId=word, content=text(word))
    silent = {**guide, "clientSubmitId": "g2", "content": text("silence")}
    await record.refused("submit.delivery_unknown", "turn/guide", **silent)
    await record.get("turn/guide", **guide, clientSubmitId="g3", content=text("end"))
    await record.reached(turn)
    await record.refused("turn.settled", "turn/guide", **guide, clientSubmitId="g4", content=text("late"))


async def siding(record: Recorder) -> None:
    """A Side of a running turn: opened, asked, stopped, attached, closed with its surface."""
    await record.begin()
    await record.get("events/subscribe", workspaceId="w", topics=["agent.side.updated"])
    key, turn = await record.create("c1", "[[say begun]] [[sleep 600000]]", agentTargetId=SCRIPTED)
    await record.reached(turn, "running")
    await record.get("side/capabilities", **key)
    side = {"workspaceId": "w", "sideAgentSessionId": "side"}
    opened = {**key, "sideAgentSessionId": "side", "surfaceId": "pane"}
    await record.get("side/open", **opened, instructions="Be short.")
    await record.get("side/list", workspaceId="w")
    talk = partial(record.get, "side/send", **side)
    first = (await talk(clientSubmitId="a", content=text("[[say words]]")))["turn"]
    await record.told("turn", first["turnId"], phase="settled")
    second = (await talk(clientSubmitId="b", content=text("[[ask]] [[sleep 600000]]")))["turn"]
    asked = await record.told("interaction", second["turnId"], status="pending")
    await record.get("side/get", **side)
    answer = {"optionId": asked["options"][0]["optionId"]}
    named = {**side, "turnId": second["turnId"]}
    await record.get("side/respond", **named, requestId=asked["requestId"], answer=answer)
    await record.told("interaction", second["turnId"], status="answered")
    await record.get("side/cancel", **named)
    await record.told("turn", second["turnId"], phase="settled")
    await record.get("surface/attach", workspaceId="w", surfaceId="pane")
    await record.get("surface/dispose", workspaceId="w", surfaceId="pane")
    await record.client.wait(lambda: record.payloads("closed"), "the end of the Side")
    await record.refused("side.expired", "side/get", **side)
    await record.refused("side.not_found", "side/get", workspaceId="w", sideAgentSessionId="nobody")
    await record.get("side/open", **{**opened, "sideAgentSessionId": "second"})
    await record.get("side/close", workspaceId="w", sideAgentSessionId="second")
    await record.get("turn/cancel", **key, turnId=turn["turnId"])
    await record.reached(turn)


async def planning(record: Recorder) -> None:
    """A plan by which a turn ended: declined with words, planned again, accepted, and what was decided read."""
    await record.begin()
    settings = {"collaborationMode": "plan"}
    prompt = "[[propose # Large]]"
    key, turn = await record.create("c1", prompt, agentTargetId=SCRIPTED, settings=settings)
    first = await record.client.row("interaction", turnId=turn["turnId"], status="pending")
    named = {**key, "turnId": turn["turnId"], "requestId": first["requestId"]}
    declined = {"optionId": "decline", "feedback": "[[propose # Small]]"}
    await record.get("interaction/respond", **named, answer=declined)
    second = await record.client.row("turn", sequence=2, phase="settled")
    named |= {"turnId": second["turnId"]}
    await record.get("interaction/respond", **named, answer={"optionId": "accept"})
    done = await record.client.row("turn", sequence=3, phase="settled")
    await record.client.row("turn", turnId=done["turnId"])
    operations = record.client.rows("operation")
    await record.get("operation/get", **key, operationId=operations[-1]["operationId"])
    await record.refused("operation.not_found", "operation/get", **key, operationId="nobody's")


async def deleting(record: Recorder) -> None:
    """Sessions deleted, brought back, and purged."""
    await record.begin()
    key, turn = await record.create("c1", "[[say hello]]", agentSessionId="kept")
    await record.reached(turn)
    trees = {"workspaceId": "w", "agentSessionIds": ["kept"]}
    await record.get("session/delete", **trees)
    await record.get("session/listDeleted", workspaceId="w")
    await record.refused("session.deleted", "session/get", **key)
    await record.get("session/restore", **trees)
    await record.client.event("session_reset")
    await record.get("session/get", **key)
    await record.get("session/delete", **trees)
    await record.get("session/purge", **trees)
    await record.refused("session.not_found", "session/get", **key)


async def refusals(record: Recorder) -> None:
    """What can be refused without much to do."""
    await record.refused("protocol.uninitialized", "workspace/list")
    await record.refused("protocol.unsupported", "initialize", protocolVersion=99, clientInfo={"name": "h"})
    await record.begin()
    await record.mutter("{ this is no JSON")
    await record.mutter('{"jsonrpc": "2.0", "method": "workspace/list"}')
    await record.refused("request.invalid", "session/get", workspaceId="w")
    await record.refused("request.invalid", "session/get", **NOWHERE, unknown=1)
    await record.refused("request.unknown_method", "session/dance", workspaceId="w")
    await record.refused("capability.unsupported", "goal/get", **NOWHERE)
    await record.refused("session.not_found", "session/get", **NOWHERE)
    create = partial(record.refused, method="session/create", workspaceId="w")
    await create("target.not_found", agentTargetId="nothing", clientSubmitId="x")
    await create("target.disabled", agentTargetId="disabled", clientSubmitId="x")
    await create("settings.invalid", agentTargetId="demo", clientSubmitId="x", settings={"colour": "red"})
    await create("session.cwd_missing", agentTargetId="demo", clientSubmitId="x", cwd="/no/such/folder")
    key, turn = await record.create("c1", "[[say hello]]", agentSessionId="mine")
    await record.reached(turn)
    await create("submit.conflict", agentTargetId="demo", clientSubmitId="c1")
    await create("session.exists", agentTargetId="demo", clientSubmitId="x", agentSessionId="mine")
    await record.refused("turn.not_found", "turn/get", **key, turnId="nothing")
    missing = {"type": "image", "mediaType": "image/png", "bytes": 3, "attachmentId": "nothing"}
    show = partial(record.refused, method="session/send", clientSubmitId="y", content=[missing])
    await show("attachment.not_found", **key)
    await record.refused("settings.launch_only", "session/updateSettings", **key, settings=DEDICATED)
    await record.refused("request.invalid", "session/list", workspaceId="w", limit=0)


async def failures(record: Recorder) -> None:
    """Agents that fail: refusals of a resume, and turns with an error."""
    await record.begin()
    for target, code in (("missing", "provider.unavailable"), ("sign-in", "provider.auth_required")):
        key, _ = await record.create(target, agentTargetId=target)
        await record.refused(code, "session/resume", **key)
    key, _ = await record.create("ends")
    for number, prompt in enumerate(
        ("[[refuse]]", "[[stop max_tokens]]", "[[stop strange]]", "[[error -32603]]", "[[crash]]", "[[say ]]")
    ):
        await record.reached(await record.send(key, f"s{number}", prompt))
    key, turn = await record.create("forgetful", "[[say hello]]", agentTargetId="forgetful")
    await record.reached(turn)
    await record.get("session/close", **key)
    await record.refused("session.not_resumable", "session/resume", **key)
    await record.get("session/resume", **key, mode="fresh")
    key, turn = await record.create("blind", "[[say hello]]", agentTargetId="blind")
    await record.reached(turn)
    image = await record.picture()
    unseen = {"clientSubmitId": "see", "content": [image]}
    await record.refused("attachment.unsupported", "session/send", **key, **unseen)


async def narrow(record: Recorder) -> None:
    """Limits that are reached."""
    await record.begin()
    key, _ = await record.create("c1")
    one_more = {"workspaceId": "w", "agentTargetId": "demo", "clientSubmitId": "c2", "cwd": CWD}
    await record.refused("limit.exceeded", "session/create", **one_more)
    long = text("x" * 5000)
    await record.refused("request.too_large", "session/send", **key, clientSubmitId="s1", content=long)


async def stopping(record: Recorder) -> None:
    """A daemon that is stopped while a client is there."""
    await record.begin()
    key, turn = await record.create("c1", "[[say x]]", agentTargetId="stubborn")
    await record.reached(turn)
    record.operate("SIGTERM", 15)
    await record.client.event("shutdown")
    await record.client.event("runtime_activity", runtimeState="closing")
    late = {"clientSubmitId": "late", "content": text("late")}
    await record.refused("shutdown.in_progress", "session/send", **key, **late)


async def faults(record: Recorder) -> None:
    """A failpoint that holds a prompt until it is cleared."""
    await record.begin()
    place = "session.start.before"
    await record.get("fault/inject", name=place, action="pause")
    _, turn = await record.create("c1", "[[say hello]]")
    await record.client.row("turn", turnId=turn["turnId"], delivery="dispatching")
    await record.get("fault/list", limit=5)
    await record.get("fault/clear", name=place)
    await record.reached(turn)
    await record.refused("request.invalid", "fault/inject", name="nowhere", action="pause")


async def inquiring(record: Recorder) -> None:
    """What agents tell of themselves."""
    await record.begin()
    for what in ("status", "models", "skills", "usage"):
        await record.get(f"provider/{what}", agentTargetId="codex")
        await record.get(f"provider/{what}", agentTargetId="demo")
    await record.client.event("status")
    await record.client.event("models")
    await record.get("provider/models", agentTargetId="codex", refresh=True)
    await record.refused("target.not_found", "provider/models", agentTargetId="nobody")


CONVERSATIONS: dict[str, tuple[str, Callable[[Recorder], Awaitable[None]]]] = {
    "working": ("plain", working),
    "asking": ("plain", asking),
    "guiding": ("guided", guiding),
    "siding": ("forking", siding),
    "planning": ("forking", planning),
    "deleting": ("plain", deleting),
    "refusals": ("plain", refusals),
    "failures": ("plain", failures),
    "narrow": ("narrow", narrow),
    "stopping": ("stopping", stopping),
    "faults": ("faulty", faults),
    "inquiring": ("forking", inquiring),
}
"""Each with the name of its daemon."""


def record_one(name: str, folder: Path) -> None:
    """Have one conversation and write it down."""
    daemon_name, conversation = CONVERSATIONS[name]
    with tempfile.TemporaryDirectory() as scratch:
        daemon = Daemon(Path(scratch))
        prepare(daemon_name, daemon)
        daemon.start()
        try:
            lines = trio.run(_have, daemon, conversation)
        finally:
            daemon.end()
    hidden = {str(daemon.folder): "/srv", sys.executable: "python", str(ROOT): "/opt/greenroom"}
    write(folder / f"{name}.jsonl", daemon_name, [_without_paths(line, hidden) for line in lines])


async def _have(daemon: Daemon, conversation: Callable[[Recorder], Awaitable[None]]) -> list[Line]:
    async with connected(daemon, initialize=False) as client:
        record = Recorder(client, daemon)
        await conversation(record)
        return record.lines()


def _without_paths(line: Line, hidden: dict[str, str]) -> Line:
    said = json.dumps(line.said)
    for path, neutral in hidden.items():
        said = said.replace(path, neutral)
    return Line(line.by, json.loads(said))


def main(arguments: list[str]) -> int:
    """Records the named conversations; 2 for a name that is unknown or recorded already."""
    for name in arguments:
        if name not in CONVERSATIONS or (FOLDER / f"{name}.jsonl").exists():
            print(f"{name}: not a conversation of this script, or recorded already")
            return 2
        record_one(name, FOLDER)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
