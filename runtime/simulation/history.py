"""What clients asked, what they were told, and what was found wrong: the record that the checkers judge.

Jepsen's shape: every request begins, and ends as answered, refused or unknown. It records what passes the outer API
and nothing of the inside, so it can be kept of simulated clients and of clients of a real daemon alike.
"""

from collections import deque
from typing import Any, Final, Literal, TypeAlias

import attrs

Json: TypeAlias = dict[str, Any]
SessionName: TypeAlias = tuple[str, str]
"""Workspace and session."""

LAST_EVENTS: Final = 50


@attrs.frozen
class Violation:
    """A promise that was not kept."""

    promise: str
    detail: str

    def __str__(self) -> str:
        return f"{self.promise}: {self.detail}"


@attrs.define(eq=False)
class Request:
    """One request of one client on one connection."""

    client: str
    connection: int
    method: str
    params: Json
    state: Literal["open", "answered", "refused", "unknown"] = "open"
    result: Json = attrs.field(factory=dict)
    error: Json = attrs.field(factory=dict)

    @property
    def session(self) -> SessionName:
        """The session it names; the second part is empty when it names none."""
        return self.params.get("workspaceId", ""), self.params.get("agentSessionId", "")

    @property
    def code(self) -> str:
        """The error code of a refusal."""
        return str(self.error.get("data", {}).get("code", ""))

    @property
    def delivery(self) -> str:
        """What a refusal says of the command's delivery."""
        return str(self.error.get("data", {}).get("delivery", ""))


@attrs.define(eq=False)
class History:
    """Of one run, over all lives of the daemon."""

    answers_by_itself: bool = False
    """Whether the service answers approvals that nobody takes up."""
    requests: list[Request] = attrs.field(factory=list)
    violations: list[Violation] = attrs.field(factory=list)
    events: deque[str] = attrs.field(factory=lambda: deque(maxlen=LAST_EVENTS))
    """The last things that happened, for people."""

    def violated(self, promise: str, detail: str) -> None:
        """Note a broken promise, once for each detail."""
        violation = Violation(promise, detail)
        if violation not in self.violations:
            self.violations.append(violation)

    def answered(self, method: str) -> list[Request]:
        """Requests of a method that were answered with a result."""
        return [
            request for request in self.requests if request.method == method and request.state == "answered"
        ]
