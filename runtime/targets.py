"""Targets: the agents this daemon can talk to, as configured. One identity for clients, one launch for the pool.

Owns what is known without starting anything (PR-003, PR-005). Which settings a provider family has is declared by
its descriptor; no branch here looks at a provider's name (PR-002).
"""

from collections.abc import Callable, Mapping, Sequence

import attrs

from runtime.providers import failures
from runtime.providers.examiner import ProgramExaminer
from runtime.providers.launch import LaunchSpecification
from runtime.providers.pool import ConnectionPool
from runtime.providers.port import ProviderDescriptor, Scope, SettingDescription
from runtime.providers.programs import Program
from runtime.providers.registry import ProviderRegistry, UnsupportedProvider
from runtime.providers.routes import ScopeSink
from runtime.providers.tenancy import AcquireFailed, ConnectionReference
from runtime.refusal import Refusal
from runtime.wire.rows import Target, TargetProgram, TargetSetting, TargetSettingValue
from store.canonical.common import Settings
from store.canonical.identifiers import TargetId
from store.canonical.session import Session

DEDICATED_PROCESS = "dedicatedProcess"


@attrs.frozen
class TargetDefinition:
    """One `[[targets]]` entry. `environment` is complete and exact: what the process will see (FC-51)."""

    target_id: TargetId
    provider: str
    name: str
    command: tuple[str, ...] = attrs.field(repr=False)
    environment: Mapping[str, str] = attrs.field(repr=False)
    enabled: bool = True

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
        self._definitions = {definition.target_id: definition for definition in definitions}
        self._registry = registry
        self._program_found = program_found
        self._examiner = examiner

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

    def refusal_for(self, target_id: TargetId) -> Refusal | None:
        """Why this target cannot serve, as far as is known without a provider."""
        definition = self._definitions.get(target_id)
        if definition is None:
            return Refusal("target.not_found")
        if not definition.enabled:
            return Refusal("target.disabled")
        return None

    def check_settings(self, target_id: TargetId, settings: Settings) -> Refusal | None:
        """Unknown keys and values of the wrong kind are refused before anything is stored."""
        known = {setting.key: setting for setting in self._settings(self._definitions[target_id])}
        for key, value in settings.items():
            setting = known.get(key)
            fits = setting is not None and isinstance(value, bool) == (key == DEDICATED_PROCESS)
            if setting is not None and setting.values is not None:
                fits = fits and any(value == offered.value for offered in setting.values)
            if not fits:
                return Refusal("settings.invalid", details={"key": key})
        return None

    def listing(self) -> tuple[Target, ...]:
        """What `target/list` shows."""
        return tuple(self._shown(definition) for definition in self._definitions.values())

    async def examine_all(self) -> None:
        """Ask every program that could be started what it is, one after the other."""
        for definition in self._definitions.values():
            if definition.enabled and self._examiner is not None:
                await self._examiner.report(definition.program)

    def _shown(self, definition: TargetDefinition) -> Target:
        report = self._examiner.known(definition.program) if self._examiner is not None else None
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
            auth="unknown",
            capabilities=capabilities,
            settings=self._settings(definition),
        )

    def _settings(self, definition: TargetDefinition) -> tuple[TargetSetting, ...]:
        own = TargetSetting(DEDICATED_PROCESS, values=None, default=False, change="launch")
        family = self.family_of(definition.target_id)
        return (*map(_declared, family.settings), own) if family is not None else (own,)


@attrs.frozen
class TargetConnections:
    """Gives a Session its connection: its target's launch, from the pool."""

    catalogue: TargetCatalogue
    pool: ConnectionPool
    is_directory: Callable[[str], bool]
    """Whether an absolute path names a directory that can be entered."""
    shared_directory: str = "/"
    """Where processes start that serve several sessions: a place of none of them."""
    examiner: ProgramExaminer | None = None

    async def acquire(self, session: Session, scope: Scope, sink: ScopeSink) -> ConnectionReference:
        """A ready connection. Raises AcquireFailed."""
        definition = self.catalogue.definition(session.agent_target_id)
        family = self.catalogue.family_of(session.agent_target_id)
        shares = family is not None and family.sessions_per_connection > 1
        if shares and not self.is_directory(session.cwd):
            # A process of its own would not start there; a shared one would take it for a directory like any other.
            raise AcquireFailed(failures.CWD_MISSING)
        report = await self.examiner.report(definition.program) if self.examiner is not None else None
        added = family.launch_arguments if family is not None else ()
        launch = LaunchSpecification(
            provider=definition.provider,
            argv=(*definition.command, *(word for word in added if word not in definition.command)),
            environment=definition.environment,
            # Sessions share a process only if it starts in one place for all of them; theirs travel in OpenThread.
            cwd=self.shared_directory if shares else session.cwd,
            dedicated=session.settings.get(DEDICATED_PROCESS) is True,
            shared_key=definition.target_id,
            report=report,
        )
        reference = await self.pool.acquire(launch, scope, sink)
        running = reference.connection.agent_version
        if self.examiner is not None and report is not None and running not in (None, report.version):
            self.examiner.forget(definition.program)
        return reference


def _declared(setting: SettingDescription) -> TargetSetting:
    values = None
    if setting.choices is not None:
        values = tuple(
            TargetSettingValue(choice.value, choice.label, choice.effect) for choice in setting.choices
        )
    return TargetSetting(setting.key, values=values, default=setting.default, change=setting.change)
