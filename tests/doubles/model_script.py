"""What the scripted model answers, written into the prompt itself: the words for it, and how they are read again.

A script is a list of steps, one for each request an agent makes in the turn of that prompt; a step is a list of
parts. Which step a request gets follows from the request alone, so that any number of sessions may use one model.
"""

import json
from collections.abc import Sequence
from typing import Any, TypeAlias

Json: TypeAlias = dict[str, Any]
Part: TypeAlias = str | Json
"""Text that is streamed as one piece, or what one of the functions below makes."""

MARK = "@model "
_TOOL_OUTPUTS = ("function_call_output", "custom_tool_call_output", "local_shell_call_output")


def script(*steps: Sequence[Part]) -> str:
    """The part of a prompt that tells the model what to answer, request by request; the last step is repeated."""
    return MARK + json.dumps(steps)


def think(text: str) -> Json:
    """A piece of reasoning, as a summary."""
    return {"think": text}


def hold(name: str) -> Json:
    """Silence until the test releases this name, or the agent hangs up."""
    return {"hold": name}


def pace(seconds: float) -> Json:
    """From here on every piece of text takes this long: a model that is busy."""
    return {"pace": seconds}


def call(tool: str, **arguments: Any) -> Json:
    """A tool call; its output comes with the next request."""
    return {"call": tool, "arguments": arguments}


def give(tool: str, text: str) -> Json:
    """A call of a tool that takes plain text, as a patch is given."""
    return {"give": tool, "text": text}


def refuse(http_status: int, message: str) -> Json:
    """An HTTP error in place of a stream: the only part of its step."""
    return {"refuse": http_status, "message": message}


def fail(code: str, message: str) -> Json:
    """The model breaks off with an error of its own."""
    return {"fail": code, "message": message}


def drop() -> Json:
    """The connection breaks off."""
    return {"drop": True}


# --- reading a request ----------------------------------------------------------------------------------------------


def messages_of(body: Json) -> list[tuple[str, str]]:
    """The messages a model is given, oldest first: role and text."""
    return [(item["role"], _text_of(item)) for item in _items(body) if _is_message(item)]


def tool_outputs_of(body: Json) -> list[str]:
    """What the tools called so far gave, oldest first."""
    outputs = [item.get("output") for item in _items(body) if item.get("type") in _TOOL_OUTPUTS]
    return [output if isinstance(output, str) else json.dumps(output) for output in outputs]


def prompt_of(body: Json) -> str:
    """The newest message of the user that carries a script."""
    return _prompt_and_outputs(body)[0]


def step_of(body: Json) -> list[Part]:
    """What a request is answered with: the step after as many tool outputs as came since its prompt."""
    prompt, outputs = _prompt_and_outputs(body)
    if not prompt:
        return ["This prompt carries no script."]
    # A script may hold another one, for an agent that gives work away: the newest line counts, and its outermost script.
    line = next(line for line in reversed(prompt.split("\n")) if MARK in line)
    steps: list[list[Part]] = json.loads(line.partition(MARK)[2])
    return steps[min(outputs, len(steps) - 1)]


def _prompt_and_outputs(body: Json) -> tuple[str, int]:
    prompt, outputs = "", 0
    for item in _items(body):
        if _is_message(item) and item["role"] == "user" and MARK in _text_of(item):
            prompt, outputs = _text_of(item), 0
        elif item.get("type") in _TOOL_OUTPUTS:
            outputs += 1
    return prompt, outputs


def _items(body: Json) -> list[Json]:
    """What was said, item by item. The Messages API has the results of tools among what the user says."""
    items: list[Json] = list(body.get("input", ()))
    for message in body.get("messages", ()):
        content = message["content"]
        blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
        results = [block for block in blocks if block["type"] == "tool_result"]
        items += [{"type": _TOOL_OUTPUTS[0], "output": _text_of(result)} for result in results]
        if len(results) < len(blocks):
            items.append({"role": message["role"], "content": blocks})
    return items


def _is_message(item: Json) -> bool:
    return bool(item.get("type", "message") == "message")


def _text_of(item: Json) -> str:
    content = item.get("content")
    if isinstance(content, str):
        return content
    return "\n".join(part.get("text", "") for part in content or () if isinstance(part, dict))
