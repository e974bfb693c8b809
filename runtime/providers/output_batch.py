"""Collects what an adapter wants performed for one read or command, joining adjacent chunks of one message.

Owns the merge and its order: the events of one scope keep theirs, and text that arrived in one read leaves as one
chunk (`architecture rule 11`). Joining happens once per chunk at the end, not once per piece.
"""

import attrs

from runtime.providers.normalized import OfChild, ProviderEvent, TextChunk, ToolOutputChunk
from runtime.providers.port import Deliver, Output, Scope
from store.canonical.identifiers import SessionId


@attrs.define
class _Run:
    """Adjacent chunks of one message and the place their sum takes among the outputs."""

    first: TextChunk | ToolOutputChunk
    place: int
    texts: list[str]

    def takes(self, event: TextChunk | ToolOutputChunk) -> bool:
        first = self.first
        if isinstance(first, TextChunk):
            return (
                isinstance(event, TextChunk)
                and event.item_id == first.item_id
                and event.turn_id == first.turn_id
                and event.kind == first.kind
            )
        return (
            isinstance(event, ToolOutputChunk)
            and event.call_id == first.call_id
            and event.turn_id == first.turn_id
        )


class OutputBatch:
    """Outputs in order. `take` gives them and leaves the batch empty for the next read."""

    def __init__(self) -> None:
        self._outputs: list[Output] = []
        self._runs: dict[Scope, _Run] = {}
        self._roots: dict[Scope, Scope] = {}

    def route(self, child: Scope, root: Scope) -> None:
        """What is delivered to a sub-agent's scope goes to its root's from now on, which owns the connection."""
        self._roots[child] = root

    def end_route(self, child: Scope) -> None:
        """Nothing more comes for that sub-agent."""
        self._roots.pop(child, None)

    def add(self, output: Output) -> None:
        """Something to perform that is not an event of a scope."""
        self._outputs.append(output)

    def deliver(self, scope: Scope, event: ProviderEvent) -> None:
        """An event for a scope; a chunk joins the one before it when nothing of that scope came between."""
        chunk = event if isinstance(event, (TextChunk, ToolOutputChunk)) else None
        run = self._runs.get(scope)
        if run is not None:
            if chunk is not None and run.takes(chunk):
                run.texts.append(chunk.text)
                return
            del self._runs[scope]
            self._join(scope, run)
        if chunk is not None:
            self._runs[scope] = _Run(chunk, len(self._outputs), [chunk.text])
        self._outputs.append(self._delivery(scope, event))

    def take(self) -> list[Output]:
        """All outputs, in order."""
        for scope, run in self._runs.items():
            self._join(scope, run)
        self._runs.clear()
        outputs, self._outputs = self._outputs, []
        return outputs

    def _join(self, scope: Scope, run: _Run) -> None:
        if len(run.texts) > 1:
            self._outputs[run.place] = self._delivery(scope, attrs.evolve(run.first, text="".join(run.texts)))

    def _delivery(self, scope: Scope, event: ProviderEvent) -> Deliver:
        root = self._roots.get(scope)
        if root is None:
            return Deliver(scope, event)
        return Deliver(root, OfChild(SessionId(scope.agent_session_id), event))
