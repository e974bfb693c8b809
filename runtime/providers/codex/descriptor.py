"""The Codex family as the registry knows it, without a process."""

from collections.abc import Mapping

import attrs

from runtime.providers.catalogue import SUBJECTS, CatalogueAbilities, CredentialFile, CredentialPlaces
from runtime.providers.codex.adapter import CodexAdapter
from runtime.providers.codex.examination import CodexExamination
from runtime.providers.codex.settings import DESCRIPTIONS
from runtime.providers.hosting import HostedConversation
from runtime.providers.port import AdapterLimits, SettingDescription
from runtime.providers.programs import ProgramReport
from runtime.providers.side_facts import SideFacts

_CATALOGUE = CatalogueAbilities(
    frozenset(SUBJECTS),
    skill_trigger="$",
    credentials=CredentialPlaces(
        files=(CredentialFile("CODEX_HOME", ".codex", "auth.json", ("tokens", "OPENAI_API_KEY")),)
    ),
)


@attrs.frozen
class CodexDescriptor:
    """Implements `ProviderDescriptor`."""

    client_version: str = "0"
    """Our version, as Codex is told it."""
    key: str = "codex"
    sessions_per_connection: int = 16
    launch_arguments: tuple[str, ...] = ("--strict-config",)
    """Without it Codex would go on with defaults where it cannot read its configuration: another model provider and
    another sandbox than the configured ones."""
    launch_environment: Mapping[str, str] = attrs.field(factory=dict)
    conversation_launch: None = None
    settings: tuple[SettingDescription, ...] = DESCRIPTIONS
    listens: bool = True
    catalogue: CatalogueAbilities = _CATALOGUE
    side: SideFacts = attrs.field(default=SideFacts(*(True,) * 7))
    side_unkept: SideFacts = attrs.field(default=SideFacts(*(True,) * 7))
    """Seen with the tested version, all of it (docs/providers/codex-app-server.md); what is no fact of a program that
    was attested otherwise keeps its sessions from saying that they have Sides."""
    examination: CodexExamination = attrs.field(factory=CodexExamination)

    def adapter(
        self,
        limits: AdapterLimits,
        report: ProgramReport | None = None,
        conversation: HostedConversation | None = None,
    ) -> CodexAdapter:
        """A fresh adapter for a fresh connection."""
        return CodexAdapter(limits, self.client_version, report)
