"""The host itself: the connection, what it is told, attachments, targets, health, faults (`contract §4`).

Entries of the table of methods and nothing else.
"""

from runtime.wire import faults, providers, replies, requests
from runtime.wire.method import PROVIDER_REFUSALS, Method

INITIALIZE = Method(
    "initialize",
    "Open the connection; the first request.",
    requests.InitializeParams,
    replies.InitializeReply,
    "read",
    needs_workspace=False,
    refusals=("protocol.unsupported",),
)

HOST_METHODS = (
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
    *(
        Method(
            f"provider/{what}",
            summary,
            requests.ProviderParams,
            result,
            "read",
            needs_workspace=False,
            refusals=("target.not_found", "target.disabled", *more),
        )
        for what, summary, result, more in (
            ("status", "Read how an agent's program and sign-in stand.", providers.ProviderStatusReply, ()),
            (
                "models",
                "Read the models an agent offers.",
                providers.ProviderModelsReply,
                PROVIDER_REFUSALS,
            ),
            (
                "skills",
                "Read the skills an agent's prompts can call for.",
                providers.ProviderSkillsReply,
                PROVIDER_REFUSALS,
            ),
            (
                "usage",
                "Read what is left of an agent's account.",
                providers.ProviderUsageReply,
                PROVIDER_REFUSALS,
            ),
        )
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
