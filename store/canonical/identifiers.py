"""Identities: what names a thing, and which spellings of a caller-made id are accepted (`contract §3`).

Ids of turns, messages and interactions are unique only inside their session (ST-007): wherever one of them
travels alone, its session key travels with it.
"""

import re
from typing import NewType

import attrs

WorkspaceId = NewType("WorkspaceId", str)
SessionId = NewType("SessionId", str)
TurnId = NewType("TurnId", str)
MessageId = NewType("MessageId", str)
RequestId = NewType("RequestId", str)
"""Names an Interaction inside its turn; a provider may use the same one again in another turn (RT-010)."""
CallId = NewType("CallId", str)
TargetId = NewType("TargetId", str)
ClientSubmitId = NewType("ClientSubmitId", str)
"""Opaque idempotency identity of a submit; no meaning is read from it (RT-037, RT-038)."""

IDENTIFIER_PATTERN = r"[A-Za-z0-9._:-]{1,128}"
SUBMIT_ID_CHARACTERS_MAX = 200

_IDENTIFIER = re.compile(IDENTIFIER_PATTERN)


@attrs.frozen(order=True, cache_hash=True)
class SessionKey:
    """The whole identity of a Session: its id is unique only inside its workspace."""

    workspace_id: WorkspaceId
    agent_session_id: SessionId

    def __str__(self) -> str:
        return f"{self.workspace_id}/{self.agent_session_id}"


def is_identifier(text: str) -> bool:
    """Whether `text` may name a workspace, session, turn, target or surface."""
    return _IDENTIFIER.fullmatch(text) is not None


def is_submit_id(text: str) -> bool:
    """Whether `text` may be a `clientSubmitId` or `operationId`: 1-200 characters, none of them a control."""
    return 0 < len(text) <= SUBMIT_ID_CHARACTERS_MAX and all(
        ord(character) >= 0x20 and not 0x7F <= ord(character) < 0xA0 for character in text
    )
