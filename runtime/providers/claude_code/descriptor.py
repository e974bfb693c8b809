"""The Claude Code family as the registry knows it, without a process."""

from collections.abc import Mapping

import attrs

from runtime.providers.catalogue import CatalogueAbilities, CredentialFile, CredentialPlaces
from runtime.providers.claude_code.adapter import ClaudeAdapter
from runtime.providers.claude_code.examination import ClaudeExamination
from runtime.providers.claude_code.launching import launch_of
from runtime.providers.claude_code.settings import DESCRIPTIONS
from runtime.providers.hosting import ConversationLaunch, HostedConversation
from runtime.providers.port import AdapterLimits, SettingDescription
from runtime.providers.programs import ProgramReport
from runtime.providers.side_facts import SideFacts

_ENVIRONMENT = {"CLAUDE_CODE_EMIT_SESSION_STATE_EVENTS": "1"}
"""It says when nothing is owed any more, and when it waits for an answer."""


_CATALOGUE = CatalogueAbilities(
    frozenset({"account", "models", "skills"}),
    credentials=CredentialPlaces(
        ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "CLAUDE_CODE_OAUTH_TOKEN"),
        (CredentialFile("CLAUDE_CONFIG_DIR", ".claude", ".credentials.json", ("claudeAiOauth",)),),
    ),
)
"""It tells nothing of the usage that is left."""


@attrs.frozen
class ClaudeDescriptor:
    """Implements `ProviderDescriptor`."""

    key: str = "claude"
    sessions_per_connection: int = 1
    launch_arguments: tuple[str, ...] = (
        "--print",
        "--input-format=stream-json",
        "--output-format=stream-json",
        "--verbose",
        "--include-partial-messages",
        "--permission-prompt-tool=stdio",
    )
    launch_environment: Mapping[str, str] = attrs.field(factory=lambda: dict(_ENVIRONMENT))
    settings: tuple[SettingDescription, ...] = DESCRIPTIONS
    listens: bool = False
    catalogue: CatalogueAbilities = _CATALOGUE
    side: SideFacts = attrs.field(default=SideFacts(*(True,) * 7))
    side_unkept: SideFacts = attrs.field(default=SideFacts(*(True,) * 5))
    """A question beside the conversation: one, and answered without tools."""
    examination: ClaudeExamination = attrs.field(factory=ClaudeExamination)

    def conversation_launch(self, conversation: HostedConversation) -> ConversationLaunch:
        """A process hosts one conversation, or one fork of it, and is told which when it starts."""
        return launch_of(conversation)

    def adapter(
        self,
        limits: AdapterLimits,
        report: ProgramReport | None = None,
        conversation: HostedConversation | None = None,
    ) -> ClaudeAdapter:
        """A fresh adapter for a fresh connection. Raises ValueError when nobody said what its process is for."""
        if conversation is None:
            raise ValueError("a Claude Code process is started for one conversation")
        return ClaudeAdapter(limits, conversation)
