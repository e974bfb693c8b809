"""The table of methods: what each takes, answers and may refuse, and who may call it (`contract §4`).

Owns the names: those served, those the contract names and this server does not serve yet, and those reserved.
Holds no handler; dispatch binds them by name.
"""

from collections.abc import Iterator, Mapping
from types import MappingProxyType

import attrs

from runtime.refusal import Refusal
from runtime.wire import faults, replies, requests
from runtime.wire.replies import TokenScope

COMMON_REFUSALS = (
    "request.invalid",
    "auth.forbidden",
    "protocol.uninitialized",
    "limit.exceeded",
    "overloaded",
    "store.unavailable",
    "shutdown.in_progress",
    "internal",
)
"""What any method may be refused with; not repeated in the table."""

# Quarantined: commands are refused, and rows that cannot be read cannot be shown either.
_SESSION = ("session.not_found", "session.deleted", "session.quarantined")
_COMMAND = (*_SESSION, "store.full", "capability.unsupported")
_TREES = ("session.quarantined", "capability.unsupported", "store.full")
_PROVIDER = (
    "provider.unavailable",
    "provider.auth_required",
    "provider.rejected",
    "provider.timeout",
    "provider.lost",
    "provider.protocol",
)
_SIDE = ("side.not_found", "side.expired")
_CONTENT = ("request.too_large", "attachment.unsupported", "attachment.not_found")


@attrs.frozen
class Method:
    """One method served."""

    name: str
    summary: str
    params: type
    result: type
    scope: TokenScope
    """The least a token must have."""
    needs_workspace: bool = True
    """Whether `workspaceId` is required."""
    session_addressed: bool = False
    """Whether it names one session: such requests of one connection take effect in arrival order (`contract §2`)."""
    drives_agent: bool = False
    """Whether it makes a session's agent work or lets it go further: what a token's roots and `maxEffect` bound."""
    begins_turn: bool = False
    """Whether it begins a turn in a session that is there."""
    with_faults: bool = False
    """Whether it is served by a daemon alone that was started with `--enable-faults`."""
    refusals: tuple[str, ...] = ()
    """Codes it may be refused with besides the common ones."""


_TABLE = (
    Method(
        "initialize",
        "Open the connection; the first request.",
        requests.InitializeParams,
        replies.InitializeReply,
        "read",
        needs_workspace=False,
        refusals=("protocol.unsupported",),
    ),
    Method(
        "session/create",
        "Create a session, with its first prompt or without.",
        requests.SessionCreateParams,
        replies.SessionCreateReply,
        "control",
        refusals=(
            "submit.conflict",
            "session.exists",
            "session.deleted",
            "session.quarantined",
            "session.cwd_missing",
            "target.not_found",
            "target.disabled",
            "settings.invalid",
            "capability.unsupported",
            *_CONTENT,
            "store.full",
        ),
    ),
    Method(
        "session/get",
        "Read a session, its newest turns and its pending interactions.",
        requests.SessionGetParams,
        replies.SessionGetReply,
        "read",
        session_addressed=True,
        refusals=_SESSION,
    ),
    Method(
        "session/list",
        "List the root sessions of a workspace.",
        requests.SessionListParams,
        replies.SessionListReply,
        "read",
    ),
    Method(
        "session/messages",
        "Read messages of a session: what changed, a window, or by id.",
        requests.SessionMessagesParams,
        replies.SessionMessagesReply,
        "read",
        session_addressed=True,
        refusals=_SESSION,
    ),
    Method(
        "session/send",
        "Start a turn with a prompt.",
        requests.SessionSendParams,
        replies.TurnReply,
        "control",
        session_addressed=True,
        drives_agent=True,
        begins_turn=True,
        refusals=(*_COMMAND, "session.busy", "session.not_resumable", "submit.conflict", *_CONTENT),
    ),
    Method(
        "session/close",
        "End the session's runtime; a running turn first.",
        requests.SessionCloseParams,
        replies.SessionReply,
        "control",
        session_addressed=True,
        refusals=(*_SESSION, "store.full", "capability.unsupported", "provider.timeout"),
    ),
    Method(
        "session/resume",
        "Make the session live now.",
        requests.SessionResumeParams,
        replies.SessionReply,
        "control",
        session_addressed=True,
        drives_agent=True,
        refusals=(
            *_SESSION,
            "session.busy",
            "session.not_resumable",
            "session.cwd_missing",
            "target.not_found",
            "target.disabled",
            "capability.unsupported",
            *_PROVIDER,
            "provider.model_unavailable",
            "settings.invalid",
            "store.full",
        ),
    ),
    Method(
        "session/rename",
        "Give a session a title of the user's, or take it away.",
        requests.SessionRenameParams,
        replies.SessionReply,
        "control",
        session_addressed=True,
        refusals=_COMMAND,
    ),
    Method(
        "session/pin",
        "Keep a session at the top of lists, or no longer.",
        requests.SessionPinParams,
        replies.SessionReply,
        "control",
        session_addressed=True,
        refusals=_COMMAND,
    ),
    Method(
        "session/updateSettings",
        "Change settings of a session.",
        requests.SessionUpdateSettingsParams,
        replies.SessionReply,
        "control",
        session_addressed=True,
        drives_agent=True,
        refusals=(
            *_COMMAND,
            "target.not_found",
            "target.disabled",
            "settings.invalid",
            "settings.launch_only",
            "provider.model_unavailable",
            *_PROVIDER,
        ),
    ),
    Method(
        "session/delete",
        "Delete sessions with all below them; what runs in them is ended first.",
        requests.SessionTreesParams,
        replies.SessionsReply,
        "control",
        refusals=(*_TREES, "session.not_found", "provider.timeout"),
    ),
    Method(
        "session/restore",
        "Bring deleted sessions back, as they were.",
        requests.SessionTreesParams,
        replies.SessionsReply,
        "control",
        refusals=(*_TREES, "session.not_found", "provider.timeout"),
    ),
    Method(
        "session/purge",
        "Take deleted sessions away for good.",
        requests.SessionTreesParams,
        replies.SessionsReply,
        "admin",
        refusals=(*_TREES, "session.exists", "provider.timeout"),
    ),
    Method(
        "session/search",
        "Find sessions by words of their titles, prompts and answers.",
        requests.SessionSearchParams,
        replies.SessionSearchReply,
        "read",
    ),
    Method(
        "session/listDeleted",
        "List the deleted sessions of a workspace.",
        requests.SessionListDeletedParams,
        replies.SessionListDeletedReply,
        "read",
    ),
    Method(
        "turn/get",
        "Read one turn.",
        requests.TurnGetParams,
        replies.TurnReply,
        "read",
        session_addressed=True,
        refusals=(*_SESSION, "turn.not_found"),
    ),
    Method(
        "turn/list",
        "List the turns of a session, newest first.",
        requests.TurnListParams,
        replies.TurnListReply,
        "read",
        session_addressed=True,
        refusals=_SESSION,
    ),
    Method(
        "turn/guide",
        "Say more within exactly this turn.",
        requests.TurnGuideParams,
        replies.TurnReply,
        "control",
        session_addressed=True,
        drives_agent=True,
        refusals=(
            *_COMMAND,
            "turn.not_found",
            "turn.settled",
            "turn.mismatch",
            "submit.conflict",
            "submit.delivery_unknown",
            "provider.rejected",
            *_CONTENT,
        ),
    ),
    Method(
        "turn/cancel",
        "Stop exactly this turn.",
        requests.TurnCancelParams,
        replies.TurnReply,
        "control",
        session_addressed=True,
        refusals=(*_SESSION, "turn.not_found", "capability.unsupported"),
    ),
    Method(
        "interaction/respond",
        "Answer a pending interaction.",
        requests.InteractionRespondParams,
        replies.InteractionReply,
        "control",
        session_addressed=True,
        drives_agent=True,
        refusals=(
            *_SESSION,
            "turn.not_found",
            "interaction.not_found",
            "interaction.not_pending",
            "interaction.unsupported_answer",
            "provider.rejected",
            "provider.timeout",
            "provider.lost",
            "store.full",
        ),
    ),
    Method(
        "interaction/list",
        "List the interactions of a workspace.",
        requests.InteractionListParams,
        replies.InteractionListReply,
        "read",
    ),
    Method(
        "side/capabilities",
        "Say whether a Side of this session can be opened.",
        requests.SideCapabilitiesParams,
        replies.SideCapabilitiesReply,
        "read",
        session_addressed=True,
        refusals=_SESSION,
    ),
    Method(
        "side/open",
        "Fork a live conversation into one that is never stored.",
        requests.SideOpenParams,
        replies.SideReply,
        "control",
        session_addressed=True,
        drives_agent=True,
        refusals=(
            *_SESSION,
            "side.exists",
            "side.expired",
            "capability.unsupported",
            "session.cwd_missing",
            "target.not_found",
            "target.disabled",
            "settings.invalid",
            "provider.model_unavailable",
            *_PROVIDER,
        ),
    ),
    Method(
        "side/send",
        "Start a turn of a Side.",
        requests.SideSendParams,
        replies.TurnReply,
        "control",
        drives_agent=True,
        begins_turn=True,
        refusals=(*_SIDE, "session.busy", "submit.conflict", "request.too_large", "attachment.unsupported"),
    ),
    Method(
        "side/cancel",
        "Stop exactly this turn of a Side.",
        requests.SideCancelParams,
        replies.TurnReply,
        "control",
        refusals=(*_SIDE, "turn.not_found"),
    ),
    Method(
        "side/respond",
        "Answer a pending interaction of a Side.",
        requests.SideRespondParams,
        replies.InteractionReply,
        "control",
        drives_agent=True,
        refusals=(
            *_SIDE,
            "interaction.not_found",
            "interaction.not_pending",
            "interaction.unsupported_answer",
            "provider.rejected",
            "provider.timeout",
            "provider.lost",
        ),
    ),
    Method(
        "side/close",
        "End a Side; its source goes on.",
        requests.SideCloseParams,
        replies.SideReply,
        "control",
        refusals=(*_SIDE, "provider.timeout"),
    ),
    Method(
        "side/get",
        "Read a Side.",
        requests.SideGetParams,
        replies.SideGetReply,
        "read",
        refusals=_SIDE,
    ),
    Method(
        "side/list",
        "List the open Sides of a workspace.",
        requests.SideListParams,
        replies.SideListReply,
        "read",
    ),
    Method(
        "surface/dispose",
        "Close the Sides shown in a place of this client.",
        requests.SurfaceDisposeParams,
        replies.SurfaceDisposeReply,
        "control",
        refusals=("provider.timeout",),
    ),
    Method(
        "surface/attach",
        "Take over the Sides shown in a place.",
        requests.SurfaceAttachParams,
        replies.SurfaceAttachReply,
        "control",
    ),
    Method(
        "attachment/put",
        "Store a picture that prompts can show.",
        requests.AttachmentPutParams,
        replies.AttachmentPutReply,
        "control",
        refusals=("request.too_large", "attachment.unsupported", "store.full"),
    ),
    Method(
        "attachment/get",
        "Read a picture.",
        requests.AttachmentGetParams,
        replies.AttachmentGetReply,
        "read",
        refusals=("attachment.not_found",),
    ),
    Method(
        "events/subscribe",
        "Hear of what happens.",
        requests.EventsSubscribeParams,
        replies.EventsSubscribeReply,
        "read",
    ),
    Method(
        "events/update",
        "Change what a subscription follows, without a gap.",
        requests.EventsUpdateParams,
        replies.VoidReply,
        "read",
        needs_workspace=False,
    ),
    Method(
        "events/unsubscribe",
        "End a subscription.",
        requests.EventsUnsubscribeParams,
        replies.VoidReply,
        "read",
        needs_workspace=False,
    ),
    Method(
        "health/read",
        "Read how the service is.",
        requests.HealthReadParams,
        replies.HealthReadReply,
        "read",
        needs_workspace=False,
    ),
    Method(
        "metrics/read",
        "Read the figures of the service.",
        requests.MetricsReadParams,
        replies.MetricsReadReply,
        "admin",
        needs_workspace=False,
    ),
    Method(
        "debug/session",
        "Look into one session.",
        requests.DebugSessionParams,
        replies.DebugSessionReply,
        "admin",
        session_addressed=True,
        refusals=("session.not_found",),
    ),
    Method(
        "fault/inject",
        "Put a fault at a failpoint, for tests.",
        faults.FaultInjectParams,
        faults.FaultInjectReply,
        "admin",
        needs_workspace=False,
        with_faults=True,
        refusals=("capability.unsupported",),
    ),
    Method(
        "fault/list",
        "List the failpoints, armed or not, and how often each was passed.",
        faults.FaultListParams,
        faults.FaultListReply,
        "admin",
        needs_workspace=False,
        with_faults=True,
        refusals=("capability.unsupported",),
    ),
    Method(
        "fault/clear",
        "Disarm one failpoint or all; whoever is paused there goes on.",
        faults.FaultClearParams,
        replies.VoidReply,
        "admin",
        needs_workspace=False,
        with_faults=True,
        refusals=("capability.unsupported",),
    ),
    Method(
        "target/list",
        "List the agents that can be talked to.",
        requests.TargetListParams,
        replies.TargetListReply,
        "read",
        needs_workspace=False,
    ),
    Method(
        "workspace/list",
        "List the workspaces that hold sessions.",
        requests.WorkspaceListParams,
        replies.WorkspaceListReply,
        "read",
        needs_workspace=False,
    ),
)

METHODS: Mapping[str, Method] = MappingProxyType({method.name: method for method in _TABLE})
"""Every method served, by name."""

UNBUILT_METHODS = frozenset(
    {
        *("turn/editRetry", "editRetry/recover", "operation/get", "goal/control", "goal/get"),
        "session/fork",
        *("provider/status", "provider/models", "provider/skills", "provider/usage"),
    }
)
"""Named in the contract's table and not served yet."""

RESERVED_METHODS = frozenset(
    {"host/observationGap", "host/interactionReadiness", "session/sections", "target/setEnabled"}
)
RESERVED_PREFIXES = ("project/", "prompt/", "preference/", "recording/", "replay/")
"""To come within v1 (`contract §4`)."""


def served_methods(faults_enabled: bool) -> tuple[str, ...]:
    """The names that a daemon answers to."""
    return tuple(method.name for method in _TABLE if faults_enabled or not method.with_faults)


def find_method(name: str, *, faults_enabled: bool) -> Method | Refusal:
    """The method of this name; for a name of the contract that is not served, and for any other, why not."""
    method = METHODS.get(name)
    if method is not None and (faults_enabled or not method.with_faults):
        return method
    if (
        method is not None
        or name in UNBUILT_METHODS
        or name in RESERVED_METHODS
        or name.startswith(RESERVED_PREFIXES)
    ):
        return Refusal("capability.unsupported")
    return Refusal("request.unknown_method")


def all_refusals(method: Method) -> Iterator[str]:
    """Every code this method may be refused with, the common ones last."""
    yield from method.refusals
    yield from (code for code in COMMON_REFUSALS if code not in method.refusals)
