"""The machines of one tree on a table: what they tell each other is carried from one to the other, in order.

The adapter's half is the test's: it says what the agent shows. A message between two sessions waits in `post` until
`deliver`, so that a test chooses what comes between.
"""

from collections import deque

import attrs

from runtime.lifecycle import effects as fx
from runtime.lifecycle import inputs as i
from runtime.lifecycle.state import SessionState
from runtime.providers import normalized as n
from runtime.simulation.protocols.rows import GUIDED, KEY
from store.canonical.identifiers import CallId, SessionId, TurnId
from tests.lifecycle.playbook import Playbook


@attrs.define
class Family:
    """A root whose turn runs, and the sessions of its sub-agents."""

    root: Playbook = attrs.field(factory=Playbook)
    sessions: dict[str, Playbook] = attrs.field(factory=dict)
    post: deque[fx.TellSession] = attrs.field(factory=deque)
    turn_id: TurnId = attrs.field(default=TurnId(""))

    def __attrs_post_init__(self) -> None:
        self.turn_id = self.root.running(GUIDED)

    def says(self, event: n.ProviderEvent, *, deliver: bool = True) -> None:
        """A word of the agent to the root's scope; the actor looks up whether a sub-agent has a session."""
        child, parent_id = event, KEY.agent_session_id
        if isinstance(event, n.OfChild) and isinstance(event.event, n.ChildSpawned):
            child, parent_id = event.event, event.child_id
        if isinstance(child, n.ChildSpawned):
            known = self.sessions.get(child.child_id)
            stored = known.state.session if known is not None else None
            self.give(self.root, i.ChildAppeared(self.root.generation, child, parent_id, stored))
        else:
            self.give(self.root, i.FromProvider(self.root.generation, event))
        if deliver:
            self.deliver()

    def spawn(self, name: str = "child", *, turn: str | None = "work", call: str = "call-1") -> None:
        """A sub-agent of the root begins, and a turn of it, unless none is named."""
        self.says(n.ChildSpawned(self.turn_id, SessionId(name), f"thread-{name}", CallId(call), "dig"))
        if turn is not None:
            self.of(name, n.TurnStartedByProvider(TurnId(turn), turn))

    def of(self, name: str, event: n.ProviderEvent, *, deliver: bool = True) -> None:
        """A word of a sub-agent."""
        self.says(n.OfChild(SessionId(name), event), deliver=deliver)

    def ends(self, turn_id: str | None = None, outcome: str = "completed", *, deliver: bool = True) -> None:
        """The root's response ends."""
        ended = n.TurnEnded(TurnId(turn_id or self.turn_id), outcome, "end_turn")
        self.says(ended, deliver=deliver)

    def child_ends(self, name: str = "child", turn: str = "work", outcome: str = "completed") -> None:
        """A sub-agent's turn ends."""
        self.of(name, n.TurnEnded(TurnId(turn), outcome, "end_turn"))

    def give(self, book: Playbook, given: i.SessionInput) -> None:
        """One decision; what it tells others waits in the post."""
        book.give(given)
        told, book.told_sessions = book.told_sessions, []
        self.post += told
        for name, session in self.root.children.items():
            if name not in self.sessions:
                self.sessions[name] = Playbook(state=SessionState(session))

    def deliver(self) -> None:
        """Everything in the post, and what comes of it."""
        while self.post:
            told = self.post.popleft()
            name = told.key.agent_session_id
            self.give(self.root if name == KEY.agent_session_id else self.sessions[name], told.message)

    def cancel(self, *, deliver: bool = True) -> None:
        """A client cancels the root's turn."""
        self.give(self.root, i.RequestCancel("cancel", self.turn_id))
        if deliver:
            self.deliver()

    @property
    def turn(self) -> str:
        """The phase of the root's turn, or its outcome once it has one."""
        row = self.root.turns[self.turn_id]
        return row.outcome or row.phase

    def child_turn(self, name: str = "child", turn: str = "work") -> str:
        """The same of a sub-agent's turn; empty when it has none."""
        row = self.sessions[name].turns.get(turn)
        return "" if row is None else row.outcome or row.phase
