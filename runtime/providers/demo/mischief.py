"""What real agents have been seen to do wrong, directive by directive: noise, floods, broken frames, bad endings.

Owns one function a directive. None of them waits.
"""

from collections.abc import Callable
from typing import Protocol

from runtime.providers.demo.actions import Action, CloseInput, Die, Exit, Repeat, Spawn
from runtime.providers.demo.script import Step
from runtime.providers.demo.turn import Ending, Turn

_PIECE_BYTES = 65536
_BANNER = b"Welcome back!\n\n\x1b[32mdemo agent\x1b[0m is ready\n"


class Stage(Protocol):
    """Where a turn plays, whatever its wire."""

    @property
    def perform(self) -> Callable[[Action], None]:
        """Have something done."""


class Player(Protocol):
    """A turn of a scripted agent, whatever its wire."""

    piecewise: bool

    @property
    def stage(self) -> Stage:
        """Where it plays."""

    def raw(self, data: bytes) -> None:
        """Bytes as they are."""

    def text(self, text: str) -> None:
        """A piece of the answer."""


def _pieces(size_bytes: int) -> int:
    return -(-size_bytes // _PIECE_BYTES)


# --- on the wire --------------------------------------------------------------------------------------------------


def _banner(turn: Player, step: Step) -> None:
    turn.raw(_BANNER)


def _garbage(turn: Player, step: Step) -> None:
    turn.raw(step.text.encode("utf-8", "replace") + b"\n")


def _bad_utf8(turn: Player, step: Step) -> None:
    turn.raw(b'{"jsonrpc":"2.0","method":"session/update","params":{"text":"\xff\xfe"}}\n')


def _surrogate(turn: Player, step: Step) -> None:
    turn.text("half \ud99c, nul \x00, last \uffff.")


def _big_line(turn: Player, step: Step) -> None:
    turn.text("b" * step.first_number(3_000_000))


def _endless(turn: Player, step: Step) -> None:
    turn.stage.perform(Repeat(b"e" * _PIECE_BYTES, _pieces(step.first_number(600_000_000))))
    turn.raw(b"\n")


def _stderr(turn: Player, step: Step) -> None:
    pieces = _pieces(step.first_number(200_000_000))
    turn.stage.perform(Repeat(b"s" * _PIECE_BYTES, pieces // 2, to_stderr=True))
    turn.stage.perform(Repeat(b"\xff\n" * (_PIECE_BYTES // 2), pieces - pieces // 2, to_stderr=True))


def _unknown_id(turn: Turn, step: Step) -> None:
    for wrong in (999, str(turn.request_id), None):
        turn.send({"id": wrong, "result": {"stopReason": "end_turn"}})
    turn.raw(b'[{"jsonrpc":"2.0","id":999,"result":{}}]\n')


def _stray(turn: Turn, step: Step) -> None:
    update = {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": "stray"}}
    turn.send({"method": "session/update", "params": {"sessionId": "stray-session", "update": update}})
    option = {"optionId": "allow", "name": "Allow", "kind": "allow_once"}
    params = {"sessionId": "stray-session", "options": [option], "toolCall": {"toolCallId": "stray-call"}}
    turn.send({"id": "stray", "method": "session/request_permission", "params": params})


def _bytes(turn: Player, step: Step) -> None:
    turn.piecewise = True


# --- about the end of the turn ------------------------------------------------------------------------------------


def _ignore_cancel(turn: Turn, step: Step) -> None:
    turn.ignores_cancel = True


def _cancel_late(turn: Turn, step: Step) -> None:
    turn.cancel_seconds = step.first_number(2000) / 1000


def _late(turn: Turn, step: Step) -> None:
    turn.late_seconds.append(step.first_number(500) / 1000)


def _twice(turn: Turn, step: Step) -> None:
    turn.answers_twice = True


def _silent_end(turn: Turn, step: Step) -> Ending:
    return Ending(silent=True)


# --- as a process -------------------------------------------------------------------------------------------------


def _close_stdin(turn: Player, step: Step) -> None:
    turn.stage.perform(CloseInput())


def _grandchild(turn: Player, step: Step) -> None:
    turn.stage.perform(Spawn(step.flag("setsid"), step.flag("stubborn"), step.options.get("file", "")))


def _crash(turn: Player, step: Step) -> Ending:
    turn.stage.perform(Exit(1))
    return Ending(silent=True)


def _exit(turn: Player, step: Step) -> Ending:
    turn.stage.perform(Exit(step.first_number(0)))
    return Ending(silent=True)


def _die(turn: Player, step: Step) -> Ending:
    turn.stage.perform(Die())
    return Ending(silent=True)


SHARED_MISCHIEF: dict[str, Callable[[Player, Step], Ending | None]] = {
    "badutf8": _bad_utf8,
    "banner": _banner,
    "bigline": _big_line,
    "bytes": _bytes,
    "close-stdin": _close_stdin,
    "crash": _crash,
    "die": _die,
    "endless": _endless,
    "exit": _exit,
    "garbage": _garbage,
    "grandchild": _grandchild,
    "stderr": _stderr,
    "surrogate": _surrogate,
}
"""The directives that mean the same on any wire, by their words."""

MISCHIEF: dict[str, Callable[[Turn, Step], Ending | None]] = {
    **SHARED_MISCHIEF,
    "cancel-late": _cancel_late,
    "ignore-cancel": _ignore_cancel,
    "late": _late,
    "silent-end": _silent_end,
    "stray": _stray,
    "twice": _twice,
    "unknown-id": _unknown_id,
}
"""All directives of this module."""
