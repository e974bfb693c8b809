"""What the desks and turns of the scripted app-server may use of it: the way out, the moment, the home."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

from runtime.providers.demo.actions import Action
from runtime.providers.demo.script import Step
from runtime.simulation.scripted_codex.texts import Frame
from runtime.simulation.scripted_codex.thread import Thread

if TYPE_CHECKING:
    from runtime.simulation.scripted_codex.turn import Turn

Handler: TypeAlias = Callable[[object, Frame], None]
"""Answers a request: its id and its params. Raises Refused."""


class Stage(Protocol):
    """What a turn may use of its server."""

    @property
    def now(self) -> float:
        """The moment."""

    def perform(self, action: Action) -> None:
        """Have something done."""

    def new_id(self, kind: str) -> str:
        """A name that no other process on this home gives."""

    def script(self, text: str) -> list[Step]:
        """The directives in a text."""

    def reply(self, request_id: object, result: Frame) -> None:
        """Answer a request of the client."""

    def send(self, frame: Frame) -> None:
        """A frame, whoever listens."""

    def notify(self, thread: Thread, method: str, **params: Any) -> None:
        """Tell of a thread, to whom has subscribed to it."""

    def ask(self, turn: Turn, method: str, params: Frame) -> None:
        """Send a request; the next thing the play does is to yield None."""

    def later(self, seconds: float, due: Callable[[], None]) -> None:
        """Do something in a while, whatever has become of the turn."""

    def at(self, when: float, due: Callable[[], None]) -> None:
        """The same at a moment."""

    def spawn(self, turn: Turn, step: Step) -> None:
        """Begin a sub-agent, a thread of its own with a turn."""

    def keep(self, thread: Thread) -> None:
        """Write the thread down."""

    def status_changed(self, thread: Thread) -> None:
        """Tell whether the thread is active and what it waits for."""
