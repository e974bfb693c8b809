"""Prompts that wait for their turn in one session: the queue that the daemon does not have (decision 0009, FC-22).

Owns the order, and the one rule for what comes next: a prompt is sent when the turn before it has completed. After a
stop, a failure or a refusal the queue stands still and keeps what it holds until it is told to go on.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Final

import anyio
import attrs

from greenroom_client.client import Client
from greenroom_client.contract.models import PromptBlock, Turn
from greenroom_client.errors import GreenroomError
from greenroom_client.events import SubscriptionEvent, facts_are_missing
from greenroom_client.following import new_submit_id, prompt, repeat_until_answered
from greenroom_client.subscription import Subscription

PROMPTS_MAX: Final = 100
ENDED_MAX: Final = 256
"""More than a read of a session brings, so that none of these is taken for running again."""


class QueueFull(Exception):
    """Raised when a prompt is added to a queue that holds `PROMPTS_MAX`."""


@attrs.frozen
class QueuedPrompt:
    """One prompt. Kept by the program and handed in again after its restart, it still runs at most once."""

    content: Sequence[PromptBlock]
    submit_id: str = attrs.field(factory=new_submit_id)


@attrs.define(eq=False)
class PromptQueue:
    """The queue of one session; `run` sends from it. `on_change` is told of every change, in the step that makes it."""

    client: Client
    workspace_id: str
    agent_session_id: str
    on_change: Callable[["PromptQueue"], None] | None = None
    halted: str | None = attrs.field(default=None, init=False)
    """Why nothing is sent: the outcome of the turn that did not complete, or the code of a refusal. None: it goes on."""
    _waiting: list[QueuedPrompt] = attrs.field(factory=list, init=False)
    _sending: str | None = attrs.field(default=None, init=False)
    _active: str | None = attrs.field(default=None, init=False)
    """The turn that is not settled."""
    _ended: dict[str, str] = attrs.field(factory=dict, init=False)
    """How turns ended, the newest last."""
    _woken: anyio.Event = attrs.field(factory=anyio.Event, init=False)

    @property
    def waiting(self) -> tuple[QueuedPrompt, ...]:
        """What is not known to be taken yet, in order; the first may be on its way."""
        return tuple(self._waiting)

    def add(self, content: str | Sequence[PromptBlock]) -> QueuedPrompt:
        """Put a prompt at the end. Raises `QueueFull`."""
        queued = QueuedPrompt(prompt(content) if isinstance(content, str) else tuple(content))
        self.restore([queued])
        return queued

    def restore(self, prompts: Iterable[QueuedPrompt]) -> None:
        """Put prompts of an earlier life at the end. Raises `QueueFull`, having added none."""
        added = list(prompts)
        if len(self._waiting) + len(added) > PROMPTS_MAX:
            raise QueueFull(f"a queue holds {PROMPTS_MAX} prompts")
        self._waiting += added
        self._changed()

    def remove(self, submit_id: str) -> bool:
        """Take a prompt out; False when it is on its way, or gone."""
        left = [one for one in self._waiting if one.submit_id != submit_id or submit_id == self._sending]
        removed = len(left) < len(self._waiting)
        self._waiting = left
        if removed:
            self._changed()
        return removed

    def resume(self) -> None:
        """Go on after a halt."""
        self.halted = None
        self._changed()

    async def run(self) -> None:
        """Sends until cancelled; start it once, in a task group. Raises what subscribing and reading raise."""
        async with self.client.subscribe(
            self.workspace_id, agent_session_ids=[self.agent_session_id], deltas="none"
        ) as events:
            await self._look()
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(self._listen, events)
                while True:
                    self._woken = anyio.Event()
                    if self._waiting and self.halted is None and self._active is None:
                        await self._send(self._waiting[0])
                    else:
                        await self._woken.wait()

    async def _send(self, queued: QueuedPrompt) -> None:
        self._sending = queued.submit_id
        try:
            reply = await repeat_until_answered(
                lambda: self.client.session_send(
                    workspace_id=self.workspace_id,
                    agent_session_id=self.agent_session_id,
                    client_submit_id=queued.submit_id,
                    content=queued.content,
                )
            )
        except GreenroomError as refused:
            if refused.code == "session.busy":
                await self._look()
                return
            self.halted = refused.code
        else:
            self._waiting.remove(queued)
            self._turn(reply["turn"])
        finally:
            self._sending = None
        self._changed()

    async def _listen(self, events: Subscription) -> None:
        async for event in events:
            if facts_are_missing(event):
                await self._look()
            else:
                self._receive(event)

    def _receive(self, event: SubscriptionEvent) -> None:
        if event["type"] != "commit":
            return
        for change in event["changes"]:
            if change["row"]["agentSessionId"] != self.agent_session_id:
                continue  # a descendant's
            if change["type"] == "turn":
                self._turn(change["row"])
            elif change["type"] == "session_removed":
                self.halted = "session.deleted"
                self._changed()

    def _turn(self, row: Turn) -> None:
        turn_id = row["turnId"]
        if row["phase"] == "settled":
            self._ended[turn_id] = row["outcome"] or "completed"
            if len(self._ended) > ENDED_MAX:
                self._ended.pop(next(iter(self._ended)))
            if turn_id == self._active:
                self._end(turn_id)
        elif turn_id in self._ended:
            # Its end was heard before the reply that names it came to its turn.
            self._end(turn_id)
        else:
            self._active = turn_id

    def _end(self, turn_id: str) -> None:
        self._active = None
        if self._ended[turn_id] != "completed":
            self.halted = self._ended[turn_id]
        self._changed()

    async def _look(self) -> None:
        """What runs now, by reading. A turn that ended meanwhile, unseen, halts as if its end had been seen."""
        reply = await self.client.session_get(
            workspace_id=self.workspace_id, agent_session_id=self.agent_session_id
        )
        for turn in (*reply["turns"], *([reply["activeTurn"]] if reply["activeTurn"] else ())):
            self._turn(turn)
        self._woken.set()

    def _changed(self) -> None:
        self._woken.set()
        if self.on_change is not None:
            self.on_change(self)
