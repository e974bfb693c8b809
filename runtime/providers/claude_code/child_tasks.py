"""Sub-agents of one process: tasks that a call began, each told as a session of its own.

Owns which tasks those are, what their frames say, and how each ends. A sub-agent is one by its `task_started` alone, which names
the call that began it (RT-133); what comes without that stays output of the call. Its frames come whole, without a
stream, and may come after the result of the turn that began it. Claude Code tells of its end by name, and of one that worked
in the foreground by the result of its call at the latest.
"""

from collections.abc import Iterator
from typing import Final

import attrs

from runtime.providers.claude_code.asks import OpenAsks
from runtime.providers.claude_code.calls import CallLedger
from runtime.providers.claude_code.control import ControlAnswer, OpenRequests
from runtime.providers.claude_code.failures import provider_error
from runtime.providers.claude_code.normalizer import TurnNormalizer
from runtime.providers.claude_code.turns import stamp_of
from runtime.providers.jsonrpc.members import Members, list_of, object_of, text_of
from runtime.providers.normalized import (
    CancelRefused,
    ChildSpawned,
    ToolCallReported,
    TurnEnded,
    TurnEvent,
    TurnStartedByProvider,
)
from runtime.providers.output_batch import OutputBatch
from runtime.providers.port import Scope
from store.canonical.common import Json
from store.canonical.identifiers import CallId, SessionId, TurnId
from store.canonical.turn import TurnOutcome

TASKS_MAX: Final = 256
_STOPPED: Final = frozenset({"stopped", "killed", "cancelled"})


@attrs.define(eq=False)
class ChildTask:
    """One run of a sub-agent, with the turn it is."""

    task_id: str
    call_id: CallId
    """Of the call that began it."""
    scope: Scope
    turn_id: TurnId
    root_turn_id: TurnId
    """The conversation's turn it works for."""
    asks: OpenAsks
    backgrounded: bool
    normalizer: TurnNormalizer
    ledger: CallLedger
    """The calls it makes itself."""
    stopping: bool = False
    ended: bool = False

    @property
    def child_id(self) -> SessionId:
        """The session it is told as."""
        return SessionId(self.scope.agent_session_id)


class ChildTasks:
    """The sub-agents of one conversation, the newest ones."""

    def __init__(self, root: Scope, requests: OpenRequests) -> None:
        self._root = root
        self._requests = requests
        self._tasks: list[ChildTask] = []
        self._runs = 0

    def of_call(self, call_id: str | None) -> ChildTask | None:
        """The one that this call began, while it works."""
        return next((task for task in self.working() if task.call_id == call_id), None)

    def of_agent(self, agent_id: str | None) -> ChildTask | None:
        """The one by Claude Code's own name, while it works."""
        return next((task for task in self.working() if task.task_id == agent_id), None)

    def of_scope(self, scope: Scope) -> ChildTask | None:
        """The newest run of a session."""
        return next((task for task in reversed(self._tasks) if task.scope == scope), None)

    def working(self) -> Iterator[ChildTask]:
        """Those that have not ended, the newest first."""
        return (task for task in reversed(self._tasks) if not task.ended)

    def works_for(self, turn_id: TurnId) -> bool:
        """Whether any of them works for that turn."""
        return any(task.root_turn_id == turn_id for task in self.working())

    def asking(self, wire_id: str) -> Iterator[ChildTask]:
        """Those that wait for an answer to this request."""
        return (task for task in self._tasks if task.asks.is_open(wire_id))

    # --- beginnings -------------------------------------------------------------------------------------------

    def began(self, frame: Members, call_turn_id: TurnId, parent: ChildTask | None, out: OutputBatch) -> None:
        """`task_started` of a sub-agent, begun by a call of that turn: of the conversation, or of `parent`."""
        task_id, call_id = text_of(frame.get("task_id")), text_of(frame.get("tool_use_id"))
        if task_id is None or call_id is None or self.of_agent(task_id) is not None:
            return
        self._runs += 1
        turn_id = TurnId(stamp_of(f"{self._root}/{task_id}/{text_of(frame.get('run_id')) or self._runs}"))
        scope = Scope("session", self._root.workspace_id, stamp_of(f"{self._root}/{task_id}"))
        ledger = CallLedger()
        task = ChildTask(
            task_id,
            CallId(call_id),
            scope,
            turn_id,
            call_turn_id if parent is None else parent.root_turn_id,
            OpenAsks(scope),
            frame.get("is_backgrounded") is True,
            TurnNormalizer(turn_id, ledger),
            ledger,
        )
        self._keep(task, out)
        teller = self._root if parent is None else parent.scope
        title = text_of(frame.get("description"))
        out.deliver(teller, ChildSpawned(call_turn_id, task.child_id, task_id, task.call_id, title))
        out.deliver(teller, ToolCallReported(call_turn_id, task.call_id, child_id=task.child_id))
        began = TurnStartedByProvider(turn_id, task_id, text_of(frame.get("prompt")))
        out.deliver(scope, began)

    def _keep(self, task: ChildTask, out: OutputBatch) -> None:
        out.route(task.scope, self._root)
        self._tasks.append(task)
        if len(self._tasks) > TASKS_MAX:
            forgotten = next((old for old in self._tasks if old.ended), None)
            if forgotten is not None:
                self._tasks.remove(forgotten)

    # --- what they say ----------------------------------------------------------------------------------------

    def said(self, task: ChildTask, frame: Members, out: OutputBatch) -> None:
        """An `assistant` frame of it."""
        message = object_of(frame.get("message"))
        self._tell_all(task, task.normalizer.assistant(message, aborted=frame.get("aborted") is True), out)

    def heard(self, task: ChildTask, frame: Members, out: OutputBatch) -> None:
        """A `user` frame of it: what its tools brought back. Its prompt was told as it began."""
        blocks = map(object_of, list_of(object_of(frame.get("message")).get("content")))
        ended = {text_of(block.get("tool_use_id")) for block in blocks if block.get("type") == "tool_result"}
        self._tell_all(task, task.normalizer.results(frame, stopping=task.stopping), out)
        for below in [below for below in self.working() if not below.backgrounded and below.call_id in ended]:
            self.end(below, "canceled" if task.stopping else "completed", out)

    # --- ends -------------------------------------------------------------------------------------------------

    def stop(self, task: ChildTask, out: OutputBatch) -> None:
        """End exactly this one; its asks are refused."""
        if task.ended or task.stopping:
            return
        task.stopping = True
        task.asks.withdraw_all(out)

        def answered(answer: ControlAnswer, out: OutputBatch) -> None:
            if not answer.accepted and not task.ended:
                out.deliver(task.scope, CancelRefused(task.turn_id, provider_error("provider.rejected")))

        request: Json = {"subtype": "stop_task", "task_id": task.task_id}
        self._requests.send(request, answered, out)

    def notified(self, frame: Members, out: OutputBatch) -> bool:
        """`task_notification`: whether it was one of them that ended."""
        task = self.of_agent(text_of(frame.get("task_id")))
        if task is None:
            return False
        outcome, summary = _outcome(text_of(frame.get("status"))), text_of(frame.get("summary"))
        if outcome == "completed" and summary and not task.normalizer.spoke:
            self._tell_all(
                task, task.normalizer.said(summary), out
            )  # its report, where its words are not told
        self.end(task, outcome, out)
        return True

    def response_ended(self, turn_id: TurnId, *, stopped: bool, out: OutputBatch) -> None:
        """The response of a turn is over: what worked for it in the foreground is over too."""
        for task in list(self.working()):
            if task.root_turn_id == turn_id and not task.backgrounded:
                self.end(task, "canceled" if stopped or task.stopping else "failed", out)

    def call_ended(self, call_id: str | None, *, failed: bool, stopped: bool, out: OutputBatch) -> None:
        """A call of the conversation brought back what its sub-agent did."""
        task = self.of_call(call_id)
        if task is not None:
            self.end(task, "canceled" if stopped else "failed" if failed else "completed", out)

    def end(self, task: ChildTask, outcome: TurnOutcome, out: OutputBatch) -> None:
        """What is open in it ends first, its end is told last."""
        for below in list(self.working()):
            if below is not task and not below.backgrounded and task.ledger.find(below.call_id) is not None:
                self.end(below, outcome, out)
        task.ended = True
        task.asks.confirm_all(out)
        task.asks.withdraw_all(out)
        if outcome == "completed":
            self._tell_all(task, task.normalizer.end(), out)
        error = provider_error("provider.stopped") if outcome == "failed" else None
        out.deliver(task.scope, TurnEnded(task.turn_id, outcome, "task " + outcome, error))

    def closed(self, out: OutputBatch) -> None:
        """The scope left."""
        for task in self._tasks:
            task.asks.abandon(out)
            out.end_route(task.scope)
        self._tasks.clear()

    def _tell_all(self, task: ChildTask, events: list[TurnEvent], out: OutputBatch) -> None:
        for event in events:
            out.deliver(task.scope, event)


def _outcome(status: str | None) -> TurnOutcome:
    if status == "completed":
        return "completed"
    return "canceled" if status in _STOPPED else "failed"
