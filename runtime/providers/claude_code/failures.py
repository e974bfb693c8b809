"""How a turn of Claude Code ended and why something failed, in codes of `contract §7` and in words of ours.

Owns the judgement of `result` frames. `is_error` counts first, then the terminal reason, then the subtype: a result may
call itself a success and be the failure of an API call. Claude Code's own messages are read to tell kinds apart and are
never passed on; a sign-in problem is only what is typed as one (PR-023, PR-025).
"""

import re
from typing import Final

import attrs

from runtime.providers.jsonrpc.members import Members, count_of, list_of, text_of
from store.canonical.common import TurnError
from store.canonical.turn import TurnOutcome

_TEXTS: Final = {
    "provider.auth_required": "Claude Code wants to be signed in first.",
    "provider.rate_limited": "Claude Code's model is limiting requests right now.",
    "provider.quota": "Claude Code's account has no usage left.",
    "provider.context_full": "The conversation no longer fits into the model's context.",
    "provider.refused": "The model refused to go on.",
    "provider.stopped": "Claude Code stopped before it was done.",
    "provider.rejected": "Claude Code answered with an error.",
    "provider.timeout": "Claude Code did not answer in time.",
    "provider.protocol": "Claude Code does not keep to its protocol.",
    "provider.model_unavailable": "Claude Code's model service does not know the chosen model.",
    "provider.unavailable": "The conversation is not open with Claude Code.",
    "session.not_resumable": "Claude Code no longer has this conversation.",
    "session.busy": "Claude Code is still working on another turn of this conversation.",
    "settings.invalid": "Claude Code does not take one of the chosen settings.",
    "interaction.not_pending": "Claude Code no longer waits for this answer.",
    "interaction.unsupported_answer": "Claude Code did not offer this answer.",
    "capability.unsupported": "This version of Claude Code is not known to be able to do that.",
    "turn.mismatch": "The turn takes no guidance now.",
    "turn.settled": "The turn has ended.",
    "internal": "The conversation is already open or opening.",
}
_RETRYABLE: Final = frozenset(
    {"provider.rate_limited", "provider.timeout", "provider.unavailable", "turn.mismatch"}
)
_STATUS_CODES: Final = {
    401: "provider.auth_required",
    402: "provider.quota",
    429: "provider.rate_limited",
    529: "provider.rate_limited",
}
_TYPE_CODES: Final = {
    "authentication_error": "provider.auth_required",
    "authentication_failed": "provider.auth_required",
    "billing_error": "provider.quota",
    "rate_limit_error": "provider.rate_limited",
    "rate_limit": "provider.rate_limited",
    "overloaded_error": "provider.rate_limited",
    "not_found_error": "provider.model_unavailable",
    "model_not_found": "provider.model_unavailable",
}
_STOP_CODES: Final = {
    "refusal": "provider.refused",
    "max_tokens": "provider.context_full",
    "model_context_window_exceeded": "provider.context_full",
}
_CONTEXT: Final = re.compile(
    r"prompt is too long|input length and .{0,20}max_tokens.{0,20}exceed", re.IGNORECASE
)
_GONE: Final = re.compile(r"no conversation found", re.IGNORECASE)
_SCANNED_CHARACTERS: Final = 2000


@attrs.frozen
class Ending:
    """How a turn ended, by the contract's table of stop reasons."""

    outcome: TurnOutcome
    stop_reason: str | None = None
    error: TurnError | None = None


def provider_error(
    code: str, message: str | None = None, *, http_status: int | None = None, retryable: bool | None = None
) -> TurnError:
    """An error of the provider with our text for its code, unless a better one of ours is at hand."""
    may_retry = code in _RETRYABLE if retryable is None else retryable
    return TurnError(code, message or _TEXTS[code], "provider", may_retry, http_status=http_status)


def runtime_error(code: str, message: str | None = None) -> TurnError:
    """An error that is not the provider's doing."""
    return TurnError(code, message or _TEXTS[code], "runtime", code in _RETRYABLE)


def was_aborted(result: Members) -> bool:
    """Whether the turn was broken off: by an interrupt, or by a refusal that was to stop it."""
    return (text_of(result.get("terminal_reason")) or "").startswith("aborted")


def ending_of(result: Members) -> Ending:
    """What a `result` says of its turn."""
    reason, stop = text_of(result.get("terminal_reason")), text_of(result.get("stop_reason"))
    if was_aborted(result):
        return Ending("canceled", reason)
    if result.get("is_error") is True:
        return Ending("failed", reason or text_of(result.get("subtype")), result_failure(result))
    if result.get("subtype") != "success":
        return Ending("failed", text_of(result.get("subtype")), provider_error("provider.stopped"))
    if stop in _STOP_CODES:
        return Ending("failed", stop, provider_error(_STOP_CODES[stop]))
    return Ending("completed", stop or "end_turn")


def result_failure(result: Members) -> TurnError:
    """Why a result that is an error is one. A status and a type count; prose only tells that a prompt was too long."""
    status = count_of(result.get("api_error_status"))
    kind = text_of(result.get("api_error_type")) or ""
    code = _STATUS_CODES.get(status or 0) or _TYPE_CODES.get(kind)
    if code is None and _CONTEXT.search(_words_of(result)):
        code = "provider.context_full"
    if code is None and (text_of(result.get("subtype")) or "").startswith("error_max"):
        code = "provider.stopped"
    passing = code is None and ((status or 0) >= 500 or (status is None and _is_api_error(result)))
    return provider_error(
        code or "provider.rejected", http_status=status, retryable=True if passing else None
    )


def start_failure(result: Members) -> TurnError:
    """Why a process ended instead of becoming ready (FC-07)."""
    if _GONE.search(_words_of(result)):
        return provider_error("session.not_resumable")
    return result_failure(result)


def _is_api_error(result: Members) -> bool:
    return result.get("terminal_reason") == "api_error"


def _words_of(result: Members) -> str:
    texts = [result.get("result"), *list_of(result.get("errors"))]
    return "\n".join(text for text in texts if isinstance(text, str))[:_SCANNED_CHARACTERS]
