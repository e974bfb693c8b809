"""What a well-behaved agent does, directive by directive: text, thoughts, tools, plans, asks, pauses, ends.

Owns one function a directive and the table of all of them; the ones that break the rules are in `mischief`.
"""

import json
from collections.abc import Callable

from runtime.providers.demo.mischief import MISCHIEF
from runtime.providers.demo.options import config_options
from runtime.providers.demo.script import Step
from runtime.providers.demo.turn import Directive, Ending, Part, Turn


def at_once(act: Callable[[Turn, Step], Ending | None]) -> Directive:
    """A directive that never waits. Its pause of nothing lets the agent look at its input between two of them."""

    def part(turn: Turn, step: Step) -> Part:
        ending = act(turn, step)
        if ending is None:
            yield 0.0
        return ending

    return part


# --- with pauses --------------------------------------------------------------------------------------------------


def _stream(turn: Turn, step: Step) -> Part:
    count, size = step.first_number(3), step.number("size", 32)
    pause, batch = step.number("delay", 0) / 1000, max(1, step.number("batch", 1))
    tag = step.options.get("tag", "s") if step.flag("stamp") or "tag" in step.options else ""
    for index in range(count):
        head = f"~{tag}.{index}.{int(turn.stage.now() * 1e9)}~" if tag else f"{index} "
        turn.text(head + "x" * (size - len(head)))
        if (index + 1) % batch == 0:
            yield pause
    return None


def _think(turn: Turn, step: Step) -> Part:
    for index in range(step.first_number(3)):
        turn.text(f"Thought {index + 1}. ", "agent_thought_chunk")
        yield step.number("delay", 0) / 1000
    return None


def _sleep(turn: Turn, step: Step) -> Part:
    yield step.first_number(1000) / 1000
    return None


def _hang(turn: Turn, step: Step) -> Part:
    while True:
        yield None


def _ask(turn: Turn, step: Step) -> Part:
    options = permission_options(step.text or "allow_once,reject_once")
    call_id = turn.next_call()
    call = {"title": "make demo", "kind": "execute", "rawInput": {"command": "make demo"}}
    turn.update("tool_call", toolCallId=call_id, status="pending", **call)
    params = {
        "sessionId": turn.stage.session_id,
        "toolCall": {"toolCallId": call_id, "status": "pending", **call},
        "options": options,
    }
    turn.stage.request("session/request_permission", params)
    answer = yield None
    result = answer.get("result") if isinstance(answer, dict) else None
    outcome = result.get("outcome") if isinstance(result, dict) else None
    option_id = outcome.get("optionId") if isinstance(outcome, dict) else None
    chosen = next((option for option in options if option["optionId"] == option_id), None)
    if chosen is None:
        turn.text("Permission: cancelled.")
        return Ending("cancelled")
    allowed = chosen["kind"].startswith("allow")
    turn.update("tool_call_update", toolCallId=call_id, status="completed" if allowed else "failed")
    turn.text(f"Permission: {chosen['kind']} ({chosen['optionId']}).")
    return None if allowed else Ending()


def _request(turn: Turn, step: Step) -> Part:
    method = step.text or "demo/unknown"
    turn.stage.request(method, {"sessionId": turn.stage.session_id})
    answer = yield None
    error = answer.get("error") if isinstance(answer, dict) else None
    turn.text(f"{method}: {error.get('code') if isinstance(error, dict) else 'answered'}.")
    return None


def permission_options(kinds: str) -> list[dict[str, str]]:
    """One option for each kind; a second one of a kind gets an id and a name of its own."""
    options: list[dict[str, str]] = []
    for kind in (word.strip() for word in kinds.split(",")):
        count = sum(option["kind"] == kind for option in options)
        name, option_id = kind.replace("_", " ").capitalize(), kind.replace("_", "-")
        if count:
            name, option_id = f"{name} {count + 1}", f"{option_id}-{count + 1}"
        options.append({"optionId": option_id, "name": name, "kind": kind})
    return options


# --- at once ------------------------------------------------------------------------------------------------------


def _say(turn: Turn, step: Step) -> None:
    turn.text(step.text)


def _tool(turn: Turn, step: Step) -> None:
    name = step.text or "demo"
    call_id = turn.next_call()
    raw = {"command": step.options.get("command", name)}
    kind, output = step.options.get("kind", "execute"), step.options.get("output", "")
    status = step.options.get("status", "completed")
    turn.update(
        "tool_call", toolCallId=call_id, name=name, title=name, kind=kind, status="pending", rawInput=raw
    )
    turn.update("tool_call_update", toolCallId=call_id, status="in_progress")
    if status in ("completed", "failed"):
        content = [{"type": "content", "content": {"type": "text", "text": output}}] if output else []
        turn.update("tool_call_update", toolCallId=call_id, status=status, content=content)


def _edit(turn: Turn, step: Step) -> None:
    path = step.text or "demo.txt"
    diff = {"type": "diff", "path": path, "oldText": "one\ntwo\n", "newText": "one\n2\nthree\n"}
    call_id = turn.next_call()
    turn.update("tool_call", toolCallId=call_id, title=f"Edit {path}", kind="edit", status="in_progress")
    turn.update("tool_call_update", toolCallId=call_id, status="completed", content=[diff])


def _plan(turn: Turn, step: Step) -> None:
    entries = [
        {"content": text.strip(), "status": "in_progress" if index == 0 else "pending", "priority": "medium"}
        for index, text in enumerate((step.text or "look;write").split(";"))
    ]
    turn.update("plan", entries=entries)


def _usage(turn: Turn, step: Step) -> None:
    cost = {"amount": step.number("cents", 1) / 100, "currency": "USD"}
    turn.update("usage_update", used=step.number("used", 1000), size=step.number("size", 200_000), cost=cost)


def _title(turn: Turn, step: Step) -> None:
    turn.update("session_info_update", title=step.text)


def _recall(turn: Turn, step: Step) -> None:
    prompts = [earlier["prompt"] for earlier in turn.stage.remembered[:-1]]
    turn.text(f"I remember {len(prompts)}: " + " | ".join(prompts))


def _settings(turn: Turn, step: Step) -> None:
    turn.text(json.dumps(turn.stage.settings))


def _change_mode(turn: Turn, step: Step) -> None:
    turn.stage.settings["mode"] = step.text
    turn.update("current_mode_update", currentModeId=step.text)


def _change_model(turn: Turn, step: Step) -> None:
    turn.stage.settings["model"] = step.text
    turn.update("config_option_update", configOptions=config_options(turn.stage.settings))


def _refuse(turn: Turn, step: Step) -> Ending:
    return Ending("refusal")


def _stop(turn: Turn, step: Step) -> Ending:
    return Ending(step.text or "max_tokens")


def _error(turn: Turn, step: Step) -> Ending:
    return Ending(error_code=step.first_number(-32603), error_text="The demo agent was asked to fail.")


DIRECTIVES: dict[str, Directive] = {
    "ask": _ask,
    "edit": at_once(_edit),
    "error": at_once(_error),
    "hang": _hang,
    "mode": at_once(_change_mode),
    "model": at_once(_change_model),
    "plan": at_once(_plan),
    "recall": at_once(_recall),
    "refuse": at_once(_refuse),
    "request": _request,
    "say": at_once(_say),
    "settings": at_once(_settings),
    "sleep": _sleep,
    "slow": _sleep,
    "stop": at_once(_stop),
    "stream": _stream,
    "think": _think,
    "title": at_once(_title),
    "tool": at_once(_tool),
    "usage": at_once(_usage),
    **{word: at_once(act) for word, act in MISCHIEF.items()},
}
"""Every directive there is."""
