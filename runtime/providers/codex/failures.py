"""Why something failed with Codex, in codes of `contract §7` and in words of ours.

Owns the judgement of `codexErrorInfo` and of error answers. The provider's own messages are never passed on: some of
them hold addresses. A sign-in problem is only what is typed as one: neither prose nor a 403 is (PR-023, PR-025).
"""

import re
from typing import Final

from runtime.providers.jsonrpc.members import count_of, object_of, text_of
from runtime.providers.jsonrpc.peer import INVALID_PARAMS, ErrorResponse
from store.canonical.common import Json, TurnError

_TEXTS: Final = {
    "provider.auth_required": "Codex wants to be signed in first.",
    "provider.rate_limited": "Codex's model is limiting requests right now.",
    "provider.quota": "Codex's account has no usage left.",
    "provider.context_full": "The conversation no longer fits into the model's context.",
    "provider.refused": "The model refused to go on.",
    "provider.stopped": "Codex stopped before it was done.",
    "provider.rejected": "Codex answered with an error.",
    "provider.timeout": "Codex did not answer in time.",
    "provider.protocol": "Codex does not keep to its protocol.",
    "provider.model_unavailable": "Codex does not take the chosen model.",
    "provider.unavailable": "The conversation is not open with Codex.",
    "provider.lost": "Codex has unloaded the conversation.",
    "request.too_large": "The prompt is larger than Codex takes.",
    "session.not_resumable": "Codex no longer has this conversation.",
    "session.busy": "Codex is still working on another turn of this conversation.",
    "settings.invalid": "Codex does not take one of the chosen settings.",
    "interaction.not_pending": "Codex no longer waits for this answer.",
    "interaction.unsupported_answer": "Codex did not offer this answer.",
    "capability.unsupported": "This version of Codex is not known to be able to do that.",
    "turn.mismatch": "The turn takes no guidance now.",
    "turn.settled": "The turn has ended.",
}
_RETRYABLE: Final = frozenset(
    {"provider.rate_limited", "provider.timeout", "provider.lost", "turn.mismatch", "provider.unavailable"}
)

_INFO_CODES: Final = {
    "contextWindowExceeded": "provider.context_full",
    "sessionBudgetExceeded": "provider.quota",
    "usageLimitExceeded": "provider.quota",
    "rateLimitExceeded": "provider.rate_limited",
    "flexUnavailable": "provider.rate_limited",
    "serverOverloaded": "provider.rate_limited",
    "policyCapacityUnavailable": "provider.rate_limited",
    "modelNotFound": "provider.model_unavailable",
    "inferenceHookDenied": "provider.refused",
    "cyberPolicy": "provider.refused",
    "bioPolicy": "provider.refused",
    "misalignmentPolicyViolation": "provider.refused",
    "tooManyDenials": "provider.stopped",
    "unauthorized": "provider.auth_required",
}
_STATUS_CODES: Final = {
    401: "provider.auth_required",
    402: "provider.quota",
    429: "provider.rate_limited",
}
_PASSING_TROUBLE: Final = frozenset(
    {
        "internalServerError",
        "httpConnectionFailed",
        "responseStreamConnectionFailed",
        "responseStreamDisconnected",
        "responseTooManyFailedAttempts",
    }
)
"""Failures of the way to the model: the same prompt may succeed later, unless a status says otherwise."""

_NAMED_TURN: Final = re.compile(r"expected active turn id `?[^`\s]+`? but found `?([^`\s]+?)`?(?:\s|$)")
_NO_TURN: Final = re.compile(r"no active turn", re.IGNORECASE)
_GONE: Final = re.compile(r"no rollout found|invalid (?:session|thread) id|thread not found", re.IGNORECASE)
_HELD: Final = re.compile(r"active writer", re.IGNORECASE)
_NOT_LOADED: Final = re.compile(r"thread not (?:found|loaded)", re.IGNORECASE)


def provider_error(
    code: str, message: str | None = None, *, http_status: int | None = None, retryable: bool | None = None
) -> TurnError:
    """An error of the provider with our text for its code, unless a better one of ours is at hand."""
    may_retry = code in _RETRYABLE if retryable is None else retryable
    return TurnError(code, message or _TEXTS[code], "provider", may_retry, http_status=http_status)


def runtime_error(code: str, message: str | None = None) -> TurnError:
    """An error that is not the provider's doing."""
    return TurnError(code, message or _TEXTS[code], "runtime", code in _RETRYABLE)


def turn_failure(error: Json) -> TurnError:
    """What a turn failed with, from the `error` of `turn/completed`."""
    name, status = error_info(error)
    code = _STATUS_CODES.get(status or 0) or _INFO_CODES.get(name, "provider.rejected")
    passing = name in _PASSING_TROUBLE and (status is None or status >= 500)
    return provider_error(code, http_status=status, retryable=True if passing else None)


def error_info(error: Json) -> tuple[str, int | None]:
    """The kind of a turn's error, empty when it is not typed, and the HTTP status where one came along."""
    info = object_of(error).get("codexErrorInfo")
    if isinstance(info, str):
        return info, None
    for name, details in object_of(info).items():
        return name, count_of(object_of(details).get("httpStatusCode"))
    return "", None


def request_failure(answer: ErrorResponse) -> TurnError:
    """Why a request was refused. Nearly all refusals have one code, so only what is typed tells them apart."""
    kind = text_of(object_of(answer.data).get("input_error_code"))
    if answer.code == INVALID_PARAMS and kind == "input_too_large":
        return provider_error("request.too_large")
    return provider_error("provider.rejected")


def open_failure(answer: ErrorResponse, resuming: bool) -> tuple[TurnError, bool]:
    """Why a thread did not open, and whether the old one is gone for good (FC-07).

    Only words that were seen for a missing rollout mean that: taking a passing trouble for it would end a conversation
    that is still there.
    """
    if resuming and _HELD.search(answer.message):
        text = "Another process still holds this conversation."
        return provider_error("provider.unavailable", text, retryable=True), False
    if resuming and _GONE.search(answer.message):
        return provider_error("session.not_resumable"), True
    return request_failure(answer), False


def named_turn(answer: ErrorResponse) -> str | None:
    """The turn that is active instead, where a refused interrupt names one (FC-02)."""
    named = _NAMED_TURN.search(answer.message)
    return named.group(1) if named else None


def names_no_turn(answer: ErrorResponse) -> bool:
    """Whether Codex says that no turn is active at all."""
    return _NO_TURN.search(answer.message) is not None


def is_not_loaded(answer: ErrorResponse) -> bool:
    """Whether the process does not hold the thread any more."""
    return _NOT_LOADED.search(answer.message) is not None
