"""A subscription that changes what it follows while text streams and its client lags: seeded programs, checked as the
client reads them. Nothing in scope is missed or told twice, no text is continued that was not begun."""

import json
import random

import attrs
import pytest

from runtime.api.subscription import SubscriptionFilter
from store.canonical.identifiers import SessionId, SessionKey, WorkspaceId
from store.canonical.message import Message
from tests.doubles.subscription_stage import Stage

NAMES = ("a", "b")
KEYS = {name: SessionKey(WorkspaceId("w"), SessionId(name)) for name in NAMES}
SESSIONS = (None, frozenset({"a"}), frozenset({"b"}), frozenset({"a", "b"}), frozenset())
STEPS = 150


def a_scope(chance: random.Random) -> SubscriptionFilter:
    named = frozenset(SessionId(name) for name in NAMES if chance.random() < 0.5)
    return SubscriptionFilter(chance.choice(SESSIONS), chance.random() < 0.6, named)


@attrs.define(eq=False)
class Reader:
    """What the client knows, event by event."""

    scopes: list[SubscriptionFilter]
    owner: dict[str, str]
    """Whose each message and each commit is, by its name in what is read."""
    scope: SubscriptionFilter = attrs.field(factory=SubscriptionFilter)
    held: dict[str, int | None] = attrs.field(factory=dict)
    """Deltas of each message that the client has; None when it has to wait for a snapshot."""
    commits: list[int] = attrs.field(factory=list)

    def take(self, told: list[str]) -> None:
        for event in told:
            kind, _, rest = event.partition(":")
            if event.startswith("reply"):
                self._change(self.scopes[int(event.removeprefix("reply"))])
            elif event.startswith("c"):
                assert self._follows(event), f"{event} is out of scope"
                self.commits.append(int(event[1:]))
            elif kind == "gap":
                self.held[rest] = None
            else:
                name, _, number = rest.partition(".")
                assert self._streams(name), f"{event} is out of scope"
                if kind == "d":
                    # Its first delta needs nothing before it but its row.
                    held = self.held.get(name) or 0 if number == "0" else self.held.get(name)
                    assert held == int(number), f"{event}, held is {held}"
                self.held[name] = int(number) + (kind == "d")

    def _change(self, scope: SubscriptionFilter) -> None:
        self.scope = scope
        for name in self.owner:
            if name.startswith("m") and not self._streams(name):
                self.held[name] = None

    def _follows(self, name: str) -> bool:
        session = SessionId(self.owner[name])
        return self.scope.takes(session, session)

    def _streams(self, name: str) -> bool:
        session = SessionId(self.owner[name])
        return self.scope.takes_deltas(session, session)


@pytest.mark.rule("AP-010", "AP-020")
@pytest.mark.parametrize("seed", range(60))
def test_whatever_is_followed_when_the_client_ends_with_all_that_stayed_in_scope(seed: int) -> None:
    chance = random.Random(seed)
    stage = Stage()
    reader = Reader([SubscriptionFilter()], {})
    open_messages: dict[str, Message] = {}
    owed: set[int] = set()
    streamed: dict[str, int] = {}
    commit_seq = 0
    stage.subscription.begin(0)
    for step in range(STEPS):
        name = chance.choice(NAMES)
        match chance.choice(
            ("commit", "open", "stream", "stream", "stream", "end", "change", "read", "read")
        ):
            case "commit":
                commit_seq += 1
                reader.owner[f"c{commit_seq}"] = name
                if stage.subscription.wants(SessionId(name), SessionId(name)):
                    owed.add(commit_seq)
                stage.commit(commit_seq, chance.choice((80, 400, 900)), KEYS[name])
            case "open" if len(open_messages) < 4:
                message = stage.open(f"m{step}", KEYS[name])
                open_messages[f"m{step}"] = message
                reader.owner[f"m{step}"] = name
                streamed[f"m{step}"] = 0
                if not stage.subscription.wants_deltas(SessionId(name), SessionId(name)):
                    reader.held[f"m{step}"] = None
            case "stream" if open_messages:
                which = chance.choice(sorted(open_messages))
                stage.stream(open_messages[which], chance.choice((50, 300, 800)))
                streamed[which] += 1
            case "end" if open_messages:
                which = chance.choice(sorted(open_messages))
                stage.end(open_messages.pop(which))
            case "change":
                scope = a_scope(chance)
                reply = {"params": {"type": "reply", "commitSeq": len(reader.scopes)}}
                reader.scopes.append(scope)
                stage.queue.put_reply(json.dumps(reply).encode())
                stage.subscription.change(scope)
                gone = {n for n in owed if not scope.takes(*[SessionId(reader.owner[f"c{n}"])] * 2)}
                owed -= gone  # they may have been sent before, and need not be
            case "read":
                reader.take(stage.read(chance.choice((200, 1500, 5000))))
            case _:
                pass
    reader.take(stage.read_all())
    assert reader.commits == sorted(set(reader.commits)), "in order, none twice"
    assert owed <= set(reader.commits), "none missed that stayed in scope"
    for which in open_messages:
        session = SessionId(reader.owner[which])
        if reader.scope.takes_deltas(session, session):
            assert reader.held.get(which, 0) == streamed[which], f"{which} is not whole in the end"
