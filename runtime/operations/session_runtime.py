"""Resume and close: operations on a Session's runtime, ordered by its lifecycle lock (`architecture rule 5`)."""

from contextlib import AbstractAsyncContextManager

import attrs

from runtime.actors.session import SessionDirectory
from runtime.lifecycle.inputs import CloseSession, ResumeSession, SessionInput
from runtime.operations.operation import WatchedSink, known
from runtime.refusal import Refusal
from store.canonical.identifiers import SessionKey
from store.port import StoreReader
from supervisor import PlaceMark
from supervisor.failpoints import failpoints
from supervisor.lifecycle_locks import LifecycleIdentity, LifecycleLocks


@attrs.frozen
class SessionRuntimeOperations:
    """Makes sessions live, and ends their runtimes."""

    sessions: SessionDirectory
    locks: LifecycleLocks
    reader: StoreReader
    deadline_seconds: float

    async def resume(self, key: SessionKey, fresh: bool, mark: PlaceMark, sink: WatchedSink) -> None:
        """Answered once the provider holds the conversation, or with why it does not.

        The lock is held only while the command is given: a start that hangs must not keep a close waiting (FC-59).
        """
        await mark.reached.wait()
        async with self._held(key, f"resume session {key}"):
            if self._refused(key, sink):
                return
            if failpoints.on:
                await failpoints.reach("operation.resume.before")
            self._tell(key, ResumeSession(sink, fresh), mark)
            if failpoints.on:
                await failpoints.reach("operation.resume.after")

    async def close(self, key: SessionKey, mark: PlaceMark, sink: WatchedSink) -> None:
        """Answered once the runtime is gone; a turn that runs, or a start, is ended first."""
        # Before the lock, and so before the control lane: what the same client sent earlier comes first.
        await mark.reached.wait()
        async with self._held(key, f"close session {key}"):
            if self._refused(key, sink):
                return
            if failpoints.on:
                await failpoints.reach("operation.close.before")
            self._tell(key, CloseSession(sink), mark)
            await sink.answered.wait()
            if failpoints.on:
                await failpoints.reach("operation.close.after")

    def _refused(self, key: SessionKey, sink: WatchedSink) -> bool:
        """Whether there is no such session. Looked at under the lock: whoever creates it holds that until it is durable."""
        found = known(self.reader, key)
        if isinstance(found, Refusal):
            sink.refuse(found)
        return isinstance(found, Refusal)

    def _held(self, key: SessionKey, holder: str) -> AbstractAsyncContextManager[None]:
        identity = LifecycleIdentity("session", key.workspace_id, key.agent_session_id)
        return self.locks.hold(identity, holder=holder, deadline_seconds=self.deadline_seconds)

    def _tell(self, key: SessionKey, command: SessionInput, mark: PlaceMark) -> None:
        self.sessions.reference(key).tell(command, control=True)
        # The command has its place: what the same client sent after it may follow now.
        mark.release()
