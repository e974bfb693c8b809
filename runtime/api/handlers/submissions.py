"""From the parameters of a submit to its prompt and its claim: equal parameters have equal digests (RT-037)."""

from collections.abc import Sequence
from hashlib import sha256
from typing import Any, cast

from runtime.api.handlers.attachments import picture_refusal
from runtime.api.requests_context import ApiServices, Request
from runtime.lifecycle.inputs import Prompt
from runtime.refusal import Refusal
from runtime.wire.converter import unstructure
from runtime.wire.encoding import canonical_json
from store.canonical.claim import SubmitClaim, SubmitMethod
from store.canonical.common import Json
from store.canonical.identifiers import ClientSubmitId, SessionKey
from store.canonical.message import ContentBlock, ResourceLinkBlock, TextBlock


def prompt_of(
    services: ApiServices,
    key: SessionKey,
    content: Sequence[ContentBlock] | None,
    display_prompt: str | None,
    member: str = "content",
) -> Prompt | Refusal | None:
    """The prompt, or why it cannot be taken whole: nothing is ever cut or dropped (`contract §4`, attachments)."""
    if content is None:
        return None
    refusal = picture_refusal(services, key, content, member)
    if refusal is not None:
        return refusal
    size = sum(map(_bytes_of, content)) + len((display_prompt or "").encode())
    if size > services.limits.max_message_bytes:
        return Refusal("request.too_large", details={"limit": "maxMessageBytes"})
    return Prompt(tuple(content), display_prompt)


def _bytes_of(block: ContentBlock) -> int:
    match block:
        case TextBlock():
            return len(block.text.encode())
        case ResourceLinkBlock():
            return len(block.uri.encode()) + len(block.name.encode())
        case _:
            return 0


def claim_of(
    request: Request[Any],
    method: SubmitMethod,
    key: SessionKey,
    submit_id: ClientSubmitId,
    content: Sequence[ContentBlock] | None,
) -> SubmitClaim:
    """The claim on this submit id; its scope is laid down where it is stored."""
    canonical = method.encode() + b" " + canonical_json(request.params)
    submitted = None if content is None else cast("Json", [unstructure(block) for block in content])
    return SubmitClaim(
        scope="session",
        workspace_id=key.workspace_id,
        agent_session_id=key.agent_session_id,
        client_submit_id=submit_id,
        method=method,
        digest=sha256(canonical).hexdigest(),
        created_at=request.services.clock.now_ms(),
        content=submitted,
    )
