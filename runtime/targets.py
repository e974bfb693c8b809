"""Targets: the agents this daemon can talk to, as configured. One identity for clients, one launch for the pool.

Owns what is known without starting anything (PR-003, PR-005). Which settings a provider family has is declared by
its descriptor; no branch here looks at a provider's name (PR-002).
"""

from collections.abc import Callable, Mapping, Sequence

import attrs

from runtime.providers.launch import LaunchSpecification
from runtime.providers.pool import ConnectionPool
from runtime.providers.port import Scope
from runtime.providers.registry import ProviderRegistry, UnsupportedProvider
from runtime.providers.routes import ScopeSink
from runtime.providers.tenancy import ConnectionReference
from runtime.refusal import Refusal
from runtime.wire.rows import Target, TargetProgram, TargetSetting
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


class TargetCatalogue:
    """All targets, in the order of the configuration (PR-006)."""

    def __init__(
        self,
        definitions: Sequence[TargetDefinition],
        registry: ProviderRegistry,
        program_found: Callable[[TargetDefinition], bool],
    ) -> None:
        self._definitions = {definition.target_id: definition for definition in definitions}
        self._registry = registry
        self._program_found = program_found

    def definition(self, target_id: TargetId) -> TargetDefinition:
        """A configured target; asked only after `refusal_for` had nothing against it."""
        return self._definitions[target_id]

    def provider_of(self, target_id: TargetId) -> str:
        """Its provider family."""
        return self._definitions[target_id].provider

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

    def _shown(self, definition: TargetDefinition) -> Target:
        return Target(
            agent_target_id=definition.target_id,
            provider=definition.provider,
            name=definition.name,
            enabled=definition.enabled,
            program=TargetProgram(found=self._program_found(definition), version=None),
            auth="unknown",
            capabilities=None,
            settings=self._settings(definition),
        )

    def _settings(self, definition: TargetDefinition) -> tuple[TargetSetting, ...]:
        own = TargetSetting(DEDICATED_PROCESS, values=None, default=False, change="launch")
        try:
            descriptor = self._registry.descriptor(definition.provider)
        except UnsupportedProvider:
            return (own,)
        declared = (
            TargetSetting(setting.key, values=None, default=None, change=setting.change)
            for setting in descriptor.settings
        )
        return (*declared, own)


@attrs.frozen
class TargetConnections:
    """Gives a Session its connection: its target's launch, in its working directory, from the pool."""

    catalogue: TargetCatalogue
    pool: ConnectionPool

    async def acquire(self, session: Session, scope: Scope, sink: ScopeSink) -> ConnectionReference:
        """A ready connection. Raises AcquireFailed."""
        definition = self.catalogue.definition(session.agent_target_id)
        launch = LaunchSpecification(
            provider=definition.provider,
            argv=definition.command,
            environment=definition.environment,
            cwd=session.cwd,
            dedicated=session.settings.get(DEDICATED_PROCESS) is True,
            shared_key=definition.target_id,
        )
        return await self.pool.acquire(launch, scope, sink)
