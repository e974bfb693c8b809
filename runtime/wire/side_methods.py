"""Sides and the surfaces that own them (`contract §4`).

Entries of the table of methods and nothing else.
"""

from runtime.wire import replies, requests
from runtime.wire.method import PROVIDER_REFUSALS, SESSION_REFUSALS, SIDE_REFUSALS, Method

SIDE_METHODS = (
    Method(
        "side/capabilities",
        "Say whether a Side of this session can be opened.",
        requests.SideCapabilitiesParams,
        replies.SideCapabilitiesReply,
        "read",
        session_addressed=True,
        refusals=SESSION_REFUSALS,
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
            *SESSION_REFUSALS,
            "side.exists",
            "side.expired",
            "capability.unsupported",
            "session.cwd_missing",
            "target.not_found",
            "target.disabled",
            "settings.invalid",
            "provider.model_unavailable",
            *PROVIDER_REFUSALS,
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
        refusals=(
            *SIDE_REFUSALS,
            "session.busy",
            "submit.conflict",
            "request.too_large",
            "attachment.unsupported",
        ),
    ),
    Method(
        "side/cancel",
        "Stop exactly this turn of a Side.",
        requests.SideCancelParams,
        replies.TurnReply,
        "control",
        refusals=(*SIDE_REFUSALS, "turn.not_found"),
    ),
    Method(
        "side/respond",
        "Answer a pending interaction of a Side.",
        requests.SideRespondParams,
        replies.InteractionReply,
        "control",
        drives_agent=True,
        refusals=(
            *SIDE_REFUSALS,
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
        refusals=(*SIDE_REFUSALS, "provider.timeout"),
    ),
    Method(
        "side/get",
        "Read a Side.",
        requests.SideGetParams,
        replies.SideGetReply,
        "read",
        refusals=SIDE_REFUSALS,
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
)
