"""One prompt of the demo agent, played step by step as a generator: it yields when it has to wait.

Owns the way out and the plain answer; what a directive does stands in `directives` and `mischief`. It reads no
clock and writes nothing itself: time and pipes are the agent's.
"""

import json
from collections.abc import Callable, Generator, Mapping
from typing import Any, NamedTuple, TypeAlias

from runtime.providers.demo.actions import Action, Write
from runtime.providers.demo.script import Step

Frame: TypeAlias = dict[str, Any]

ANSWER_KEPT_CHARACTERS = 2000
_PLAIN_PAUSE_SECONDS = 0.015
_PLAIN_WORDS = 4
_QUOTED_CHARACTERS = 160


class Ending(NamedTuple):
    """How a prompt is answered: a stop reason, or an error; `silent` for not at all."""

    stop_reason: str = "end_turn"
    error_code: int = 0
    error_text: str = ""
    silent: bool = False


Play: TypeAlias = Generator[float | None, Any, Ending]
"""A turn: yields seconds to pause, or None to wait for the answer to the request just sent."""
Part: TypeAlias = Generator[float | None, Any, Ending | None]
"""One directive of a turn: returns how the turn ends, if it ends with it."""


class Stage(NamedTuple):
    """What a turn may use: the way out, the clock, its session's memory."""

    session_id: str
    perform: Callable[[Action], None]
    request: Callable[[str, Frame], None]
    """Send a request; the next thing the play does is to yield None."""
    now: Callable[[], float]
    remembered: list[dict[str, str]]
    settings: dict[str, str]


class Turn:
    """A prompt being answered."""

    def __init__(self, request_id: object, prompt: str, stage: Stage) -> None:
        self.request_id = request_id
        self.stage = stage
        self.answer = ""
        """The beginning of the text said so far."""
        self.due = 0.0
        """The moment up to which this turn has been played."""
        self.ignores_cancel = False
        self.cancel_seconds = 0.0
        self.answers_twice = False
        self.late_seconds: list[float] = []
        self.piecewise = False
        self._prompt = prompt
        self._calls = 0

    def play(self, steps: list[Step], directives: "Mapping[str, Directive]") -> Play:
        """All steps in order, or the plain answer when there are none."""
        if not steps:
            yield from self._plain()
        for step in steps:
            directive = directives.get(step.word)
            if directive is None:
                self.text(f"I do not know the directive {step.word!r}. ")
                continue
            ending = yield from directive(self, step)
            if ending is not None:
                return ending
        return Ending()

    def straggle(self) -> None:
        """Updates after the end, as some agents send them."""
        self.text("(late words)")
        if self._calls:
            self.update("tool_call_update", toolCallId=self._call_id(), status="completed")

    def next_call(self) -> str:
        """The id of a new tool call."""
        self._calls += 1
        return self._call_id()

    # --- sending ----------------------------------------------------------------------------------------------

    def send(self, frame: Frame) -> None:
        """A frame of any kind."""
        self.raw(json.dumps({"jsonrpc": "2.0", **frame}, separators=(",", ":")).encode() + b"\n")

    def raw(self, data: bytes) -> None:
        """Bytes as they are."""
        self.stage.perform(Write(data, self.piecewise))

    def update(self, sort: str, **members: Any) -> None:
        """A `session/update` of this session."""
        params = {"sessionId": self.stage.session_id, "update": {"sessionUpdate": sort, **members}}
        self.send({"method": "session/update", "params": params})

    def text(self, text: str, sort: str = "agent_message_chunk") -> None:
        """A piece of text, of the answer unless said otherwise."""
        if sort == "agent_message_chunk" and len(self.answer) < ANSWER_KEPT_CHARACTERS:
            self.answer += text[:ANSWER_KEPT_CHARACTERS]
        self.update(sort, content={"type": "text", "text": text})

    def _call_id(self) -> str:
        return f"call-{len(self.stage.remembered)}-{self._calls}"

    def _plain(self) -> Generator[float, Any, None]:
        quoted = " ".join(self._prompt.split())
        if len(quoted) > _QUOTED_CHARACTERS:
            quoted = quoted[:_QUOTED_CHARACTERS] + "…"
        text = (
            f"You said: “{quoted}”.\n\nI am the demo agent: a script without a model behind it, so that is all I "
            "know about it. This answer still travels like a real one, from a process of its own through the "
            "store to you. Ask me for more with directives, for example [[think 3]] [[plan look;write;test]] "
            "[[ask allow_once,reject_once]] [[tool build output=done]]."
        )
        words = text.split(" ")
        for first in range(0, len(words), _PLAIN_WORDS):
            last = first + _PLAIN_WORDS
            self.text(" ".join(words[first:last]) + ("" if last >= len(words) else " "))
            yield _PLAIN_PAUSE_SECONDS


Directive: TypeAlias = Callable[[Turn, Step], Part]
