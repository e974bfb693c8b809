"""Product code's share of a delta: the whole way from the provider's bytes to the client's queue, in one process.

No sockets, threads, disk or child processes: what is left is what `architecture rule 11` bounds at 20 us a delta.
"""

import json
import time

import attrs

from runtime.actors.session_cells import input_size
from runtime.actors.tails import TailRegistry
from runtime.actors.units import segments
from runtime.api.event_hub import EventHub
from runtime.api.outbound_queue import OutboundQueue
from runtime.api.subscription import Subscription, SubscriptionFilter
from runtime.lifecycle import effects as fx
from runtime.lifecycle import inputs as i
from runtime.lifecycle.live_tail import TailLimits
from runtime.lifecycle.session import decide
from runtime.lifecycle.state import Context, SessionState
from runtime.providers import normalized as n
from runtime.providers.acp.adapter import AcpDescriptor
from runtime.providers.port import AdapterLimits, Deliver, OpenThread, StartTurn, Write
from runtime.providers.registry import ProviderRegistry
from store.canonical.claim import SubmitClaim
from store.canonical.identifiers import ClientSubmitId, SessionId, SessionKey, TargetId, WorkspaceId
from store.canonical.message import Message, TextBlock
from store.canonical.session import Session
from supervisor import Mailbox, MailboxLimits

KEY = SessionKey(WorkspaceId("w"), SessionId("s"))


@attrs.define
class Budget:
    """Microseconds a delta, by part of the way."""

    parts: dict[str, float] = attrs.field(factory=dict)

    @property
    def total_us(self) -> float:
        """All of it."""
        return sum(self.parts.values())


class Road:
    """One session's road, opened up to a turn that streams."""

    def __init__(self) -> None:
        self.adapter = ProviderRegistry((AcpDescriptor(),)).descriptor("acp").adapter(AdapterLimits())
        self.mailbox: Mailbox[i.SessionInput] = Mailbox(
            MailboxLimits(), size=input_size, merge=i.merge_inputs
        )
        self.tails = TailRegistry(TailLimits())
        self.hub = EventHub(None, None, self.tails, 10.0)  # type: ignore[arg-type]
        self.queue = OutboundQueue(64 * 1024 * 1024)
        subscription = Subscription(
            1,
            "w",
            SubscriptionFilter(),
            self.queue,
            None,
            self.tails,
            cursor=0,
            live=True,  # type: ignore[arg-type]
        )
        self.hub.add(subscription)
        self.context = Context(0, lambda: "id")
        session = Session(KEY.workspace_id, KEY.agent_session_id, TargetId("t"), "acp", "/", 0, 0)
        self.state = SessionState(session)
        self._open()

    def _open(self) -> None:
        self.adapter.begin()
        self.adapter.receive(_line({"id": 0, "result": {"protocolVersion": 1, "agentCapabilities": {}}}))
        self._answer_requests(self.adapter.command(OpenThread(self.state.scope, "/", {})))
        claim = SubmitClaim("session", *attrs.astuple(KEY), ClientSubmitId("c"), "session/send", "d", 0)
        prompt = i.Prompt((TextBlock("p"),))
        self._decide(i.SendPrompt("r", i.Submission(claim, prompt)))
        self._decide(i.ConnectionAcquired(1))
        self._decide(i.FromProvider(1, n.ThreadOpened("thread", False)))
        turn = self.state.turn
        assert turn is not None
        for output in self.adapter.command(StartTurn(self.state.scope, turn.turn_id, (TextBlock("p"),))):
            if isinstance(output, Write) and output.token is not None:
                self.adapter.written(output.token)
        self._decide(i.FromProvider(1, n.TurnAccepted(turn.turn_id)))
        for output in self.adapter.receive(chunk(0)):
            if isinstance(output, Deliver):
                for effect in self._decide(i.FromProvider(1, output.event)):
                    if isinstance(effect, fx.OpenMessage):
                        self.message: Message = effect.message
        self.tail = self.tails.of(KEY)
        self.tail.open(self.message)

    def _answer_requests(self, outputs: object) -> None:
        for output in outputs:  # type: ignore[attr-defined]
            if isinstance(output, Write):
                request = json.loads(output.data)
                if request.get("method") == "session/new":
                    self.adapter.receive(_line({"id": request["id"], "result": {"sessionId": "thread"}}))

    def _decide(self, given: i.SessionInput) -> tuple[fx.Effect, ...]:
        self.state, effects = decide(self.state, given, self.context)
        return effects


def measure(deltas: int = 20_000) -> Budget:
    """Send deltas down the road, each alone: nothing merged, the most expensive case."""
    road, budget = Road(), Budget()
    frames = [chunk(number) for number in range(deltas)]
    events, decided = [], []

    def timed(part: str, begun: float) -> None:
        budget.parts[part] = (time.perf_counter() - begun) / deltas * 1e6

    begun = time.perf_counter()
    for frame in frames:
        events.extend(output.event for output in road.adapter.receive(frame) if isinstance(output, Deliver))
    timed("adapter", begun)
    assert len(events) == deltas
    begun = time.perf_counter()
    for event in events:
        road.mailbox.put(i.FromProvider(1, event))
        road.mailbox.drain(256)
    timed("mailbox", begun)
    begun = time.perf_counter()
    for event in events:
        _, effects = decide(road.state, i.FromProvider(1, event), road.context)
        decided.append(effects)
    timed("machine", begun)
    begun = time.perf_counter()
    for effects in decided:
        segments(effects)
    timed("units", begun)
    begun = time.perf_counter()
    numbered = [road.tail.append(road.message.message_id, event.text) for event in events]
    timed("live tail", begun)
    begun = time.perf_counter()
    for batch in numbered:
        road.hub.publish_deltas(road.state.session, batch)
    timed("hub and queue", begun)
    begun = time.perf_counter()
    while pieces := road.queue.take(65536):
        road.queue.written(sum(map(len, pieces)))
    timed("writer", begun)
    return budget


def chunk(number: int) -> bytes:
    """One agent_message_chunk of 64 characters."""
    update = {
        "sessionUpdate": "agent_message_chunk",
        "content": {"type": "text", "text": f"{number:08d}" + "x" * 56},
    }
    return _line({"method": "session/update", "params": {"sessionId": "thread", "update": update}})


def _line(frame: dict[str, object]) -> bytes:
    return json.dumps({"jsonrpc": "2.0", **frame}).encode() + b"\n"
