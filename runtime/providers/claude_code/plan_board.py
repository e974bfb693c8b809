"""The list of tasks that Claude Code keeps for itself, told as the plan of the turn that changes it.

Owns the list of one conversation as far as it was heard of. Tasks are created and changed by calls, one each, and named by
what those bring back; what was on the list before this process is known once Claude Code lists it.
"""

from typing import Final

import attrs

from runtime.providers.claude_code.tools import plan_status_of
from runtime.providers.jsonrpc.members import Members, list_of, object_of, text_of
from store.canonical.common import Json
from store.canonical.message import PlanEntry

TASKS_MAX: Final = 256
_CREATE, _UPDATE, _LIST = "TaskCreate", "TaskUpdate", "TaskList"
_DELETED: Final = "deleted"


class PlanBoard:
    """Of one conversation."""

    def __init__(self) -> None:
        self._tasks: dict[str, PlanEntry] = {}
        self._asked: dict[str, tuple[str, Members]] = {}

    def called(self, call_id: str, name: str, given: Members) -> None:
        """A call is on its way; remembered when it is about the list."""
        if name in (_CREATE, _UPDATE, _LIST):
            self._asked[call_id] = (name, given)
            if len(self._asked) > TASKS_MAX:
                del self._asked[next(iter(self._asked))]

    def brought(self, call_id: str, details: Json) -> tuple[PlanEntry, ...] | None:
        """What a call came to: the whole list, if it changed; None otherwise."""
        name, given = self._asked.pop(call_id, ("", {}))
        told = object_of(details)
        before = dict(self._tasks)
        if name == _CREATE:
            task = object_of(told.get("task"))
            self._put(text_of(task.get("id")), text_of(task.get("subject")), "pending")
        elif name == _UPDATE and told.get("success") is True:
            self._change(text_of(given.get("taskId")), given)
        elif name == _LIST and isinstance(told.get("tasks"), list):
            self._tasks = {}
            for task in map(object_of, list_of(told.get("tasks"))):
                self._put(text_of(task.get("id")), text_of(task.get("subject")), task.get("status"))
        return tuple(self._tasks.values()) if self._tasks != before else None

    def _put(self, task_id: str | None, subject: str | None, status: Json) -> None:
        if task_id is not None and subject is not None and len(self._tasks) < TASKS_MAX:
            self._tasks[task_id] = PlanEntry(subject, plan_status_of(status))

    def _change(self, task_id: str | None, given: Members) -> None:
        known = self._tasks.get(task_id or "")
        if task_id is None or known is None:
            return
        status, subject = given.get("status"), text_of(given.get("subject"))
        if status == _DELETED:
            del self._tasks[task_id]
            return
        changed = known if subject is None else attrs.evolve(known, text=subject)
        self._tasks[task_id] = (
            changed if status is None else attrs.evolve(changed, status=plan_status_of(status))
        )
