"""The rows that small programs start from: one session of the built-in agent, its claims, options and settings."""

from typing import Any

import attrs

from runtime.providers.port import SettingChoice, SettingDescription
from store.canonical.claim import ClaimScope, SubmitClaim
from store.canonical.identifiers import ClientSubmitId, SessionId, SessionKey, TargetId, WorkspaceId
from store.canonical.interaction import InteractionOption
from store.canonical.session import Session, SessionCapabilities

KEY = SessionKey(WorkspaceId("w"), SessionId("s"))
LOADS = SessionCapabilities(load=True, interrupt=True)
GUIDED = SessionCapabilities(load=True, interrupt=True, guidance=True)
FORGETS = SessionCapabilities(load=False, interrupt=True)
OPTIONS = (
    InteractionOption("yes", "Allow", "allow_once"),
    InteractionOption("no", "Reject", "reject_once"),
)


SETTINGS = {
    setting.key: setting
    for setting in (
        SettingDescription(
            "mode", "now", (SettingChoice("ask", "Ask"), SettingChoice("auto", "Auto")), "ask"
        ),
        SettingDescription("level", "now"),
        SettingDescription("model", "next_turn", default="small"),
        SettingDescription("dedicatedProcess", "launch", default=False, is_truth=True),
    )
}


def a_session(**fields: Any) -> Session:
    row = Session(KEY.workspace_id, KEY.agent_session_id, TargetId("demo"), "acp", "/work", 0, 0)
    return attrs.evolve(row, **fields)


def a_claim(submit_id: str = "c1", digest: str = "d1", scope: ClaimScope = "session") -> SubmitClaim:
    return SubmitClaim(
        scope=scope,
        workspace_id=KEY.workspace_id,
        agent_session_id=KEY.agent_session_id,
        client_submit_id=ClientSubmitId(submit_id),
        method="session/send",
        digest=digest,
        created_at=0,
    )
