"""What Codex answers when it refuses a request, word for word as the real app-server was seen to say it. Data only.

The texts are those of docs/providers/codex-app-server.md, section 3; a test compares them. Almost all of them come
with one and the same code, which is why an adapter may not take them for more than they are.
"""

from typing import Any, Final, TypeAlias

import attrs

Frame: TypeAlias = dict[str, Any]

INVALID_REQUEST: Final = -32600
INVALID_PARAMS: Final = -32602
INPUT_CHARACTERS_MAX: Final = 1_048_576


@attrs.frozen
class Refused(Exception):
    """A request is answered with an error."""

    text: str
    code: int = INVALID_REQUEST
    data: Frame | None = None

    def frame(self, request_id: object) -> Frame:
        """The error answer."""
        error: Frame = {"code": self.code, "message": self.text}
        if self.data is not None:
            error["data"] = self.data
        return {"error": error, "id": request_id}


NOT_INITIALIZED: Final = "Not initialized"
ALREADY_INITIALIZED: Final = "Already initialized"
NO_TURN_TO_INTERRUPT: Final = "no active turn to interrupt"
NO_TURN_TO_STEER: Final = "no active turn to steer"
EPHEMERAL_NEEDS_NO_TURNS: Final = "ephemeral paginated thread/fork requires `excludeTurns: true`"
SIGNED_OUT: Final = "codex account authentication required to read rate limits"


def unknown_method(method: str, known: tuple[str, ...]) -> str:
    """It names every method there is."""
    names = ", ".join(f"`{name}`" for name in known)
    return f"Invalid request: unknown variant `{method}`, expected one of {names}"


def missing_field(name: str) -> str:
    """A param is not there."""
    return f"Invalid request: missing field `{name}`"


def needs_experimental(what: str) -> str:
    """A method, or `method.field`, that the client did not ask to be allowed."""
    return f"{what} requires experimentalApi capability"


def thread_not_found(thread_id: str) -> str:
    """Of `turn/start`, `turn/interrupt`, `thread/inject_items`."""
    return f"thread not found: {thread_id}"


def thread_not_loaded(thread_id: str) -> str:
    """Of `thread/read`."""
    return f"thread not loaded: {thread_id}"


def no_rollout(thread_id: str) -> str:
    """Of `thread/resume`, `thread/fork`."""
    return f"no rollout found for thread id {thread_id}"


def invalid_thread_id(thread_id: str) -> str:
    """What is no thread id at all."""
    return f"invalid session id: invalid character in {thread_id[:40]!r}"


def active_writer(thread_id: str) -> str:
    """Another process has the thread."""
    return f"thread {thread_id} already has an active writer"


def other_turn_to_interrupt(expected: str, found: str) -> str:
    """Another turn is the active one."""
    return f"expected active turn id {expected} but found {found}"


def other_turn_to_steer(expected: str, found: str) -> str:
    """The same, said of a steer in another way."""
    return f"expected active turn id `{expected}` but found `{found}`"


def unknown_boundary(turn_id: str) -> str:
    """A fork through a turn that the thread does not have."""
    return f"turn not found: {turn_id}"


def running_boundary(turn_id: str) -> str:
    """A fork through a turn that runs."""
    return f"lastTurnId '{turn_id}' identifies an in-progress turn"


def ephemeral_unsupported(what: str) -> str:
    """Of a thread that nothing is kept of."""
    return f"ephemeral threads do not support {what}"


def not_materialized(thread_id: str) -> str:
    """A thread in which nothing was said yet."""
    return f"thread {thread_id} is not materialized yet"


def input_too_large(characters: int) -> Refused:
    """The one refusal with a code and data of its own."""
    data = {
        "input_error_code": "input_too_large",
        "max_chars": INPUT_CHARACTERS_MAX,
        "actual_chars": characters,
    }
    return Refused("Input exceeds the maximum length", INVALID_PARAMS, data)
