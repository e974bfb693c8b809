"""Which scopes hear a connection, and how its events reach them.

Owns the routes of one connection: merging, order, back-pressure and the promise that each scope hears of the loss
exactly once and nothing after it (architecture rules 8 and 11). It performs nothing and decides no turn; it only
remembers whether one is open, which is what a connection that is being given up has to wait for.
"""

from collections.abc import Callable, Iterator
from typing import Protocol

import attrs
import trio

from runtime.providers.normalized import (
    ConnectionLost,
    ProviderEvent,
    TurnEnded,
    TurnRejected,
    TurnStartedByProvider,
    merge_events,
)
from runtime.providers.port import CloseThread, ConnectionCommand, Scope, StartTurn
from store.canonical.common import TurnError
from store.canonical.identifiers import TurnId
from supervisor.cell import guard

_BOUNDARIES = {ConnectionLost, TurnEnded, TurnRejected, TurnStartedByProvider}
"""What changes a route, among much that does not."""


class ScopeSink(Protocol):
    """Where the events of a scope go: its mailbox."""

    def put(self, event: ProviderEvent) -> None:
        """Take the event; never refuses, never waits, and tells the connection nothing in the same step."""

    @property
    def above_high_water(self) -> bool:
        """Whether so much waits here that the connection should stop reading (architecture rule 8)."""

    async def wait_below_low_water(self) -> None:
        """Until reading may go on."""


@attrs.define(eq=False)
class _Route:
    sink: ScopeSink
    open_turn: TurnId | None = None
    thread_closed: bool = False
    collected: list[ProviderEvent] = attrs.field(factory=list)


class ScopeRoutes:
    """The routes of one connection.

    Args:
        on_lost: a scope was told of the loss and has no route any more.
        on_broken: a scope's sink raised; it has no route any more either.
    """

    def __init__(
        self, on_lost: Callable[[Scope], None], on_broken: Callable[[Scope, Exception], None]
    ) -> None:
        self._routes: dict[Scope, _Route] = {}
        self._on_lost = on_lost
        self._on_broken = on_broken
        self._pauses: dict[Scope, trio.CancelScope] = {}
        self._collecting: list[tuple[Scope, _Route]] = []

    def __len__(self) -> int:
        return len(self._routes)

    def __iter__(self) -> Iterator[Scope]:
        return iter(tuple(self._routes))

    def __contains__(self, scope: object) -> bool:
        return scope in self._routes

    def attach(self, scope: Scope, sink: ScopeSink) -> None:
        """From now on this scope hears what is its own."""
        assert scope not in self._routes, f"{scope} has a route already"
        self._routes[scope] = _Route(sink)

    def detach(self, scope: Scope) -> None:
        """Nothing is heard by this scope any more, and nobody waits for it. Harmless when it is not attached."""
        self._routes.pop(scope, None)
        pause = self._pauses.get(scope)
        if pause is not None:
            pause.cancel()

    def told(self, command: ConnectionCommand) -> None:
        """Remember what the scope told its provider."""
        route = self._routes[command.scope]
        if isinstance(command, StartTurn):
            route.open_turn = command.turn_id
        elif isinstance(command, CloseThread):
            route.thread_closed, route.open_turn = True, None

    def thread_closed(self, scope: Scope) -> bool:
        """Whether the scope has already ended its conversation on the wire."""
        return self._routes[scope].thread_closed

    def collect(self, scope: Scope, event: ProviderEvent) -> bool:
        """Keep the event for the coming flush, joined with the one before it; False when nobody hears it."""
        route = self._routes.get(scope)
        if route is None:
            return False
        if route.collected:
            merged = merge_events(route.collected[-1], event)
            if merged is not None:
                route.collected[-1] = merged
                return True
        else:
            self._collecting.append((scope, route))
        route.collected.append(event)
        return True

    def flush(self) -> None:
        """Put everything collected, scope by scope, in the order the provider produced it."""
        collecting, self._collecting = self._collecting, []
        for scope, route in collecting:
            events, route.collected = route.collected, []
            for event in events:
                self._put(scope, route, event)

    def lose(self, scope: Scope, error: TurnError) -> None:
        """Tell one scope that the connection is gone for it."""
        route = self._routes.get(scope)
        if route is not None:
            self._put(scope, route, ConnectionLost(error))

    def lose_all(self, error: TurnError) -> None:
        """Tell every scope that has not heard of it yet."""
        for scope in self:
            self.lose(scope, error)

    def lose_idle(self, error: TurnError) -> None:
        """Tell those that have no turn open."""
        for scope in self:
            route = self._routes.get(scope)
            if route is not None and route.open_turn is None:
                self.lose(scope, error)

    @property
    def above_high_water(self) -> bool:
        """Whether a scope has too much waiting: what is asked before each read."""
        for route in self._routes.values():  # noqa: SIM110 -- a generator costs more than the question
            if route.sink.above_high_water:
                return True
        return False

    async def wait_below_low_water(self) -> None:
        """Until no scope has too much waiting; a scope that leaves is waited for no longer."""
        while full := [scope for scope, route in self._routes.items() if route.sink.above_high_water]:
            scope = full[0]
            with trio.CancelScope() as pause:
                self._pauses[scope] = pause
                try:
                    await self._routes[scope].sink.wait_below_low_water()
                finally:
                    del self._pauses[scope]
            await trio.lowlevel.checkpoint()

    def _put(self, scope: Scope, route: _Route, event: ProviderEvent) -> None:
        """One put; a sink that raises costs its own route, not those of the others (FC-25)."""
        if self._routes.get(scope) is not route:
            return
        faults: list[Exception] = []
        kind = type(event)
        lost = kind is ConnectionLost
        if kind in _BOUNDARIES:
            self._pass_boundary(scope, route, event)
        with guard(faults.append):
            route.sink.put(event)
        if faults:
            self.detach(scope)
            self._on_broken(scope, faults[0])
        elif lost:
            self._on_lost(scope)

    def _pass_boundary(self, scope: Scope, route: _Route, event: ProviderEvent) -> None:
        match event:
            case ConnectionLost():
                self.detach(scope)
            case TurnEnded(turn_id=turn_id) | TurnRejected(turn_id=turn_id) if turn_id == route.open_turn:
                route.open_turn = None
            case TurnStartedByProvider(turn_id=turn_id) if route.open_turn is None:
                route.open_turn = turn_id
            case _:
                pass
