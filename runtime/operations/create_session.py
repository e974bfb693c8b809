"""Creating a Session: the checks of the contract in their order, under the locks of both ids (`contract §4`).

Owns what must be known about the world before a Session exists: submit id, session id, limits, target, working
directory. What the Session then does is its own machine's.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Protocol

import attrs
import structlog

from runtime.actors.replies import SessionReply
from runtime.actors.session import SessionDirectory
from runtime.lifecycle.inputs import CreateSession, Prompt
from runtime.operations.allowance import Allowance
from runtime.operations.operation import WatchedSink
from runtime.ports import WallClock
from runtime.refusal import Refusal
from store.canonical.claim import SubmitClaim
from store.canonical.common import Settings, SettingSource
from store.canonical.identifiers import SessionKey, TargetId
from store.canonical.session import Session, SessionRuntime
from store.port import StoreReader
from supervisor.failpoints import failpoints
from supervisor.lifecycle_locks import LifecycleIdentity, LifecycleLocks

log = structlog.get_logger(__name__)


class SessionTargets(Protocol):
    """What creating needs to know of targets."""

    def refusal_for(self, target_id: TargetId) -> Refusal | None:
        """Why this target cannot take a session, if so."""

    def provider_of(self, target_id: TargetId) -> str:
        """Its provider family."""

    def check_settings(self, target_id: TargetId, settings: Settings) -> Refusal | None:
        """Whether its sessions know these settings."""


class WorkDirectoryUnavailable(Exception):
    """Raised when the directory of a new session cannot be made: the disk is full, read-only, or something is in
    the way. The text is for the log."""


class WorkDirectories(Protocol):
    """The directories sessions work in: a port, since this is the file system."""

    def is_directory(self, path: str) -> bool:
        """Whether an absolute path names a directory that can be entered."""

    def is_within(self, path: str, roots: Sequence[str]) -> bool:
        """Whether a path, with its links resolved, is one of the roots or below one."""

    def path_of(self, key: SessionKey) -> str:
        """What `allocate` would make."""

    def allocate(self, key: SessionKey) -> str:
        """Make the directory of a session that was given none; the same one when repeated. Raises
        WorkDirectoryUnavailable."""

    def release(self, key: SessionKey) -> None:
        """Take back a directory whose session did not come into being, if nothing is in it (RT-059)."""


@attrs.frozen
class NewSession:
    """A create as asked for."""

    key: SessionKey
    target_id: TargetId
    claim: SubmitClaim
    cwd: str | None
    allowance: Allowance
    title: str | None
    settings: Settings
    prompt: Prompt | None


@attrs.frozen
class CreateOperation:
    """Creates Sessions."""

    reader: StoreReader
    sessions: SessionDirectory
    locks: LifecycleLocks
    targets: SessionTargets
    directories: WorkDirectories
    clock: WallClock
    runtime_of: Callable[[SessionKey], SessionRuntime]
    """The live observation that is laid over a Session row."""
    sessions_max: int
    deadline_seconds: float
    _admitted: set[WatchedSink] = attrs.field(factory=set, init=False)
    """Creates that passed the checks. Until one is answered its session may come, so it counts as one."""

    async def run(self, new: NewSession, sink: WatchedSink) -> None:
        """Answer with the Session and, if content was given, its first turn; start nothing."""
        identities = (
            LifecycleIdentity("session", new.key.workspace_id, new.key.agent_session_id),
            LifecycleIdentity("submit", new.key.workspace_id, new.claim.client_submit_id),
        )
        holder = f"create session {new.key}"
        async with self.locks.hold(*identities, holder=holder, deadline_seconds=self.deadline_seconds):
            if self._answer_repeat(new, sink):
                return
            refusal = self._refusal(new)
            if refusal is not None:
                sink.refuse(refusal)
                return
            self._admitted.add(sink)
            try:
                await self._create(new, sink)
            finally:
                self._admitted.discard(sink)

    def _answer_repeat(self, new: NewSession, sink: WatchedSink) -> bool:
        """A known submit id: the same Session for equal parameters, a conflict for others (FC-23)."""
        known = self.reader.workspace_claim(new.key.workspace_id, new.claim.client_submit_id).value
        if known is None:
            return False
        read = self.reader.session(known.session_key)
        if known.digest != new.claim.digest or read.value is None:
            sink.refuse(Refusal("submit.conflict"))
            return True
        turn = self.reader.turn(known.session_key, known.turn_id).value if known.turn_id else None
        session = attrs.evolve(read.value, runtime=self.runtime_of(known.session_key))
        sink.deliver(SessionReply(session, turn), read.commit_seq)
        return True

    def _refusal(self, new: NewSession) -> Refusal | None:
        if self.reader.session(new.key).value is not None:
            return Refusal("session.exists")
        # The answer is given in the step of the commit: no session is counted twice or not at all.
        coming = sum(not sink.answered.is_set() for sink in self._admitted)
        if self.reader.session_count() + coming >= self.sessions_max:
            return Refusal("limit.exceeded", details={"limit": "maxSessions"})
        return new.allowance.count_refusal(begins_turn=new.prompt is not None) or self._target_refusal(new)

    def _target_refusal(self, new: NewSession) -> Refusal | None:
        refusal = self.targets.refusal_for(new.target_id) or new.allowance.directory_refusal(
            new.cwd or self.directories.path_of(new.key)
        )
        if refusal is not None:
            return refusal
        if new.cwd is not None and not self.directories.is_directory(new.cwd):
            return Refusal("session.cwd_missing")
        return self.targets.check_settings(new.target_id, new.settings) or new.allowance.effect_refusal(
            new.target_id, new.settings
        )

    async def _create(self, new: NewSession, sink: WatchedSink) -> None:
        now_ms = self.clock.now_ms()
        try:
            cwd = new.cwd or self.directories.allocate(new.key)
        except WorkDirectoryUnavailable as error:
            log.error("a session's directory cannot be made", session=str(new.key), reason=str(error))
            sink.refuse(Refusal("session.cwd_missing"))
            return
        sources: Mapping[str, SettingSource] = dict.fromkeys(new.settings, "explicit")
        session = Session(
            workspace_id=new.key.workspace_id,
            agent_session_id=new.key.agent_session_id,
            agent_target_id=new.target_id,
            provider=self.targets.provider_of(new.target_id),
            cwd=cwd,
            created_at=now_ms,
            updated_at=now_ms,
            title=new.title,
            title_source="user" if new.title else "none",
            settings=new.settings,
            settings_source=sources,
        )
        workspace_claim = attrs.evolve(new.claim, scope="workspace")
        session_claim = attrs.evolve(new.claim, scope="session")
        command = CreateSession(sink, session, workspace_claim, session_claim, new.prompt)
        try:
            if failpoints.on:
                await failpoints.reach("operation.create.before")
            self.sessions.reference(new.key).tell(command)
            await sink.answered.wait()
            if failpoints.on:
                await failpoints.reach("operation.create.after")
        finally:
            if new.cwd is None and self.reader.session(new.key).value is None:
                self.directories.release(new.key)
