"""What can be seen of a connection from outside: its state, a report for `debug/session`, what its owner is told."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, Protocol, TypeAlias

import attrs

from runtime.providers.diagnostics import DiagnosticLog, DiagnosticReport, StderrTail
from runtime.providers.launch import LaunchSpecification
from runtime.providers.limits import ConnectionLimits
from runtime.providers.port import HandshakeDone, Learned, Scope
from runtime.providers.redaction import Redactor
from runtime.providers.transport import ProviderTransport
from supervisor.resource_sweeper import CloseResource

if TYPE_CHECKING:
    from runtime.providers.connection import ProviderConnection

STDERR_LOGGED_CHARACTERS = 1000
"""Of the end of stderr, redacted, in the log line of a start that failed; all that is kept shows in the info."""

ConnectionState: TypeAlias = Literal["starting", "ready", "draining", "ended"]
"""Only forward. `draining` takes nobody new; in `ended` every scope was told and the process is being ended."""


@attrs.frozen(kw_only=True)
class ConnectionInfo:
    """One connection at one moment. For an admin only: its texts come from the process, redacted."""

    provider: str
    program: str
    fingerprint: str
    state: ConnectionState
    scopes: int
    """How many hear it."""
    pid: int | None
    exit_status: str | None
    agent_name: str | None
    agent_version: str | None
    unwritten_bytes: int
    stderr_bytes: int
    """All that came, of which the tail shows the end."""
    stderr_tail: str
    diagnostics: DiagnosticReport


class Evidence:
    """What a process has said about itself beside the protocol, collected for a report."""

    def __init__(self, launch: LaunchSpecification, limits: ConnectionLimits) -> None:
        redactor = Redactor.for_environment(launch.environment)
        self.diagnostics = DiagnosticLog(limits.diagnostics_max, redactor)
        self.stderr = StderrTail(limits.stderr_tail_bytes, redactor)
        self.agent = HandshakeDone()
        self._launch = launch

    def last_words(self) -> str:
        """The end of what it said beside the protocol, for a log."""
        return self.stderr.text()[-STDERR_LOGGED_CHARACTERS:]

    def report(
        self,
        transport: ProviderTransport | None,
        *,
        state: ConnectionState,
        scopes: int,
        unwritten_bytes: int,
    ) -> ConnectionInfo:
        """All of it as it stands now."""
        return ConnectionInfo(
            provider=self._launch.provider,
            program=self._launch.program,
            fingerprint=self._launch.fingerprint,
            state=state,
            scopes=scopes,
            pid=transport.pid if transport is not None else None,
            exit_status=transport.ended if transport is not None else None,
            agent_name=self.agent.agent_name,
            agent_version=self.agent.agent_version,
            unwritten_bytes=unwritten_bytes,
            stderr_bytes=self.stderr.total_bytes,
            stderr_tail=self.stderr.text(),
            diagnostics=self.diagnostics.report(),
        )


class ConnectionOwner(Protocol):
    """Whoever made the connection; told in the step in which it happens, so nothing here may wait."""

    def connection_started(self, connection: ProviderConnection) -> None:
        """It became ready, or `start_error` says why it will not."""

    def scope_lost(self, connection: ProviderConnection, scope: Scope) -> None:
        """This scope was told of the loss, or could not be told anything; it has no route any more."""

    def learned(self, connection: ProviderConnection, told: Learned) -> None:
        """The provider told something of itself."""

    def close_failed(self, name: str, close: CloseResource) -> None:
        """Something of the process may still be alive. `close` tries again and raises while that is so."""
