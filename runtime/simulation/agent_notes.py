"""What the agents of the simulated world were told, over all lives of the daemon: prompts, and answers to their requests.

Owns the reading of the lines, which are of one wire or another. What stands here survives every crash, so that checkers
can hold against it that nothing was told twice.
"""

import json
import re
from typing import Any, Final

import attrs

from runtime.lifecycle.guidance import submit_id_of

SUBMIT_MARK: Final = re.compile(r"<<([^<>]+)>>")
"""How a prompt of the simulation carries its submit id to the agent."""

_PROMPTS: Final = {"session/prompt": "prompt", "turn/start": "input"}
"""What tells an agent a prompt, and the member that holds it."""


@attrs.frozen
class ToldPrompt:
    """An agent was given a prompt."""

    submit_id: str
    pid: int
    at_seconds: float


@attrs.frozen
class ToldAnswer:
    """An agent was given the answer to a request of its own; `option_id` is None for a cancelled one."""

    pid: int
    request_id: str
    option_id: str | None


@attrs.define
class AgentNotes:
    """Everything the agents were told, over all lives."""

    prompts: list[ToldPrompt] = attrs.field(factory=list)
    answers: list[ToldAnswer] = attrs.field(factory=list)

    def take(self, pid: int, line: bytes, at_seconds: float) -> None:
        """One line that an agent has read."""
        message = json.loads(line)
        member = _PROMPTS.get(message.get("method", ""))
        if member is not None and not _is_guidance(message["params"]):
            text = "".join(block.get("text", "") for block in message["params"][member])
            found = SUBMIT_MARK.search(text)
            self.prompts.append(ToldPrompt(found.group(1) if found else text, pid, at_seconds))
        elif "method" not in message and _is_own_request(message.get("id")):
            self.answers.append(ToldAnswer(pid, str(message["id"]), _chosen(message.get("result"))))


def _is_guidance(params: Any) -> bool:
    """Whether it goes on with a turn whose response has ended: no prompt of its own."""
    return submit_id_of(str(params.get("clientUserMessageId", ""))) is not None


def _is_own_request(request_id: object) -> bool:
    """Whether an answer is to a request of an agent's turn: what is nobody's has other names, over and over."""
    return isinstance(request_id, int) or str(request_id).startswith("demo-request")


def _chosen(result: Any) -> str | None:
    members = result if isinstance(result, dict) else {}
    outcome = members.get("outcome")
    if isinstance(outcome, dict):
        option_id: str | None = outcome.get("optionId")
        return option_id
    chosen = members.get("decision", members.get("action"))
    return chosen if isinstance(chosen, str) else None
