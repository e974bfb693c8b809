"""How an ACP turn ended and why something failed, in codes of `contract §7` and in words of ours.

Owns the judgement of stop reasons and of JSON-RPC errors. A provider's own message is read to tell the kinds apart
and never passed on: the texts below are the only ones a client sees.
"""

import re
from collections.abc import Iterator
from typing import Final

import attrs

from runtime.providers.jsonrpc.members import object_of
from runtime.providers.jsonrpc.peer import ErrorResponse
from store.canonical.common import Json, TurnError
from store.canonical.turn import TurnOutcome

AUTH_REQUIRED: Final = -32000
REQUEST_CANCELLED: Final = -32800

_TEXTS: Final = {
    "provider.auth_required": "The agent wants to be signed in first.",
    "provider.rate_limited": "The agent's model is limiting requests right now.",
    "provider.quota": "The agent's account has no usage left.",
    "provider.context_full": "The conversation no longer fits into the model's context.",
    "provider.refused": "The model refused to go on.",
    "provider.stopped": "The agent stopped before it was done.",
    "provider.rejected": "The agent answered with an error.",
    "provider.timeout": "The agent did not answer in time.",
    "provider.protocol": "The agent does not keep to the protocol.",
    "provider.model_unavailable": "The agent does not take the chosen model.",
    "session.not_resumable": "The agent no longer has this conversation.",
    "session.busy": "The agent is still working on another turn of this conversation.",
    "settings.invalid": "The agent does not take one of the chosen settings.",
    "attachment.unsupported": "The agent does not take pictures.",
    "provider.unavailable": "The conversation is not open with the agent.",
    "interaction.not_pending": "The agent no longer waits for this answer.",
    "interaction.unsupported_answer": "The agent did not offer this answer.",
}
_RETRYABLE: Final = {"provider.rate_limited", "provider.timeout"}

_RATE: Final = re.compile(r"rate[ _-]?limit|too many requests", re.IGNORECASE)
_QUOTA: Final = re.compile(
    r"insufficient[ _]quota|quota[ _](?:is )?exceeded|exceeded your (?:current )?quota|usage[ _]limit|billing[ _]hard[ _]limit"
    r"|credit balance is too low",
    re.IGNORECASE,
)
_CONTEXT: Final = re.compile(
    r"context[ _](?:length|window)[ _](?:is )?exceeded|prompt is too long|maximum context length",
    re.IGNORECASE,
)
_STATUS: Final = re.compile(
    r"(?:^|api error:? |http(?: status)? |status(?: code)?:? |\"(?:code|status)\": ?)([45]\d\d)\b",
    re.IGNORECASE | re.MULTILINE,
)

_SCANNED_CHARACTERS = 2000


@attrs.frozen
class Ending:
    """How a turn ended, by the contract's table of stop reasons."""

    outcome: TurnOutcome
    stop_reason: str | None = None
    error: TurnError | None = None


def provider_error(code: str, message: str | None = None, http_status: int | None = None) -> TurnError:
    """An error of the provider with our text for its code, unless a better one of ours is at hand."""
    return TurnError(code, message or _TEXTS[code], "provider", code in _RETRYABLE, http_status=http_status)


def runtime_error(code: str, message: str | None = None) -> TurnError:
    """An error that is not the provider's doing."""
    return TurnError(code, message or _TEXTS[code], "runtime", code in _RETRYABLE)


def ending_of(stop_reason: str | None) -> Ending:
    """`contract §3`: what a stop reason means. An unknown word is kept and is never a success (FC-11)."""
    match stop_reason:
        case "end_turn":
            return Ending("completed", stop_reason)
        case "cancelled":
            return Ending("canceled", stop_reason)
        case "refusal":
            return Ending("failed", stop_reason, provider_error("provider.refused"))
        case "max_tokens":
            return Ending("failed", stop_reason, provider_error("provider.context_full"))
        case None:
            return Ending("failed", None, provider_error("provider.protocol"))
        case _:
            return Ending("failed", stop_reason, provider_error("provider.stopped"))


def failure_of(error: ErrorResponse) -> TurnError:
    """What kind of failure an error answer is. Codes alone mislead: agents use them freely (FC-11).

    A sign-in problem is the protocol's own code or a status 401: neither prose nor a 403 is one (PR-025).
    """
    words = _words_of(error)
    status = _http_status(error, words)
    if _QUOTA.search(words) or status == 402:
        code = "provider.quota"
    elif _RATE.search(words) or status == 429:
        code = "provider.rate_limited"
    elif _CONTEXT.search(words):
        code = "provider.context_full"
    elif status == 401 or (error.code == AUTH_REQUIRED and status is None):
        code = "provider.auth_required"
    else:
        code = "provider.rejected"
    return provider_error(code, http_status=status)


def open_failure_of(error: ErrorResponse, resuming: bool) -> tuple[TurnError, bool]:
    """Why a conversation did not open, and whether the old one is gone.

    -32002, -32602, -32603 and others all came for an unknown conversation, so on a resume everything that is not
    clearly about sign-in or limits means that it is gone (FC-07).
    """
    failure = failure_of(error)
    if resuming and failure.code in ("provider.rejected", "provider.context_full"):
        return attrs.evolve(provider_error("session.not_resumable"), http_status=failure.http_status), True
    return failure, False


def _words_of(error: ErrorResponse) -> str:
    return "\n".join((error.message, *_texts_in(error.data)))[:_SCANNED_CHARACTERS]


def _texts_in(data: Json) -> Iterator[str]:
    """Texts of the error's data, one level deep: that is where agents put kind, details and message."""
    if isinstance(data, str):
        yield data
    for value in object_of(data).values():
        if isinstance(value, str):
            yield value
        for inner in object_of(value).values():
            if isinstance(inner, str):
                yield inner


def _http_status(error: ErrorResponse, words: str) -> int | None:
    """An HTTP status where one is told: as the code itself, as a member of the data, or plainly in the text."""
    data = object_of(error.data)
    for value in (error.code, *(data.get(name) for name in ("status", "statusCode", "httpStatus", "code"))):
        if type(value) is int and 400 <= value <= 599:
            return value
    told = _STATUS.search(words)
    return int(told.group(1)) if told else None
