"""Turns and Interactions: read, guided, stopped, answered (`contract §4`).

Entries of the table of methods and nothing else.
"""

from runtime.wire import replies, requests
from runtime.wire.method import COMMAND_REFUSALS, CONTENT_REFUSALS, SESSION_REFUSALS, Method

TURN_METHODS = (
    Method(
        "turn/get",
        "Read one turn.",
        requests.TurnGetParams,
        replies.TurnReply,
        "read",
        session_addressed=True,
        refusals=(*SESSION_REFUSALS, "turn.not_found"),
    ),
    Method(
        "turn/list",
        "List the turns of a session, newest first.",
        requests.TurnListParams,
        replies.TurnListReply,
        "read",
        session_addressed=True,
        refusals=SESSION_REFUSALS,
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
            *COMMAND_REFUSALS,
            "turn.not_found",
            "turn.settled",
            "turn.mismatch",
            "submit.conflict",
            "submit.delivery_unknown",
            "provider.rejected",
            *CONTENT_REFUSALS,
        ),
    ),
    Method(
        "turn/cancel",
        "Stop exactly this turn.",
        requests.TurnCancelParams,
        replies.TurnReply,
        "control",
        session_addressed=True,
        refusals=(*SESSION_REFUSALS, "turn.not_found", "capability.unsupported"),
    ),
    Method(
        "operation/get",
        "Read one durable operation.",
        requests.OperationGetParams,
        replies.OperationReply,
        "read",
        session_addressed=True,
        refusals=(*SESSION_REFUSALS, "operation.not_found"),
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
            *SESSION_REFUSALS,
            "turn.not_found",
            "interaction.not_found",
            "interaction.not_pending",
            "interaction.unsupported_answer",
            "provider.rejected",
            "provider.timeout",
            "provider.lost",
            "session.busy",
            "session.not_resumable",
            "target.not_found",
            "target.disabled",
            "settings.invalid",
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
)
