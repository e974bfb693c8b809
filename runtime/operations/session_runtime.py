"""Resume and close: operations on a Session's runtime, ordered by its lifecycle lock (`architecture rule 5`)."""

import attrs

from runtime.actors.session import SessionDirectory
from runtime.lifecycle.inputs import CloseSession, ResumeSession, SessionInput
from runtime.operations.operation import WatchedSink
from store.canonical.identifiers import SessionKey
from supervisor import PlaceMark
from supervisor.lifecycle_locks import LifecycleIdentity, LifecycleLocks


@attrs.frozen
class SessionRuntimeOperations:
    """Makes sessions live, and ends their runtimes."""

    sessions: SessionDirectory
    locks: LifecycleLocks
    deadline_seconds: float

    async def resume(self, key: SessionKey, fresh: bool, mark: PlaceMark, sink: WatchedSink) -> None:
        """Answered once the provider holds the conversation, or with why it does not."""
        await self._tell(key, ResumeSession(sink, fresh), f"resume session {key}", mark, sink)

    async def close(self, key: SessionKey, mark: PlaceMark, sink: WatchedSink) -> None:
        """Answered once the runtime is gone; a turn that runs is ended first."""
        await self._tell(key, CloseSession(sink), f"close session {key}", mark, sink)

    async def _tell(
        self, key: SessionKey, command: SessionInput, holder: str, mark: PlaceMark, sink: WatchedSink
    ) -> None:
        identity = LifecycleIdentity("session", key.workspace_id, key.agent_session_id)
        async with self.locks.hold(identity, holder=holder, deadline_seconds=self.deadline_seconds):
            self.sessions.reference(key).tell(command, control=True)
            # The command has its place: what the same client sent after it may follow now.
            mark.release()
            await sink.answered.wait()
