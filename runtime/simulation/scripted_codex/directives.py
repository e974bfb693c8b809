"""What a prompt makes the scripted app-server do, directive by directive.

Owns one function a directive and the table of all of them. The language is the demo agent's: what both know means the
same to both, so that a simulated person can say the same to either. Beside those there is what only Codex does.
"""

import json
from collections.abc import Callable
from typing import Any, Final

from runtime.providers.demo.mischief import SHARED_MISCHIEF
from runtime.providers.demo.script import Step
from runtime.simulation.scripted_codex.asking import ASKING, Directive
from runtime.simulation.scripted_codex.texts import Frame
from runtime.simulation.scripted_codex.turn import Ending, Part, Turn


def at_once(act: Callable[[Turn, Step], Ending | None]) -> Directive:
    """A directive that never waits. Its pause of nothing lets the agent look at its input between two of them."""

    def part(turn: Turn, step: Step) -> Part:
        ending = act(turn, step)
        if ending is None:
            yield 0.0
        return ending

    return part


def failure(info: object, text: str = "The model failed.") -> Frame:
    """The error of a turn."""
    return {"message": text, "codexErrorInfo": info, "additionalDetails": None}


# --- with pauses --------------------------------------------------------------------------------------------------


def _stream(turn: Turn, step: Step) -> Part:
    size, pause = step.number("size", 32), step.number("delay", 0) / 1000
    for index in range(step.first_number(3)):
        turn.text(f"{index} ".ljust(size, "x"))
        yield pause
    return None


def _think(turn: Turn, step: Step) -> Part:
    for index in range(step.first_number(3)):
        turn.text(f"Thought {index + 1}. ", "reasoning")
        yield step.number("delay", 0) / 1000
    return None


def _sleep(turn: Turn, step: Step) -> Part:
    yield step.first_number(1000) / 1000
    return None


def _hang(turn: Turn, step: Step) -> Part:
    while True:
        yield None


def _output(turn: Turn, step: Step) -> Part:
    """A command whose output streams, but for its beginning."""
    item = turn.begin(turn.command("make output"))
    lines = [f"line {index}\n" for index in range(step.first_number(3))]
    for line in lines[1:]:
        yield step.number("delay", 0) / 1000
        turn.notify("item/commandExecution/outputDelta", itemId=item["id"], delta=line)
    turn.complete(item, status="completed", aggregatedOutput="".join(lines), exitCode=0)
    return None


# --- at once ------------------------------------------------------------------------------------------------------


def _say(turn: Turn, step: Step) -> None:
    turn.text(step.text)


def _tool(turn: Turn, step: Step) -> None:
    item = turn.begin(turn.command(step.options.get("command", step.text or "demo")))
    status = step.options.get("status", "completed")
    turn.complete(
        item,
        status=status,
        aggregatedOutput=step.options.get("output", ""),
        exitCode=0 if status == "completed" else 1,
    )


def _edit(turn: Turn, step: Step) -> None:
    turn.complete(turn.begin(turn.patch(step.text or "demo.txt")), status="completed")


def _plan(turn: Turn, step: Step) -> None:
    entries = [
        {"step": text.strip(), "status": "inProgress" if index == 0 else "pending"}
        for index, text in enumerate((step.text or "look;write").split(";"))
    ]
    turn.notify("turn/plan/updated", explanation=None, plan=entries)


def _propose(turn: Turn, step: Step) -> None:
    """What planning ends with; `[[plan …]]` is the list of steps of a turn that works."""
    turn.text(step.text or "look, then write", kind="plan")


def _usage(turn: Turn, step: Step) -> None:
    used = step.number("used", 100)
    figures = {"totalTokens": used, "inputTokens": used, "cachedInputTokens": 0, "outputTokens": 0}
    usage = {"total": figures, "last": figures, "modelContextWindow": 200_000}
    turn.notify("thread/tokenUsage/updated", tokenUsage=usage)


def _title(turn: Turn, step: Step) -> None:
    turn.thread.name = step.text
    turn.stage.notify(turn.thread, "thread/name/updated", threadName=step.text)


def _recall(turn: Turn, step: Step) -> None:
    said = [
        item["content"][0]["text"]
        for earlier in turn.thread.turns[:-1]
        for item in earlier["items"]
        if item["type"] == "userMessage"
    ]
    turn.text(f"I remember {len(said)}: " + " | ".join(said))


def _settings(turn: Turn, step: Step) -> None:
    held = turn.thread.settings
    turn.text(json.dumps({"cwd": held.cwd, "model": held.model, "sandbox": held.sandbox}))


def _background(turn: Turn, step: Step) -> None:
    """A command that goes on whatever becomes of the turn."""
    item = turn.begin(turn.command("sleep 600"))
    turn.thread.commands[item["processId"]] = (turn, item)

    def end() -> None:
        if turn.thread.commands.pop(item["processId"], None) is not None:
            turn.complete(item, status="completed", aggregatedOutput="begun\nended\n", exitCode=0)

    turn.stage.later(step.first_number(100) / 1000, end)


def _retry(turn: Turn, step: Step) -> None:
    """The model's stream breaks off and is tried again."""
    turn.abandon_text()
    for number in range(1, step.first_number(1) + 1):
        error = failure({"responseStreamDisconnected": {}}, f"Reconnecting... {number}/5")
        turn.notify("error", error=error, willRetry=True)


def _fail(turn: Turn, step: Step) -> Ending:
    """The turn fails: with the kind of error, its `status`, and whatever text stands after it."""
    words = step.text.split()
    name = words[0] if words else "other"
    status = step.options.get("status")
    info: object = {name: {"httpStatusCode": int(status)}} if status is not None else name
    return Ending("failed", failure(info, " ".join(words[1:]) or "The model failed."))


def _refuse(turn: Turn, step: Step) -> Ending:
    return Ending("failed", failure("cyberPolicy"))


def _stop(turn: Turn, step: Step) -> Ending:
    return Ending(step.text or "stoppedSomehow")


def _error(turn: Turn, step: Step) -> Ending:
    return Ending("failed", failure("other", "The scripted agent was asked to fail."))


def _silent_end(turn: Turn, step: Step) -> Ending:
    return Ending(silent=True)


def _warning(turn: Turn, step: Step) -> None:
    turn.stage.notify(turn.thread, "warning", message=step.text or "Take care")


def _config_warning(turn: Turn, step: Step) -> None:
    turn.stage.send(
        {"method": "configWarning", "params": {"summary": step.text or "unrecognized key", "details": None}}
    )


# --- more than one thread or turn ---------------------------------------------------------------------------------


def _goal(turn: Turn, step: Step) -> None:
    """The server begins so many turns by itself when this one is over."""
    turn.thread.own_turns += [("goal", step.number("lasts", 20))] * step.first_number(2)


def _review(turn: Turn, step: Step) -> None:
    """A review follows: a turn of the server's own that is announced by another id than it is told of by."""
    turn.thread.own_turns.append(("review", step.number("lasts", 20)))


def _wrong_id(turn: Turn, step: Step) -> None:
    """It is stopped by another id than the one it is told of by; `refuses=N` interrupts are refused so."""
    turn.refused_stops = step.number("refuses", 1)


def _stray(turn: Turn, step: Step) -> None:
    """A thread and a turn that are nobody's, and a request of that thread."""
    told = {"turnId": "stray-turn", "itemId": "msg_1", "delta": "stray"}
    for thread_id in ("stray-thread", turn.thread.thread_id):
        params = {"threadId": thread_id, **told}
        turn.stage.send({"method": "item/agentMessage/delta", "params": params})
        ended = {"threadId": thread_id, "turn": {"id": "stray-turn", "status": "completed", "items": []}}
        turn.stage.send({"method": "turn/completed", "params": ended})
    asked = {"threadId": "stray-thread", "turnId": "stray-turn", "itemId": "call_1", "command": "x"}
    turn.stage.send(
        {"id": "stray-request", "method": "item/commandExecution/requestApproval", "params": asked}
    )


def _child(turn: Turn, step: Step) -> None:
    """A sub-agent, whose thread asks for something."""
    child_id = f"{turn.thread.thread_id}-child"
    shown = {"id": child_id, "parentThreadId": turn.thread.thread_id}
    turn.stage.send({"method": "thread/started", "params": {"thread": shown}})
    asked = {"threadId": child_id, "turnId": "child-turn", "itemId": "call_1", "command": "x"}
    turn.stage.send(
        {"id": "child-request", "method": "item/commandExecution/requestApproval", "params": asked}
    )


def _spawn(turn: Turn, step: Step) -> None:
    """A sub-agent by that name, which does what `does` says: directives without brackets, separated by semicolons.

    It is told by an activity; with `called` by a call, which names its thread only when the sub-agent works already; with
    `unshown` not at all. With `after` it begins so many milliseconds later, whatever has become of this turn.
    """
    wait_ms = step.number("after", 0)
    if wait_ms:
        turn.stage.later(wait_ms / 1000, lambda: turn.stage.spawn(turn, step))
    else:
        turn.stage.spawn(turn, step)


def _unknown_id(turn: Turn, step: Step) -> None:
    for wrong in (999_999, "no such request", None):
        turn.stage.send({"id": wrong, "result": {"turn": {"id": "nobody's"}}})


def _unload(turn: Turn, step: Step) -> None:
    """The server lets the thread go though it is in use."""
    turn.stage.send({"method": "thread/closed", "params": {"threadId": turn.thread.thread_id}})


# --- about the end ------------------------------------------------------------------------------------------------


def _ignore_cancel(turn: Turn, step: Step) -> None:
    turn.ignores_cancel = True


def _cancel_late(turn: Turn, step: Step) -> None:
    turn.cancel_seconds = step.first_number(2000) / 1000


def _late(turn: Turn, step: Step) -> None:
    turn.late_seconds.append(step.first_number(500) / 1000)


def _twice(turn: Turn, step: Step) -> None:
    turn.answers_twice = True


def _shared(act: Callable[[Any, Step], Any]) -> Directive:
    """What misbehaves on any wire. A process that ends itself has no end of its turn to tell."""

    def part(turn: Turn, step: Step) -> Part:
        if act(turn, step) is not None:
            return Ending(silent=True)
        yield 0.0
        return None

    return part


DIRECTIVES: Final[dict[str, Directive]] = {
    "background": at_once(_background),
    "cancel-late": at_once(_cancel_late),
    "child": at_once(_child),
    "config-warning": at_once(_config_warning),
    "edit": at_once(_edit),
    "error": at_once(_error),
    "fail": at_once(_fail),
    "goal": at_once(_goal),
    "hang": _hang,
    "ignore-cancel": at_once(_ignore_cancel),
    "late": at_once(_late),
    "output": _output,
    "plan": at_once(_plan),
    "propose": at_once(_propose),
    "recall": at_once(_recall),
    "refuse": at_once(_refuse),
    "retry": at_once(_retry),
    "review": at_once(_review),
    "say": at_once(_say),
    "settings": at_once(_settings),
    "silent-end": at_once(_silent_end),
    "sleep": _sleep,
    "spawn": at_once(_spawn),
    "slow": _sleep,
    "stop": at_once(_stop),
    "stray": at_once(_stray),
    "stream": _stream,
    "think": _think,
    "title": at_once(_title),
    "tool": at_once(_tool),
    "twice": at_once(_twice),
    "unknown-id": at_once(_unknown_id),
    "unload": at_once(_unload),
    "usage": at_once(_usage),
    "warning": at_once(_warning),
    "wrong-id": at_once(_wrong_id),
    **ASKING,
    **{word: _shared(act) for word, act in SHARED_MISCHIEF.items()},
}
"""Every directive of a prompt. `early`, `reject` and `silent-start` are looked for before its turn begins."""
