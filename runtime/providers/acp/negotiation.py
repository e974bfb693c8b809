"""What is settled once with an agent: `initialize`, opening a conversation, and the shape of a prompt.

Owns the params we send and the reading of their results. Protocol version 1 exactly, no file system and no terminal
are offered: agents then use the disk themselves, which all of them do well (capabilities are the keys that are
present, whatever their value).
"""

from typing import Final

import attrs

from runtime.providers.acp.quirks import Quirks, quirks_of
from runtime.providers.jsonrpc.members import count_of, object_of, text_of
from runtime.providers.port import ImageData, PromptBlock
from store.canonical.common import Json, Usage
from store.canonical.message import ResourceLinkBlock, TextBlock
from store.canonical.session import SessionCapabilities

PROTOCOL_VERSION: Final = 1


@attrs.frozen
class AgentFacts:
    """What the agent said of itself. `protocol_version` is kept as it came: only the integer 1 will do."""

    protocol_version: Json = None
    name: str | None = None
    version: str | None = None
    can_load: bool = False
    can_resume: bool = False
    can_close: bool = False
    takes_images: bool = False
    takes_embedded_context: bool = False

    @property
    def speaks_our_version(self) -> bool:
        """Whether the agent agreed to version 1; an agent that answers another one really switches to it."""
        return type(self.protocol_version) is int and self.protocol_version == PROTOCOL_VERSION

    @property
    def quirks(self) -> Quirks:
        """What is attested of an agent of this name and version."""
        return quirks_of(self.name, self.version)

    def session_capabilities(self) -> SessionCapabilities:
        """The complete snapshot for a Session (PR-008)."""
        return SessionCapabilities(
            load=self.quirks.load_is_reliable and (self.can_load or self.can_resume),
            image_prompts=self.takes_images,
            embedded_context=self.takes_embedded_context,
            interrupt=True,
        )


def initialize_params(client_version: str) -> Json:
    """Params of `initialize`."""
    return {
        "protocolVersion": PROTOCOL_VERSION,
        "clientCapabilities": {"fs": {"readTextFile": False, "writeTextFile": False}, "terminal": False},
        "clientInfo": {"name": "greenroom", "title": "Greenroom", "version": client_version},
    }


def read_initialize(result: Json) -> AgentFacts:
    """Read the result of `initialize`; what is missing is taken as not offered."""
    members = object_of(result)
    info = object_of(members.get("agentInfo"))
    capabilities = object_of(members.get("agentCapabilities"))
    prompt = object_of(capabilities.get("promptCapabilities"))
    session = object_of(capabilities.get("sessionCapabilities"))
    return AgentFacts(
        protocol_version=members.get("protocolVersion"),
        name=text_of(info.get("name")),
        version=text_of(info.get("version")),
        can_load=capabilities.get("loadSession") is True,
        can_resume=session.get("resume") is not None,
        can_close=session.get("close") is not None,
        takes_images=prompt.get("image") is True,
        takes_embedded_context=prompt.get("embeddedContext") is True,
    )


def open_params(cwd: str, session_id: str | None) -> Json:
    """Params of `session/new`, `session/load` and `session/resume`; the first has no session id."""
    params: dict[str, Json] = {} if session_id is None else {"sessionId": session_id}
    return params | {"cwd": cwd, "mcpServers": []}


def prompt_params(session_id: str, content: tuple[PromptBlock, ...]) -> Json:
    """Params of `session/prompt`; pictures travel as base64."""
    return {"sessionId": session_id, "prompt": [_content_block(block) for block in content]}


def _content_block(block: PromptBlock) -> Json:
    match block:
        case TextBlock():
            return {"type": "text", "text": block.text}
        case ResourceLinkBlock():
            return {"type": "resource_link", "uri": block.uri, "name": block.name}
        case ImageData():
            return {"type": "image", "mimeType": block.media_type, "data": block.data}


@attrs.frozen
class PromptResult:
    """The answer to a prompt: why it stopped, verbatim, and what the turn used."""

    stop_reason: str | None
    usage: Usage | None


def read_prompt_result(result: Json) -> PromptResult:
    """Read the result of `session/prompt`."""
    members = object_of(result)
    usage = object_of(members.get("usage"))
    return PromptResult(
        text_of(members.get("stopReason")),
        Usage(
            input_tokens=count_of(usage.get("inputTokens")),
            cached_input_tokens=count_of(usage.get("cachedReadTokens")),
            output_tokens=count_of(usage.get("outputTokens")),
            reasoning_tokens=count_of(usage.get("thoughtTokens")),
            total_tokens=count_of(usage.get("totalTokens")),
        )
        if usage
        else None,
    )
