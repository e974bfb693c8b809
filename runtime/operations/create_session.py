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
from runtime.operations.placement import section_key
from runtime.operations.worktree_plan import directory_in, isolation_of
from runtime.operations.worktrees import Worktrees
from runtime.ports import WallClock
from runtime.refusal import Refusal
from store.canonical.claim import SubmitClaim
from store.canonical.common import Settings, SettingSource
from store.canonical.identifiers import SessionKey, TargetId
from store.canonical.session import Session, SessionIsolation, SessionRuntime
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

    def checkout_refusal(self, target_id: TargetId) -> Refusal | None:
        """Why its sessions cannot work in a checkout of their own, if so (RT-060)."""

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
    """As given; without it a session of a project works in that, another in a directory of its own."""
    project: str | None
    isolated: bool
    allowance: Allowance
    title: str | None
    settings: Settings
    prompt: Prompt | None

    @property
    def directory(self) -> str | None:
        """The directory asked for, which is to be there already."""
        return self.cwd or self.project


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
    worktrees: Worktrees | None
    """Who makes checkouts; without it there are none."""
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
        # The project as well: in a checkout of its own the session works with what is in there.
        places = {
            new.directory or self.directories.path_of(new.key),
            *((new.project,) if new.project else ()),
        }
        refusal = self.targets.refusal_for(new.target_id)
        for place in sorted(places):
            refusal = refusal or new.allowance.directory_refusal(place)
        if refusal is not None:
            return refusal
        if new.directory is not None and not all(map(self.directories.is_directory, places)):
            return Refusal("session.cwd_missing")
        return (
            self._isolation_refusal(new)
            or self.targets.check_settings(new.target_id, new.settings)
            or new.allowance.effect_refusal(new.target_id, new.settings)
        )

    def _isolation_refusal(self, new: NewSession) -> Refusal | None:
        if not new.isolated:
            return None
        if self.worktrees is None:
            return Refusal("capability.unsupported", details={"param": "isolation"})
        if new.cwd is not None and not self.directories.is_within(new.cwd, (new.project or "",)):
            problem = {"path": "params.cwd", "problem": "is not in the project"}
            return Refusal("request.invalid", details=problem)
        return self.targets.checkout_refusal(new.target_id)

    async def _create(self, new: NewSession, sink: WatchedSink) -> None:
        """Make its place, then the session. A place whose session does not come into being is given back (RT-059)."""
        place = await self._place(new)
        if isinstance(place, Refusal):
            sink.refuse(place)
            return
        told = False
        try:
            if failpoints.on:
                await failpoints.reach("operation.create.before")
            self.sessions.reference(new.key).tell(self._command(new, place, sink))
            told = True
            await sink.answered.wait()
            if failpoints.on:
                await failpoints.reach("operation.create.after")
        finally:
            if new.directory is None and self.reader.session(new.key).value is None:
                self.directories.release(new.key)
            refused = sink.refused is not None and sink.refused.delivery != "unknown"
            if self.worktrees is not None and place.isolation is not None and (refused or not told):
                self.worktrees.abandon(new.key)

    async def _place(self, new: NewSession) -> "_Place | Refusal":
        if new.isolated and self.worktrees is not None:
            worktree = await self.worktrees.make(new.key, new.directory or "")
            if isinstance(worktree, Refusal):
                return worktree
            return _Place(directory_in(worktree), isolation_of(worktree))
        try:
            return _Place(new.directory or self.directories.allocate(new.key))
        except WorkDirectoryUnavailable as error:
            log.error("a session's directory cannot be made", session=str(new.key), reason=str(error))
            return Refusal("session.cwd_missing")

    def _command(self, new: NewSession, place: "_Place", sink: WatchedSink) -> CreateSession:
        now_ms = self.clock.now_ms()
        sources: Mapping[str, SettingSource] = dict.fromkeys(new.settings, "explicit")
        session = Session(
            workspace_id=new.key.workspace_id,
            agent_session_id=new.key.agent_session_id,
            agent_target_id=new.target_id,
            provider=self.targets.provider_of(new.target_id),
            cwd=place.cwd,
            created_at=now_ms,
            updated_at=now_ms,
            title=new.title,
            title_source="user" if new.title else "none",
            settings=new.settings,
            settings_source=sources,
            isolation=place.isolation,
            rail_section_key=section_key(new.project),
        )
        workspace_claim = attrs.evolve(new.claim, scope="workspace")
        session_claim = attrs.evolve(new.claim, scope="session")
        return CreateSession(sink, session, workspace_claim, session_claim, new.prompt)


@attrs.frozen
class _Place:
    """Where a new session works."""

    cwd: str
    isolation: SessionIsolation | None = None
