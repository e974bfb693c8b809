"""The closed table of error codes (`contract §7`) and the `data` of an error reply.

A refusal itself is `runtime.refusal.Refusal`: decided anywhere, it names a code of this table. What a client reads
is ours alone: the message belongs to the code, and no provider text, path, credential or token is ever part of it.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import attrs

from runtime.refusal import Refusal as Refusal
from store.canonical.turn import Delivery

PARSE_ERROR = -32700
INVALID_REQUEST = -32600
METHOD_NOT_FOUND = -32601
INVALID_PARAMS = -32602
INTERNAL_ERROR = -32603
SERVER_ERROR = -32000


@attrs.frozen
class ErrorCode:
    """One code: the message sent with it, when it is given, and whether the same request may succeed later."""

    code: str
    message: str
    when: str
    retryable: bool = False
    """The same request with the same ids may succeed later, without another request in between."""
    number: int = SERVER_ERROR
    """The JSON-RPC number."""
    other_numbers: tuple[int, ...] = ()
    """Numbers given instead where the frame itself is at fault."""


@attrs.frozen(kw_only=True)
class ErrorData:
    """`data` of an error reply."""

    code: str
    retryable: bool
    delivery: Delivery
    """What is known of the command's way to the provider; `not_dispatched` leaves nothing and frees its id."""
    retry_after_ms: int | None = None
    """Not before so many milliseconds."""
    details: Mapping[str, Any]
    """What belongs to this code, such as `path` and `problem` of `request.invalid`."""


def error_data(refusal: Refusal) -> ErrorData:
    """The `data` that tells a client of this refusal."""
    return ErrorData(
        code=refusal.code,
        retryable=ERRORS[refusal.code].retryable,
        delivery=refusal.delivery,
        retry_after_ms=refusal.retry_after_ms,
        details=refusal.details,
    )


_ENVELOPE = (PARSE_ERROR, INVALID_REQUEST)

_TABLE = (
    # The request itself.
    ErrorCode(
        "request.invalid",
        "The request is not what the contract asks for.",
        "The frame is not JSON, is no JSON-RPC request, reuses an id in flight, or its params have a missing, "
        "unknown or ill-formed member. `details.path` names it, `details.problem` says what is wrong.",
        number=INVALID_PARAMS,
        other_numbers=_ENVELOPE,
    ),
    ErrorCode(
        "request.unknown_method",
        "There is no such method.",
        "The contract does not name this method. One it names but this server does not serve is "
        "`capability.unsupported`.",
        number=METHOD_NOT_FOUND,
    ),
    ErrorCode(
        "request.too_large",
        "The request holds more than may be taken.",
        "The frame was small enough, but a message it would make is over `maxMessageBytes`, or an attachment over "
        "`maxAttachmentBytes`.",
    ),
    ErrorCode(
        "auth.forbidden",
        "The token does not allow this.",
        "The token's scope, workspaces, `roots` or `maxEffect` do not cover the request; `details.limit` says which of "
        "the last two.",
    ),
    ErrorCode(
        "protocol.uninitialized",
        "The connection has not been initialized.",
        "Any request before `initialize` was answered.",
    ),
    ErrorCode(
        "protocol.unsupported",
        "This protocol version is not spoken here.",
        "`initialize` asked for another version; `details.supported` lists those spoken.",
    ),
    # Sessions.
    ErrorCode(
        "session.not_found",
        "There is no such session.",
        "No session of this id was ever made in this workspace, or it was purged. Never given for a timeout. "
        "`details.agentSessionIds` names them where several were asked for.",
    ),
    ErrorCode(
        "session.exists",
        "A session of this id exists.",
        "`session/create` names an id that is taken; by a deleted session too. Or `session/purge` names sessions that "
        "are not deleted: `details.agentSessionIds`.",
    ),
    ErrorCode(
        "session.busy",
        "The session has an unsettled turn.",
        "A prompt while a turn is not settled: prompts are never queued. Or the session is being deleted.",
        retryable=True,
    ),
    ErrorCode(
        "session.deleted",
        "The session was deleted.",
        "The session is deleted and not purged yet; `session/restore` brings it back.",
    ),
    ErrorCode(
        "session.not_resumable",
        "The provider no longer has this conversation.",
        "The provider lost what it needs to go on. `session/resume` with mode `fresh` starts an empty one.",
    ),
    ErrorCode(
        "session.quarantined",
        "The session is quarantined.",
        "It failed too often within a short time: it stays readable, and `session/resume` opens it again. Or what is "
        "stored of it cannot be read: the log says what, and nothing else is affected.",
    ),
    ErrorCode(
        "session.cwd_missing",
        "The session's working directory does not exist.",
        "The directory is gone or is none. Once it is back the same request works.",
        retryable=True,
    ),
    ErrorCode(
        "isolation.refused",
        "The session's checkout cannot be made.",
        "`session/create` with `isolation`: `details.reason` says why (git_missing, not_a_repository, bare_repository, "
        "foreign_owner, unborn_branch, submodules, project_not_committed, branch_taken, path_taken, mismatch, kept or "
        "git_failed), `details.advice` what to do. Nothing was made.",
    ),
    # Turns and interactions.
    ErrorCode("turn.not_found", "There is no such turn.", "The session has no turn of this id."),
    ErrorCode(
        "turn.mismatch",
        "The turn takes no guidance now.",
        "The turn is unsettled but not at a point where guidance reaches it.",
        retryable=True,
    ),
    ErrorCode("turn.settled", "The turn has ended.", "Guidance for a settled turn."),
    ErrorCode(
        "interaction.not_found",
        "There is no such interaction.",
        "The turn has no interaction of this request id.",
    ),
    ErrorCode(
        "interaction.not_pending",
        "The interaction takes no answer any more.",
        "It has another answer, or was superseded, by a cancel for one. `details.interaction` is the row.",
    ),
    ErrorCode(
        "interaction.unsupported_answer",
        "This answer was not offered.",
        "The option, question or feedback is none the interaction offers. It stays pending.",
    ),
    # Submits.
    ErrorCode(
        "submit.conflict",
        "The submit id was used for something else.",
        "The `clientSubmitId` belongs to another method or to other params.",
    ),
    ErrorCode(
        "submit.delivery_unknown",
        "Whether the provider took this is unknown.",
        "The provider gave no answer. The id stays bound and nothing is sent again by itself; where the same request is "
        "repeated later, `details.turn` is the row.",
    ),
    # Targets and providers.
    ErrorCode("target.not_found", "There is no such target.", "The configuration has no target of this id."),
    ErrorCode("target.disabled", "The target is disabled.", "The configuration disables this target."),
    ErrorCode(
        "provider.unavailable",
        "The provider could not be started.",
        "Its program is missing, does not start, or its handshake fails.",
        retryable=True,
    ),
    ErrorCode(
        "provider.auth_required",
        "The provider asks for a login.",
        "The provider refuses to work until somebody logs in with its own program.",
        retryable=True,
    ),
    ErrorCode(
        "provider.rejected", "The provider rejected this.", "The provider answered the command with an error."
    ),
    ErrorCode(
        "provider.timeout",
        "The provider did not answer in time.",
        "A deadline of `limits` passed; `delivery` says what is known.",
        retryable=True,
    ),
    ErrorCode(
        "provider.lost",
        "The provider's process ended.",
        "The process or its connection went away during the command or turn, exit status 0 included.",
        retryable=True,
    ),
    ErrorCode(
        "provider.protocol",
        "The provider broke its protocol.",
        "What the provider sent cannot be understood.",
    ),
    ErrorCode(
        "provider.rate_limited",
        "The provider is limiting requests.",
        "The provider refused for the moment; `retryAfterMs` where it said how long.",
        retryable=True,
    ),
    ErrorCode(
        "provider.quota",
        "The provider's quota is used up.",
        "The account's allowance or credit is spent.",
        retryable=True,
    ),
    ErrorCode(
        "provider.context_full",
        "The conversation is too long for the model.",
        "The context or token limit was reached.",
    ),
    ErrorCode(
        "provider.model_unavailable",
        "The model is not available.",
        "The provider does not know the model or does not give access to it.",
    ),
    ErrorCode("provider.refused", "The model refused.", "The model declined to answer the prompt."),
    ErrorCode(
        "provider.stopped",
        "The provider stopped for another reason.",
        "A stop reason without a code of its own; the turn's `stopReason` has it verbatim.",
    ),
    # What cannot be done here.
    ErrorCode(
        "capability.unsupported",
        "This is not supported here.",
        "The method is named in the contract but not served, or the target or session cannot do it. A child session "
        "cannot be deleted, restored or purged without its root: `details.agentSessionIds`.",
    ),
    ErrorCode(
        "settings.launch_only",
        "The setting cannot change any more.",
        "A setting that only counts at launch, after the session was started.",
    ),
    ErrorCode(
        "settings.invalid",
        "The setting is unknown or takes another value.",
        "`details.key` names the setting.",
    ),
    # Goals, forks, history.
    ErrorCode("goal.conflict", "The goal has changed.", "The goal is at another revision than the command."),
    ErrorCode(
        "fork.not_eligible",
        "This turn cannot be forked.",
        "The source, its turn or its provider does not allow it.",
    ),
    ErrorCode(
        "fork.unknown",
        "Whether the fork was made is unknown.",
        "The provider gave no answer. It is not asked again by itself.",
    ),
    ErrorCode(
        "history.revision_conflict",
        "The history has changed.",
        "The session is at another `historyRevision` than the command.",
    ),
    ErrorCode(
        "history.fenced",
        "The history is being changed.",
        "An edit of the history is unfinished; `editRetry/recover` ends it.",
    ),
    # Sides, attachments, operations.
    ErrorCode(
        "side.not_found",
        "There is no such Side.",
        "No Side of this id is open, and none is remembered.",
    ),
    ErrorCode("side.expired", "The Side has ended.", "The Side ended and is still remembered."),
    ErrorCode(
        "side.exists",
        "A Side of this id exists.",
        "The id belongs to a Side of another source, or to a session.",
    ),
    ErrorCode(
        "attachment.unsupported",
        "The target does not take this content.",
        "A block the target cannot take, or a media type that is not stored. Never dropped silently.",
    ),
    ErrorCode(
        "attachment.not_found",
        "There is no such attachment.",
        "The id is unknown in this workspace and session, or was unused for too long.",
    ),
    ErrorCode("operation.not_found", "There is no such operation.", "No operation of this id is known."),
    # Bounds and the service itself.
    ErrorCode(
        "limit.exceeded",
        "A limit of the service is reached.",
        "`details.limit` names the member of `limits`, or the key of the token's own bound; `retryAfterMs` where it is "
        "known when there is room again.",
        retryable=True,
    ),
    ErrorCode(
        "overloaded",
        "Too many commands are waiting.",
        "The session's or the connection's queue of commands is full.",
        retryable=True,
    ),
    ErrorCode(
        "store.full",
        "The disk is full.",
        "Nothing was written. Stops and settlements still work.",
        retryable=True,
    ),
    ErrorCode(
        "store.unavailable",
        "The database cannot be read or written.",
        "An input or output error of the disk.",
        retryable=True,
    ),
    ErrorCode(
        "recording.conflict",
        "Another recording is active.",
        "One recording runs at a time.",
        retryable=True,
    ),
    ErrorCode("recording.invalid", "The recording cannot be used.", "It is damaged or of another version."),
    ErrorCode(
        "shutdown.in_progress",
        "The service is stopping.",
        "A command after the stop began.",
        retryable=True,
    ),
    ErrorCode(
        "internal",
        "Something failed inside the service.",
        "A bug: it is logged and kept to this request. What the command did is told by a read.",
        number=INTERNAL_ERROR,
    ),
)

ERRORS: Mapping[str, ErrorCode] = MappingProxyType({entry.code: entry for entry in _TABLE})
"""Every code there is."""
