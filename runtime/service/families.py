"""The provider families this program ships with: what every composition of it registers."""

from runtime.providers.acp.adapter import AcpDescriptor
from runtime.providers.claude_code.descriptor import ClaudeDescriptor
from runtime.providers.codex.descriptor import CodexDescriptor
from runtime.providers.registry import ProviderRegistry
from runtime.service.installation import VERSION


def provider_registry() -> ProviderRegistry:
    """All of them; they tell agents this version of ours."""
    return ProviderRegistry((AcpDescriptor(VERSION), CodexDescriptor(VERSION), ClaudeDescriptor()))
