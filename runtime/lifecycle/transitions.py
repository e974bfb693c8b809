"""The form of a transition table, and its one interpreter. What is not in a table does not happen."""

from collections.abc import Iterable
from typing import Generic, TypeVar

import attrs

S = TypeVar("S", bound=str)
E = TypeVar("E", bound=str)


@attrs.frozen
class Transition(Generic[S, E]):
    """In state `source`, `event` leads to `target`."""

    source: S
    event: E
    target: S


class TransitionTable(Generic[S, E]):
    """A closed table: `after` answers None for what the table does not allow, and the caller refuses or drops."""

    def __init__(self, name: str, initial: S, transitions: Iterable[Transition[S, E]]) -> None:
        self.name = name
        self.initial = initial
        self.transitions = tuple(transitions)
        self._targets = {(t.source, t.event): t.target for t in self.transitions}
        if len(self._targets) != len(self.transitions):
            raise ValueError(f"{name}: two transitions leave one state by one event")

    def after(self, state: S, event: E) -> S | None:
        """The state that follows, or None when `event` is not allowed in `state`."""
        return self._targets.get((state, event))

    @property
    def states(self) -> tuple[S, ...]:
        """Every state of the table, in the order of their first mention."""
        seen: dict[S, None] = {self.initial: None}
        for transition in self.transitions:
            seen[transition.source] = None
            seen[transition.target] = None
        return tuple(seen)
