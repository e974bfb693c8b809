"""Targets: the agents this daemon can talk to, as configured. One identity for clients, one launch for the pool.

Owns what is known without starting anything (PR-003, PR-005). Which settings a provider family has is declared by
its descriptor; no branch here looks at a provider's name (PR-002).
"""

from collections.abc import Callable, Mapping, Sequence

import attrs

from runtime.catalogue.sign_in import Standing
from runtime.effects import effect_of_settings
from runtime.lifecycle.settings import KnownSettings, chosen, fits
from runtime.providers import failures
from runtime.providers.examiner import ProgramExaminer
from runtime.providers.hosting import ConversationLaunch, HostedConversation, HostedFork
from runtime.providers.launch import LaunchSpecification, ServerAddress
from runtime.providers.pool import ConnectionPool
from runtime.providers.port import ProviderDescriptor, Scope, SettingDescription, SettingEffect
from runtime.providers.programs import Program, ProgramReport
from runtime.providers.registry import ProviderRegistry, UnsupportedProvider
from runtime.providers.routes import ScopeSink
from runtime.providers.side_facts import SideFacts
from runtime.providers.tenancy import AcquireFailed, ConnectionReference
from runtime.refusal import Refusal
from runtime.wire.rows import Target, TargetProgram, TargetSetting, TargetSettingValue
from store.canonical.common import Settings
from store.canonical.identifiers import TargetId
from store.canonical.session import Session

DEDICATED_PROCESS = "dedicatedProcess"
_OWN_SETTINGS = (SettingDescription(DEDICATED_PROCESS, "launch", default=False, is_truth=True),)
"""The settings that say how sessions of any target are hosted."""
_NO_SETTINGS: KnownSettings = {}


@attrs.frozen
class TargetDefinition:
    """One `[[targets]]` entry. `environment` is complete and exact: what the process will see (FC-51)."""

    target_id: TargetId
    provider: str
    name: str
    command: tuple[str, ...] = attrs.field(repr=False)
    environment: Mapping[str, str] = attrs.field(repr=False)
    enabled: bool = True
    server: ServerAddress | None = None
    """Where it listens, in place of a command."""
    settings: tuple[SettingDescription, ...] | None = None
    """The settings its sessions know, where they are known better than its provider family can declare them."""

    @property
    def program(self) -> Program:
        """What would be started, without what a family adds to its arguments."""
        return Program(self.provider, self.command, self.environment)


class TargetCatalogue:
    """All targets, in the order of the configuration (PR-006)."""

    def __init__(
        self,
        definitions: Sequence[TargetDefinition],
        registry: ProviderRegistry,
        program_found: Callable[[TargetDefinition], bool],
        examiner: ProgramExaminer | None = None,
    ) -> None:
        self.standing: Callable[[TargetId], Standing] = lambda target_id: "unknown"
        """How a target's sign-in stands, as far as is known without asking."""
        self._definitions = {definition.target_id: definition for definition in definitions}
        self._registry = registry
        self._program_found = program_found
        self._examiner = examiner
        self._versions_seen: dict[TargetId, str] = {}
        self._settings = {one.target_id: self._declared(one) for one in definitions}

    def definition(self, target_id: TargetId) -> TargetDefinition:
        """A configured target; asked only after `refusal_for` had nothing against it."""
        return self._definitions[target_id]

    def provider_of(self, target_id: TargetId) -> str:
        """Its provider family."""
        return self._definitions[target_id].provider

    def family_of(self, target_id: TargetId) -> ProviderDescriptor | None:
        """What its provider family declares; None for a family nobody registered."""
        try:
            return self._registry.descriptor(self._definitions[target_id].provider)
        except UnsupportedProvider:
            return None

    def side_facts(self, session: Session) -> SideFacts:
        """What its provider family can do at least about ephemeral forks of this session; nothing without its target."""
        target_id = session.agent_target_id
        family = self.family_of(target_id) if target_id in self._definitions else None
        if family is None:
            return SideFacts()
        return family.side if session.resumability == "resumable" else family.side_unkept

    def refusal_for(self, target_id: TargetId) -> Refusal | None:
        """Why this target cannot serve, as far as is known without a provider."""
        definition = self._definitions.get(target_id)
        if definition is None:
            return Refusal("target.not_found")
        if not definition.enabled:
            return Refusal("target.disabled")
        return None

    def checkout_refusal(self, target_id: TargetId) -> Refusal | None:
        """A server that runs already may be on another machine, where no checkout of ours is (RT-060)."""
        if self._definitions[target_id].server is not None:
            return Refusal("capability.unsupported", details={"param": "isolation"})
        return None

    def check_settings(self, target_id: TargetId, settings: Settings) -> Refusal | None:
        """Unknown keys and values of the wrong kind are refused before anything is stored."""
        known = self.settings_of(target_id)
        wrong = next((key for key, value in settings.items() if not fits(known.get(key), value)), None)
        return Refusal("settings.invalid", details={"key": wrong}) if wrong is not None else None

    def settings_of(self, target_id: TargetId) -> KnownSettings:
        """The settings that sessions of this target know; none for a target that is not there."""
        return self._settings.get(target_id, _NO_SETTINGS)

    def effect_of(self, target_id: TargetId, settings: Settings) -> SettingEffect:
        """How far these settings let an agent of this target go; of a target that is not there nothing is known."""
        if target_id not in self._definitions:
            return "unrestricted"
        return effect_of_settings(self.settings_of(target_id).values(), settings)

    def listing(self) -> tuple[Target, ...]:
        """What `target/list` shows."""
        return tuple(self._shown(definition) for definition in self._definitions.values())

    @property
    def target_ids(self) -> tuple[TargetId, ...]:
        """All of them, in the order of the configuration."""
        return tuple(self._definitions)

    def program_found(self, target_id: TargetId) -> bool:
        """Whether there is something to start for it."""
        return self._program_found(self._definitions[target_id])

    def version(self, target_id: TargetId) -> str | None:
        """Of its program, as far as is known without starting it."""
        report = self._known_report(self._definitions[target_id])
        return report.version if report is not None else None

    def _known_report(self, definition: TargetDefinition) -> ProgramReport | None:
        report = self._examiner.known(definition.program) if self._examiner is not None else None
        if report is None and definition.target_id in self._versions_seen:
            return ProgramReport(self._versions_seen[definition.target_id])
        return report

    def saw(self, target_id: TargetId, version: str | None) -> None:
        """What a program of this target called itself in a handshake; shown where nothing better is known."""
        if version is not None:
            self._versions_seen[target_id] = version

    async def examine_all(self) -> None:
        """Ask every program that could be started what it is, one after the other."""
        for definition in self._definitions.values():
            if definition.enabled and self._examiner is not None:
                await self._examiner.report(definition.program)

    def _shown(self, definition: TargetDefinition) -> Target:
        report = self._known_report(definition)
        family = self.family_of(definition.target_id)
        examination = family.examination if family is not None else None
        capabilities = None
        if report is not None and examination is not None:
            capabilities = examination.capabilities(report)
        return Target(
            agent_target_id=definition.target_id,
            provider=definition.provider,
            name=definition.name,
            enabled=definition.enabled,
            program=TargetProgram(
                found=self._program_found(definition),
                version=report.version if report is not None else None,
            ),
            auth=self.standing(definition.target_id),
            capabilities=capabilities,
            settings=tuple(map(_shown_setting, self.settings_of(definition.target_id).values())),
        )

    def _declared(self, definition: TargetDefinition) -> KnownSettings:
        family = self.family_of(definition.target_id)
        declared = definition.settings
        if declared is None:
            declared = family.settings if family is not None else ()
        return {setting.key: setting for setting in (*declared, *_OWN_SETTINGS)}


@attrs.frozen
class TargetConnections:
    """Gives a Session its connection: its target's launch, from the pool."""

    catalogue: TargetCatalogue
    pool: ConnectionPool
    is_directory: Callable[[str], bool]
    """Whether an absolute path names a directory that can be entered."""
    new_id: Callable[[], str]
    """Names new conversations, where a process hosts one from its start."""
    shared_directory: str = "/"
    """Where processes start that serve several sessions: a place of none of them."""
    examiner: ProgramExaminer | None = None

    def join(self, session: Session, scope: Scope, sink: ScopeSink) -> ConnectionReference | None:
        """The connection the session itself holds now, for one more scope; None when it holds none."""
        holder = Scope("session", session.workspace_id, session.agent_session_id)
        return self.pool.join(holder, scope, sink)

    def forks_apart(self, session: Session) -> bool:
        """Whether a fork of the session has a process of its own whatever the session has: its family's processes host
        one conversation each, and this one is kept where another process finds it."""
        family = self.catalogue.family_of(session.agent_target_id)
        keeps = session.capabilities is not None and session.capabilities.load
        return family is not None and family.conversation_launch is not None and keeps

    async def acquire_own(
        self, session: Session, scope: Scope, sink: ScopeSink, instructions: str | None
    ) -> ConnectionReference:
        """A process of this scope's own, for a fork of the session and in its home (RT-120). Raises AcquireFailed."""
        alone = attrs.evolve(session, settings={**session.settings, DEDICATED_PROCESS: True})
        return await self._acquire(
            alone, scope, sink, HostedFork(self.new_id(), session.settings, instructions)
        )

    async def left(self, scope: Scope) -> None:
        """Until nothing is left of a connection that the scope had, or tried to have."""
        await self.pool.left(scope)

    async def acquire(self, session: Session, scope: Scope, sink: ScopeSink) -> ConnectionReference:
        """A ready connection. Raises AcquireFailed."""
        return await self._acquire(session, scope, sink, None)

    async def _acquire(
        self, session: Session, scope: Scope, sink: ScopeSink, fork: HostedFork | None
    ) -> ConnectionReference:
        family = self.catalogue.family_of(session.agent_target_id)
        shares = family is not None and family.sessions_per_connection > 1
        if shares and not self.is_directory(session.cwd):
            # A process of its own would not start there; a shared one would take it for a directory like any other.
            raise AcquireFailed(failures.CWD_MISSING)
        known = session.provider_session_id
        return await self._start(
            self.catalogue.definition(session.agent_target_id),
            HostedConversation(known or self.new_id(), known is not None, chosen(session), fork),
            scope,
            sink,
            # Sessions share a process only if it starts in one place for all of them; theirs travel in OpenThread.
            cwd=self.shared_directory if shares else session.cwd,
            dedicated=session.settings.get(DEDICATED_PROCESS) is True,
        )

    async def acquire_for_inquiry(
        self, target_id: TargetId, scope: Scope, sink: ScopeSink, own_process: bool
    ) -> ConnectionReference:
        """One to ask an agent about itself, in the directory of no session. Raises AcquireFailed.

        Shared with sessions where those share, unless `own_process`; no conversation is opened on it.
        """
        return await self._start(
            self.catalogue.definition(target_id),
            HostedConversation(self.new_id(), False, {}),
            scope,
            sink,
            cwd=self.shared_directory,
            dedicated=own_process,
        )

    async def _start(
        self,
        definition: TargetDefinition,
        conversation: HostedConversation,
        scope: Scope,
        sink: ScopeSink,
        *,
        cwd: str,
        dedicated: bool,
    ) -> ConnectionReference:
        family = self.catalogue.family_of(definition.target_id)
        report = await self.examiner.report(definition.program) if self.examiner is not None else None
        added = family.launch_arguments if family is not None and definition.server is None else ()
        environment = family.launch_environment if family is not None else {}
        hosts = family.conversation_launch if family is not None else None
        hosted = attrs.evolve(conversation, command=definition.command) if hosts is not None else None
        hosting = hosts(hosted) if hosts is not None and hosted is not None else None
        launch = LaunchSpecification(
            provider=definition.provider,
            argv=(*definition.command, *(word for word in added if word not in definition.command)),
            server=definition.server,
            environment={**environment, **definition.environment},
            cwd=cwd,
            dedicated=dedicated,
            shared_key=definition.target_id,
            conversation=hosted,
            hosting=hosting or ConversationLaunch(),
            report=report,
        )
        reference = await self.pool.acquire(launch, scope, sink)
        running = reference.connection.agent_version
        self.catalogue.saw(definition.target_id, running)
        if self.examiner is not None and report is not None and running not in (None, report.version):
            self.examiner.forget(definition.program)
        return reference


def _shown_setting(setting: SettingDescription) -> TargetSetting:
    values = None
    if setting.choices is not None:
        values = tuple(
            TargetSettingValue(choice.value, choice.label, choice.effect) for choice in setting.choices
        )
    return TargetSetting(setting.key, values=values, default=setting.default, change=setting.change)
