"""What Codex asks of its client, by a closed table: who answers each request, and with what when nobody may.

Owns the set of known requests and the typed refusals. That a schema knows a request does not make it right to refuse
it in silence, nor to accept it: each is put to a person, or declined in its own words, or failed (PR-014, RT-016).
"""

from collections.abc import Mapping
from typing import Final, Literal, TypeAlias

import attrs

from runtime.providers.jsonrpc.peer import METHOD_NOT_FOUND, JsonRpcPeer, Request
from runtime.providers.output_batch import OutputBatch
from runtime.providers.port import Write
from store.canonical.common import Json
from store.canonical.identifiers import CallId
from store.canonical.interaction import (
    InteractionInput,
    InteractionKind,
    InteractionOption,
    OptionKind,
    QuestionAnswer,
)

COMMAND_APPROVAL: Final = "item/commandExecution/requestApproval"
FILE_APPROVAL: Final = "item/fileChange/requestApproval"
PERMISSIONS_APPROVAL: Final = "item/permissions/requestApproval"
USER_INPUT: Final = "item/tool/requestUserInput"
ELICITATION: Final = "mcpServer/elicitation/request"

NOBODY_ANSWERS: Final = -32000
REJECTING: Final[frozenset[OptionKind]] = frozenset({"reject_once", "reject_always", "stop"})

Refusal: TypeAlias = Literal["decline", "cancel"]
"""Declined, the turn goes on without it; cancelled, Codex may end the turn over it."""

_NOTHING_GRANTED: Final[Json] = {"permissions": {}, "scope": "turn"}

_REFUSALS: Final[Mapping[str, Mapping[Refusal, Json]]] = {
    COMMAND_APPROVAL: {"decline": {"decision": "decline"}, "cancel": {"decision": "cancel"}},
    FILE_APPROVAL: {"decline": {"decision": "decline"}, "cancel": {"decision": "cancel"}},
    PERMISSIONS_APPROVAL: {"decline": _NOTHING_GRANTED, "cancel": _NOTHING_GRANTED},
    ELICITATION: {
        "decline": {"action": "decline", "content": None, "_meta": None},
        "cancel": {"action": "cancel", "content": None, "_meta": None},
    },
    "execCommandApproval": {"decline": {"decision": "denied"}, "cancel": {"decision": "abort"}},
    "applyPatchApproval": {"decline": {"decision": "denied"}, "cancel": {"decision": "abort"}},
}
_FAILED: Final = frozenset(
    {USER_INPUT, "item/tool/call", "account/chatgptAuthTokens/refresh", "attestation/generate"}
)
"""Known requests without a word for no: an error makes the tool call fail, and the turn goes on."""

KNOWN: Final = frozenset(_REFUSALS) | _FAILED


@attrs.frozen
class Asked:
    """A request as something a person can answer exactly; complete from the start (RT-014)."""

    kind: InteractionKind
    input: InteractionInput
    options: tuple[InteractionOption, ...] = ()
    replies: Mapping[str, Json] = attrs.field(factory=dict)
    """What goes back for each option, by its id."""
    questions: frozenset[str] = frozenset()
    """The ids that a set of answers may hold."""
    call_id: CallId | None = None
    item_id: str | None = None
    """The item it is about, by Codex's id."""


@attrs.frozen
class Unusable:
    """A request that cannot be put to a person; `reason` is for the diagnostics."""

    reason: str


def refuse(peer: JsonRpcPeer, request: Request, how: Refusal, out: OutputBatch) -> None:
    """Answer a request that nobody will answer, in the words its method has for that."""
    refusals = _REFUSALS.get(request.method)
    if refusals is not None:
        out.add(Write(peer.respond(request.id, refusals[how])))
    elif request.method in _FAILED:
        out.add(Write(peer.refuse(request.id, NOBODY_ANSWERS, "Nobody can answer this here")))
    else:
        out.add(Write(peer.refuse(request.id, METHOD_NOT_FOUND, "Method not found")))


def answers_reply(answer: QuestionAnswer) -> Json:
    """What goes back for answered questions: exactly those that were answered (RT-022)."""
    return {
        "answers": {
            question_id: {"answers": [text] if isinstance(text, str) else list(text)}
            for question_id, text in answer.answers_by_question_id.items()
        }
    }
