"""Fan-out: what a Session publishes goes, encoded once, to every subscription that follows it.

The hub is an object, not a task: each call runs in the publisher's step and never waits (`architecture rule 11`).
It owns the index of subscriptions; queues, gaps and replay belong to the subscription.
"""

from collections.abc import Callable, Iterator

import attrs
import trio

from runtime.actors.tails import TailRegistry
from runtime.api.subscription import HubFigures, Subscription
from runtime.lifecycle.effects import PublishActivity
from runtime.lifecycle.live_tail import Delta
from runtime.side.rows import Side, SideFact
from runtime.wire import events
from runtime.wire.encoding import encode_delta, encode_event
from store.canonical.change import Committed
from store.canonical.identifiers import SessionKey
from store.canonical.session import Session
from store.port import StoreReader, StoreWriter

ANY_WORKSPACE = "*"


@attrs.define(eq=False)
class EventHub:
    """All subscriptions of all clients."""

    writer: StoreWriter
    reader: StoreReader
    tails: TailRegistry
    checkpoint_seconds: float
    observe: Callable[[Committed], None] = lambda _: None
    """Told of every commit, whoever follows it."""
    figures: HubFigures = attrs.field(factory=HubFigures, init=False)
    _by_workspace: dict[str, list[Subscription]] = attrs.field(factory=dict, init=False)
    _of_host: list[Subscription] = attrs.field(factory=list, init=False)
    _of_sides: list[Subscription] = attrs.field(factory=list, init=False)

    def add(self, subscription: Subscription) -> None:
        """From this step on the subscription hears of everything new in its workspace."""
        self._by_workspace.setdefault(subscription.workspace_id, []).append(subscription)

    def add_of_host(self, subscription: Subscription) -> None:
        """From this step on the subscription hears of the host itself."""
        self._of_host.append(subscription)

    def add_of_sides(self, subscription: Subscription) -> None:
        """From this step on the subscription hears of the Sides of its workspace."""
        self._of_sides.append(subscription)

    def remove(self, subscription: Subscription) -> None:
        """It hears nothing more; removing twice is harmless."""
        if subscription in self._of_sides:
            self._of_sides.remove(subscription)
        if subscription in self._of_host:
            self._of_host.remove(subscription)
        listed = self._by_workspace.get(subscription.workspace_id, [])
        if subscription in listed:
            listed.remove(subscription)
        if not listed:
            self._by_workspace.pop(subscription.workspace_id, None)

    def __len__(self) -> int:
        return sum(len(listed) for listed in self._by_workspace.values())

    def publish_commit(self, committed: Committed) -> None:
        """A durable unit, as it was encoded and logged by the writer."""
        unit = committed.unit
        self.observe(committed)
        if not unit.rows:
            return
        for subscription in self._following(unit.session_key.workspace_id):
            if subscription.wants(unit.session_key.agent_session_id, unit.root_agent_session_id):
                subscription.commit(committed.commit_seq, committed.body)

    def publish_deltas(self, session: Session, deltas: list[Delta]) -> None:
        """Optimistic text: numbered already, merged already, sent as it is to all alike."""
        root = session.root_agent_session_id
        self.figures.deltas += len(deltas)
        wanted = [
            subscription
            for subscription in self._following(session.workspace_id)
            if subscription.wants_deltas(session.agent_session_id, root)
        ]
        if not wanted:
            return
        for delta in deltas:
            body = _delta_body(delta)
            for subscription in wanted:
                subscription.delta(delta.message, body)

    def publish_activity(self, session: Session, activity: PublishActivity) -> None:
        """A live observation of a session's runtime."""
        root = session.root_agent_session_id
        body = encode_event(
            events.RuntimeActivity(
                workspace_id=session.workspace_id,
                agent_session_id=session.agent_session_id,
                runtime_state=activity.runtime_state,
                activity=activity.activity,
                last_activity_at=session.runtime.last_activity_at,
                occurred_at=activity.at_ms,
            )
        )
        for subscription in self._following(session.workspace_id):
            if subscription.wants(session.agent_session_id, root):
                subscription.observation(body)

    def publish_host(self, event: events.HostEvent) -> None:
        """Something of the host: a hint, so who has no room for it does without."""
        body = encode_event(event)
        for subscription in self._of_host:
            subscription.hint(body)

    def publish_side(self, side: Side, sequence: int, told: SideFact | Delta) -> None:
        """Something of a Side: to its own topic alone, numbered already (RT-117)."""
        wanted = [
            subscription
            for subscription in self._of_sides
            if subscription.workspace_id in (ANY_WORKSPACE, side.workspace_id)
            and subscription.wants_side(side.source_agent_session_id, side.side_agent_session_id)
        ]
        if not wanted:
            return
        event = events.SideUpdated(
            workspace_id=side.workspace_id,
            source_agent_session_id=side.source_agent_session_id,
            side_agent_session_id=side.side_agent_session_id,
            sequence=sequence,
            payload=_delta_event(told) if isinstance(told, Delta) else told,
        )
        body, last = encode_event(event), isinstance(told, events.SideClosed | events.SideExpired)
        for subscription in wanted:
            subscription.side(event, body, last=last)

    async def run(self, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED) -> None:
        """Send checkpoints until cancelled: a quiet subscription learns how far the store has come."""
        task_status.started()
        while True:
            await trio.sleep(self.checkpoint_seconds / 2)
            head = self.writer.head_commit_seq
            body = encode_event(events.Checkpoint(commit_seq=head))
            for listed in list(self._by_workspace.values()):
                for subscription in list(listed):
                    subscription.checkpoint(head, body)

    def _following(self, workspace_id: str) -> Iterator[Subscription]:
        yield from self._by_workspace.get(workspace_id, ())
        yield from self._by_workspace.get(ANY_WORKSPACE, ())


def _delta_event(delta: Delta) -> events.DeltaBody:
    message = delta.message
    assert message.turn_id is not None, "only messages of a turn stream"
    return events.DeltaBody(
        workspace_id=message.workspace_id,
        agent_session_id=message.agent_session_id,
        turn_id=message.turn_id,
        message_id=message.message_id,
        kind=message.kind,
        field=delta.field,
        delta_seq=delta.delta_seq,
        text=delta.text,
    )


def _delta_body(delta: Delta) -> bytes:
    message = delta.message
    assert message.turn_id is not None, "only messages of a turn stream"
    return encode_delta(
        SessionKey(message.workspace_id, message.agent_session_id),
        message.turn_id,
        message.message_id,
        message.kind,
        delta.field,
        delta.delta_seq,
        delta.text,
    )
