"""What the scripted app-server asks of its client: approvals, questions, messages of MCP servers, and anything else.

Owns the shapes of those requests and what each answer makes of the turn.
"""

import json
from collections.abc import Callable
from typing import Any, Final, TypeAlias

from runtime.providers.demo.script import Step
from runtime.simulation.scripted_codex.texts import Frame
from runtime.simulation.scripted_codex.turn import Ending, Part, Turn

Directive: TypeAlias = Callable[[Turn, Step], Part]

_ALLOWED: Final = ("accept", "acceptForSession")


def _ask(turn: Turn, step: Step) -> Part:
    """A command that wants to run."""
    item = turn.begin(turn.command(step.options.get("command", "make demo")))
    shown = {name: item[name] for name in ("command", "cwd", "commandActions")}
    method = "item/commandExecution/requestApproval"
    offered = ["accept", "acceptForSession", "cancel"]
    turn.request(method, itemId=item["id"], kind="command", reason=None, availableDecisions=offered, **shown)
    decision = _decision((yield None))
    if decision in _ALLOWED:
        turn.complete(item, status="completed", aggregatedOutput="made\n", exitCode=0)
    elif decision in ("decline", "cancel"):
        turn.complete(item, status="declined")
    else:
        turn.complete(item, status="failed")
    return _after(turn, decision)


def _patch(turn: Turn, step: Step) -> Part:
    """A patch that wants to be applied. A cancelled one gets no end."""
    path = step.text or "notes.txt"
    item = turn.begin(turn.patch(path))
    turn.request("item/fileChange/requestApproval", itemId=item["id"], reason=None, grantRoot=None)
    decision = _decision((yield None))
    if decision != "cancel":
        status = "completed" if decision in _ALLOWED else "declined" if decision == "decline" else "failed"
        turn.complete(item, status=status)
    return _after(turn, decision)


def _permissions(turn: Turn, step: Step) -> Part:
    wanted = {"network": {"enabled": True}}
    method = "item/permissions/requestApproval"
    turn.request(method, itemId=turn.new_id("call"), cwd="/w", reason=None, permissions=wanted)
    turn.text(f"Permissions: {json.dumps(_result((yield None)))}.")
    return None


def _question(turn: Turn, step: Step) -> Part:
    questions = [
        {
            "id": "colour",
            "header": "Colour",
            "question": "Which colour?",
            "isOther": True,
            "isSecret": step.flag("secret"),
            "options": [
                {"label": "red", "description": "Like a stop"},
                {"label": "green", "description": ""},
            ],
        }
    ]
    turn.request("item/tool/requestUserInput", itemId=turn.new_id("call"), questions=questions)
    turn.text(f"Answers: {json.dumps(_result((yield None)))}.")
    return None


def _elicit(turn: Turn, step: Step) -> Part:
    """A message of an MCP server: `message`, `tool` for one that may be remembered, `fields`, `url`, `identity`."""
    kind = step.text or "message"
    schema: Frame = {"type": "object", "properties": {}}
    meta: Frame | None = None
    if kind == "fields":
        schema |= {"properties": {"name": {"type": "string"}}, "required": ["name"]}
    elif kind == "tool":
        meta = {"codex_approval_kind": "mcp_tool_call", "persist": ["session", "always"]}
    params: Frame = {"serverName": "toy", "mode": "form", "message": "Please confirm", "_meta": meta}
    if kind == "url":
        params |= {"mode": "url", "url": "https://toy.invalid/confirm"}
    elif kind == "identity":
        params |= {"mode": "openai/userVerification"}
    else:
        params["requestedSchema"] = schema
    turn.request("mcpServer/elicitation/request", **params)
    turn.text(f"Elicitation: {json.dumps(_result((yield None)))}.")
    return None


def _request(turn: Turn, step: Step) -> Part:
    """Any request; what it is answered with is said."""
    method = step.text or "scripted/unknown"
    turn.request(method, itemId=turn.new_id("call"), callId="call_x", tool="toy", arguments={})
    answer = yield None
    turn.text(f"{method}: {json.dumps(answer.get('error', answer.get('result')))}.")
    return None


def _withdrawn(turn: Turn, step: Step) -> Part:
    """An approval that is taken back: nobody waits for its answer any more."""
    item = turn.begin(turn.command("make demo"))
    method = "item/commandExecution/requestApproval"
    turn.request(
        method, itemId=item["id"], kind="command", **{name: item[name] for name in ("command", "cwd")}
    )
    yield step.first_number(50) / 1000
    if turn.asks:
        # Nobody was quicker with an answer.
        turn.notify("serverRequest/resolved", requestId=turn.asks.pop())
    turn.complete(item, status="failed")
    return None


def _left_asked(turn: Turn, step: Step) -> Part:
    """The turn ends over its own question, as if nobody had been asked."""
    item = turn.begin(turn.command("make demo"))
    method = "item/commandExecution/requestApproval"
    turn.request(
        method, itemId=item["id"], kind="command", **{name: item[name] for name in ("command", "cwd")}
    )
    yield step.first_number(50) / 1000
    return Ending()


def _result(answer: Any) -> Frame:
    result = answer.get("result") if isinstance(answer, dict) else None
    if isinstance(result, dict):
        return result
    return {"error": answer.get("error", {}).get("code") if isinstance(answer, dict) else None}


def _decision(answer: Any) -> str:
    decision = _result(answer).get("decision")
    return decision if isinstance(decision, str) else "invalid"


def _after(turn: Turn, decision: str) -> Ending | None:
    if decision == "cancel":
        return Ending("interrupted")
    turn.text(f"Permission: {decision}.")
    return None


ASKING: Final[dict[str, Directive]] = {
    "ask": _ask,
    "elicit": _elicit,
    "left-asked": _left_asked,
    "patch": _patch,
    "permissions": _permissions,
    "question": _question,
    "request": _request,
    "withdrawn": _withdrawn,
}
"""The directives of this module by their words."""
