"""A Claude Code on a table: its frames, and a playbook whose beginnings are those of Claude Code."""

import json

from runtime.providers.claude_code.descriptor import ClaudeDescriptor
from runtime.providers.hosting import HostedConversation, HostedFork
from runtime.providers.port import AdapterLimits, OpenThread, StartTurn, Write
from store.canonical.common import Settings
from store.canonical.identifiers import TurnId
from store.canonical.message import TextBlock
from tests.providers.adapter_playbook import A, Playbook

T1 = TurnId("00000000-0000-7000-8000-000000000001")
T2 = TurnId("00000000-0000-7000-8000-000000000002")
"""Turns whose ids are uuids, so that their prompts are stamped with them."""
SESSION = "00000000-0000-7000-8000-00000000000a"
CWD = "/w"
VERSION = "2.1.332"
MODEL = "claude-sonnet-4-5"

__all__ = ["CWD", "T1", "T2", "A"]


def frame(kind: str, **members: object) -> bytes:
    """A frame of Claude Code."""
    return json.dumps({"type": kind, **members}).encode() + b"\n"


def system(subtype: str, **members: object) -> bytes:
    """A fact."""
    return frame("system", subtype=subtype, **members)


def init(
    uuid: str = "10000000-0000-4000-8000-000000000001", mode: str = "default", session: str = SESSION
) -> bytes:
    """A turn begins."""
    return system("init", uuid=uuid, model=MODEL, permissionMode=mode, session_id=session)


def moved(stamp: str, state: str) -> bytes:
    """How far Claude Code is with a prompt."""
    return frame("command_lifecycle", command_uuid=stamp, state=state)


def stream(sort: str, parent: str | None = None, **event: object) -> bytes:
    """An event of the model's stream."""
    return frame("stream_event", event={"type": sort, **event}, parent_tool_use_id=parent)


def block_starts(index: int, **block: object) -> bytes:
    """A block begins."""
    return stream("content_block_start", index=index, content_block=block)


def delta(text: str, index: int = 0) -> bytes:
    """A piece of an answer."""
    return stream("content_block_delta", index=index, delta={"type": "text_delta", "text": text})


def streamed(message_id: str, *pieces: str) -> bytes:
    """A message begins and its first block is written."""
    start = stream("message_start", message={"id": message_id})
    return b"".join([start, block_starts(0, type="text", text=""), *map(delta, pieces)])


def said(message_id: str, *blocks: object, parent: str | None = None, **members: object) -> bytes:
    """Finished blocks of a message; a string is one of text."""
    content = [{"type": "text", "text": block} if isinstance(block, str) else block for block in blocks]
    message = {"id": message_id, "content": content, "usage": {"input_tokens": 10, "output_tokens": 5}}
    return frame("assistant", message=message, parent_tool_use_id=parent, **members)


def tool_use(call_id: str, name: str = "Bash", **given: object) -> dict[str, object]:
    """A call."""
    return {"type": "tool_use", "id": call_id, "name": name, "input": given}


def tool_result(call_id: str, content: object, *, is_error: bool = False, **members: object) -> bytes:
    """What it brought back."""
    block = {"type": "tool_result", "tool_use_id": call_id, "content": content, "is_error": is_error}
    return frame("user", message={"role": "user", "content": [block]}, parent_tool_use_id=None, **members)


def result(stamp: str | None = T1, **members: object) -> bytes:
    """The end of a turn."""
    told: dict[str, object] = {"subtype": "success", "is_error": False, "terminal_reason": "completed"}
    told |= {"stop_reason": "end_turn", "user_message_uuid": stamp, "usage": {"input_tokens": 10}}
    return frame("result", **{**told, **members})


def aborted(stamp: str = T1, reason: str = "aborted_streaming") -> bytes:
    """The end of a turn that was broken off."""
    return result(
        stamp, subtype="error_during_execution", is_error=True, terminal_reason=reason, stop_reason=None
    )


def ask(wire_id: str, call_id: str = "c1", tool: str = "Bash", **members: object) -> bytes:
    """A request for permission."""
    request = {"subtype": "can_use_tool", "tool_name": tool, "tool_use_id": call_id, **members}
    return frame("control_request", request_id=wire_id, request=request)


def answer(request_id: str, **body: object) -> bytes:
    """Claude Code takes a request."""
    return frame(
        "control_response", response={"subtype": "success", "request_id": request_id, "response": body}
    )


def refusal(request_id: str, code: str = "unsupported_request") -> bytes:
    """Claude Code refuses a request."""
    response = {"subtype": "error", "request_id": request_id, "error": "no", "error_code": code}
    return frame("control_response", response=response)


def initialized(version: str = VERSION, mode: str = "default") -> bytes:
    """The answer to the handshake."""
    return answer("greenroom-1", claude_code_version=version, current_permission_mode=mode)


class ClaudePlaybook(Playbook):
    """Drives one adapter. The first request it makes is `greenroom-1`, the handshake."""

    def __init__(
        self,
        *,
        resumes: bool = False,
        settings: Settings | None = None,
        limits: AdapterLimits | None = None,
        fork: HostedFork | None = None,
        command: tuple[str, ...] = (),
    ) -> None:
        hosted = HostedConversation(SESSION, resumes, settings or {}, fork, command)
        adapter = ClaudeDescriptor().adapter(limits or AdapterLimits(), None, hosted)
        super().__init__(adapter)
        self.resumes, self.settings = resumes, settings or {}

    def opened(self, version: str = VERSION) -> "ClaudePlaybook":
        """The conversation is open; nobody looks at how."""
        self.begin().receive(initialized(version))
        self.command(OpenThread(A, CWD, self.settings, SESSION if self.resumes else None))
        self.skip()
        return self

    def prompt(self, text: str = "go", turn_id: TurnId = T1) -> "ClaudePlaybook":
        """A prompt is sent."""
        self.command(StartTurn(A, turn_id, (TextBlock(text),)))
        return self

    def running(self, turn_id: TurnId = T1) -> "ClaudePlaybook":
        """A prompt that Claude Code works on; nobody looks at how it came to that."""
        self.prompt(turn_id=turn_id)
        self.receive(moved(turn_id, "queued"), moved(turn_id, "started"), init())
        self.skip()
        return self

    def written_frames(self) -> list[dict[str, object]]:
        """What was written since the last look."""
        frames = [json.loads(each.data) for each in self.outputs if isinstance(each, Write)]
        self.outputs = []
        return frames
