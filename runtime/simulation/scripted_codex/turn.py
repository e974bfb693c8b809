"""One turn of the scripted app-server, played step by step as a generator: it yields when it has to wait.

Owns the items of the turn and their order on the wire; what a prompt makes of it stands in `directives`. It reads no
clock and writes nothing itself. Ids of items begin anew in each turn, as those of some model servers do.
"""

from collections.abc import Callable, Generator, Mapping
from typing import Any, Final, NamedTuple, TypeAlias

from runtime.providers.demo.actions import Write
from runtime.providers.demo.script import Step
from runtime.simulation.scripted_codex.stage import Stage
from runtime.simulation.scripted_codex.texts import Frame
from runtime.simulation.scripted_codex.thread import Thread

DELTAS: Final = {
    "agentMessage": "item/agentMessage/delta",
    "plan": "item/plan/delta",
    "reasoning": "item/reasoning/summaryTextDelta",
}
"""Items that are text, and what their pieces are told by."""


class Ending(NamedTuple):
    """How a turn ends, in Codex's words; `silent` for one whose end is not told."""

    status: str = "completed"
    error: Frame | None = None
    silent: bool = False


Play: TypeAlias = Generator[float | None, Any, Ending]
"""A turn: yields seconds to pause, or None to wait for the answer to the request just sent."""
Part: TypeAlias = Generator[float | None, Any, Ending | None]
"""One directive: returns how the turn ends, if it ends with it."""


class Turn:
    """A turn being played."""

    def __init__(self, turn_id: str, prompt: str, thread: Thread, stage: Stage) -> None:
        self.turn_id = turn_id
        self.announced_id = turn_id
        """Of its `turn/started`, and the only one that stops or steers it: another one in a review."""
        self.thread = thread
        self.stage = stage
        self.asks: list[int] = []
        """Ids of its requests that are not answered."""
        self.due = 0.0
        self.waits = False
        self.ignores_cancel = False
        self.cancel_seconds = 0.0
        self.answers_twice = False
        self.late_seconds: list[float] = []
        self.piecewise = False
        self.refused_stops = 0
        """How many more interrupts are refused with the name of yet another turn."""
        self.record: Frame = {
            "id": turn_id,
            "items": [],
            "itemsView": "full",
            "status": "inProgress",
            "error": None,
        }
        self.playing: Play | None = None
        self._prompt = prompt
        self._counts: dict[str, int] = {}
        self._open: Frame | None = None

    def play(self, steps: list[Step], directives: Mapping[str, Callable[["Turn", Step], Part]]) -> Play:
        """All steps in order, or a plain answer when there are none."""
        if not steps:
            quoted = " ".join(self._prompt.split())[:160]
            self.text(f"You said: “{quoted}”. ")
            yield 0.0
            self.text("I am a script, so that is all I know about it.")
        for step in steps:
            directive = directives.get(step.word)
            if directive is None:
                self.text(f"I do not know the directive {step.word!r}. ")
                continue
            ending = yield from directive(self, step)
            if ending is not None:
                return ending
        return Ending()

    # --- on the wire ------------------------------------------------------------------------------------------

    def raw(self, data: bytes) -> None:
        """Bytes as they are."""
        self.stage.perform(Write(data, self.piecewise))

    def notify(self, method: str, **params: Any) -> None:
        """Something within this turn."""
        self.stage.notify(self.thread, method, turnId=self.turn_id, **params)

    def request(self, method: str, **params: Any) -> None:
        """Ask the client; the next thing the play does is to yield None."""
        params = {"threadId": self.thread.thread_id, "turnId": self.turn_id, **params}
        self.stage.ask(self, method, params)

    def view(self, **members: Any) -> Frame:
        """The turn as answers and its own start and end show it."""
        shown = {"id": self.turn_id, "items": [], "status": self.record["status"], "error": None}
        return shown | members

    # --- items ------------------------------------------------------------------------------------------------

    def new_id(self, prefix: str) -> str:
        """Of an item or a call, counted anew in each turn."""
        self._counts[prefix] = self._counts.get(prefix, 0) + 1
        return f"{prefix}_{self._counts[prefix]}"

    def text(self, text: str, kind: str = "agentMessage") -> None:
        """A piece of text; one kind follows another as another item."""
        item = self._open
        if item is None or item["type"] != kind:
            self.finish_text()
            item = {"type": kind, "id": self.new_id("rs" if kind == "reasoning" else "msg"), "text": ""}
            self._open = item
            self.notify("item/started", item=_shown(item))
        item["text"] += text
        index = {"summaryIndex": 0} if kind == "reasoning" else {}
        self.notify(DELTAS[kind], itemId=item["id"], delta=text, **index)

    def finish_text(self) -> None:
        """The text that is being said is complete."""
        item, self._open = self._open, None
        if item is not None:
            self.complete(_shown(item))

    def abandon_text(self) -> None:
        """The model's request was broken off: what was half said is never completed, nor kept."""
        self._open = None

    def said(self, text: str, client_id: object) -> None:
        """What the client said."""
        self.abandon_text()
        item = {
            "type": "userMessage",
            "id": f"{self.turn_id}-{self.new_id('user')}",
            "clientId": client_id,
            "content": [{"type": "text", "text": text, "text_elements": []}],
        }
        self.notify("item/started", item=item)
        self.complete(item)

    def begin(self, item: Frame) -> Frame:
        """An item that is no text begins."""
        self.finish_text()
        self.notify("item/started", item=dict(item))
        return item

    def complete(self, item: Frame, **members: Any) -> None:
        """An item as it finally is. It is kept, in a turn that is over too."""
        item |= members
        self.notify("item/completed", item=dict(item))
        self.record["items"].append(dict(item))
        self.stage.keep(self.thread)

    def command(self, text: str) -> Frame:
        """The item of a command, not begun."""
        call_id = self.new_id("call")
        return {
            "type": "commandExecution",
            "id": call_id,
            "command": f"/bin/bash -lc '{text}'",
            "cwd": self.thread.settings.cwd,
            "processId": f"{self.turn_id}-{call_id}",
            "status": "inProgress",
            "commandActions": [{"type": "unknown", "command": text}],
            "aggregatedOutput": None,
            "exitCode": None,
        }

    def patch(self, path: str) -> Frame:
        """The item of a patch, not begun."""
        return {
            "type": "fileChange",
            "id": self.new_id("call"),
            "changes": [{"path": path, "kind": {"type": "add"}, "diff": "one\ntwo\n"}],
            "status": "inProgress",
        }

    @property
    def last_words(self) -> list[Frame]:
        """What `turn/completed` brings along once more."""
        said = [item for item in self.record["items"] if item["type"] == "agentMessage"]
        return said[-1:]


def _shown(item: Frame) -> Frame:
    if item["type"] != "reasoning":
        return dict(item)
    summary = [item["text"]] if item["text"] else []
    return {"type": "reasoning", "id": item["id"], "summary": summary, "content": []}
