"""Attachments: pictures are stored apart from prompts, which show them by their ids; rows never hold base64."""

import binascii
from base64 import b64decode, b64encode
from collections.abc import Sequence
from typing import Final

from runtime.api.requests_context import ApiServices, Handled, Request
from runtime.refusal import Refusal
from runtime.wire import replies, requests
from store.canonical.attachment import Attachment, AttachmentOutcome, AttachmentStored
from store.canonical.identifiers import SessionKey
from store.canonical.message import ContentBlock, ImageBlock

MEDIA_TYPES: Final = frozenset({"image/png", "image/jpeg", "image/gif", "image/webp"})
"""What agents take and clients can show."""


def put(request: Request[requests.AttachmentPutParams]) -> Handled:
    """`attachment/put`: answered once the picture is durable; unused ones go after `attachmentUnusedSeconds`."""
    params, services = request.params, request.services
    if params.media_type not in MEDIA_TYPES:
        return Refusal("attachment.unsupported", details={"mediaType": params.media_type})
    try:
        data = b64decode(params.data, validate=True)
    except (binascii.Error, ValueError):
        return Refusal("request.invalid", details={"path": "params.data", "problem": "is not base64"})
    if len(data) > services.limits.max_attachment_bytes:
        return Refusal("request.too_large", details={"limit": "maxAttachmentBytes"})
    attachment = Attachment(
        params.workspace_id, services.identifiers.new_id(), params.media_type, services.clock.now_ms(), data
    )

    def complete(outcome: AttachmentOutcome) -> None:
        if isinstance(outcome, AttachmentStored):
            reply = replies.AttachmentPutReply(
                attachment_id=outcome.attachment_id,
                media_type=params.media_type,
                bytes=len(data),
                commit_seq=services.writer.head_commit_seq,
            )
            request.sink.reply(reply)
        elif outcome.code == "limit.exceeded":
            request.sink.refuse(Refusal(outcome.code, details={"limit": "maxUnusedAttachmentBytes"}))
        else:
            request.sink.refuse(Refusal(outcome.code))

    services.writer.submit_attachment(attachment, services.limits.max_unused_attachment_bytes, complete)
    return None


def get(request: Request[requests.AttachmentGetParams]) -> Handled:
    """`attachment/get`: with exact identities; another workspace's or session's is not found (RT-137)."""
    params = request.params
    read = request.services.reader.attachment(
        params.workspace_id, params.attachment_id, params.agent_session_id
    )
    if read.value is None:
        return Refusal("attachment.not_found")
    request.sink.reply(
        replies.AttachmentGetReply(
            attachment_id=read.value.attachment_id,
            media_type=read.value.media_type,
            bytes=len(read.value.data),
            data=b64encode(read.value.data).decode(),
            commit_seq=read.commit_seq,
        )
    )
    return None


def picture_refusal(
    services: ApiServices, key: SessionKey, content: Sequence[ContentBlock], member: str
) -> Refusal | None:
    """Why the pictures of a prompt cannot be taken: too many, not stored as they are shown, or not for this agent.

    An agent that has not said what it takes is asked by the prompt: its turn fails with `attachment.unsupported`.
    """
    pictures = [(place, block) for place, block in enumerate(content) if isinstance(block, ImageBlock)]
    if not pictures:
        return None
    if len(pictures) > services.limits.max_attachments_per_prompt:
        return Refusal("limit.exceeded", details={"limit": "maxAttachmentsPerPrompt"})
    session = services.reader.session(key).value
    if session is not None and session.capabilities is not None and not session.capabilities.image_prompts:
        return Refusal("attachment.unsupported")
    for place, block in pictures:
        facts = services.reader.attachment_facts(key.workspace_id, block.attachment_id)
        if facts is None:
            return Refusal("attachment.not_found", details={"attachmentId": block.attachment_id})
        if (facts.media_type, facts.bytes) != (block.media_type, block.bytes):
            problem = "is not the block that attachment/put answered with"
            return Refusal(
                "request.invalid", details={"path": f"params.{member}[{place}]", "problem": problem}
            )
    return None
