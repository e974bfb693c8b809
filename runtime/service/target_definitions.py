"""From the configuration to target definitions: exact commands and complete environments (`contract §1`, FC-51)."""

import os
import shutil
from collections.abc import Iterable, Mapping

from runtime.api.authentication import TokenRefused, read_token
from runtime.api.secret_files import SystemSecretFiles
from runtime.config import Configuration, TargetConfiguration
from runtime.providers.demo import demo_command
from runtime.providers.demo.options import MODELS, MODES
from runtime.providers.launch import ServerAddress
from runtime.providers.port import SettingChoice, SettingDescription
from runtime.providers.registry import ProviderRegistry
from runtime.service.ready import EXIT_CONFIGURATION, StartRefused
from runtime.targets import TargetDefinition
from store.canonical.identifiers import TargetId
from supervisor.process_guard import provider_environment

DEMO_TARGET = "demo"
DEMO_STATE_FOLDER = "demo-agent"
DEMO_SETTINGS = (
    SettingDescription(
        "model", "next_turn", tuple(SettingChoice(model, model) for model in MODELS), default=MODELS[0]
    ),
    SettingDescription(
        "mode",
        "now",
        (
            SettingChoice(MODES[0], "Ask before anything is changed", "asks"),
            SettingChoice(MODES[1], "Change files without asking", "edits"),
        ),
        default=MODES[0],
    ),
)
"""The built-in agent's settings, as `target/list` shows them."""

NESTING_MARKERS = frozenset(
    {
        "CLAUDECODE",
        "CLAUDE_CODE_ENTRYPOINT",
        "CLAUDE_CODE_SESSION_ID",
        "CLAUDE_CODE_SSE_PORT",
        "CODEX_SANDBOX",
        "CODEX_SANDBOX_NETWORK_DISABLED",
        "CODEX_THREAD_ID",
        "GEMINI_CLI",
        "OPENCODE",
        "QWEN_CODE",
    }
)
"""Variables by which agents mark what runs inside them: an agent that sees one believes to be nested."""


def target_definitions(config: Configuration, environment: Mapping[str, str]) -> tuple[TargetDefinition, ...]:
    """The configured targets in their order, the built-in demo agent last. Raises StartRefused for a token file."""
    definitions = [
        TargetDefinition(
            target_id=TargetId(target.id),
            provider=target.provider,
            name=target.name,
            command=tuple(target.command),
            environment=_environment(config, environment, target.env) if target.url is None else {},
            enabled=target.enabled,
            server=_server(target),
        )
        for target in config.targets
    ]
    if config.demo and all(definition.target_id != DEMO_TARGET for definition in definitions):
        definitions.append(
            TargetDefinition(
                target_id=TargetId(DEMO_TARGET),
                provider="acp",
                name="Demo agent",
                command=tuple(demo_command(str(config.data_dir / DEMO_STATE_FOLDER))),
                environment=_environment(config, environment, {}),
                settings=DEMO_SETTINGS,
            )
        )
    return tuple(definitions)


def _server(target: TargetConfiguration) -> ServerAddress | None:
    url = target.url
    if url is None:
        return None
    token = None
    if target.token_file is not None:
        try:
            token = read_token(SystemSecretFiles(), str(target.token_file))
        except TokenRefused as error:
            raise StartRefused(EXIT_CONFIGURATION, f"target {target.id}: {error}") from error
    return ServerAddress(host=url.host, port=url.port, path=url.path, encrypted=url.encrypted, token=token)


def check_servers(definitions: Iterable[TargetDefinition], registry: ProviderRegistry) -> None:
    """Refuses a url for a family whose programs are only ever started. Raises StartRefused."""
    for definition in definitions:
        known = definition.provider in registry.keys
        if definition.server is not None and known and not registry.descriptor(definition.provider).listens:
            line = f"target {definition.target_id}: url: provider {definition.provider} needs a command"
            raise StartRefused(EXIT_CONFIGURATION, line)


def program_found(definition: TargetDefinition) -> bool:
    """Whether the program of a target is there to be started; a server is taken to be there until it is needed."""
    return definition.server is not None or (
        shutil.which(definition.command[0], path=definition.environment.get("PATH", os.defpath)) is not None
    )


def _environment(
    config: Configuration, environment: Mapping[str, str], target: Mapping[str, str]
) -> dict[str, str]:
    return provider_environment(
        environment,
        inherit_names=config.inherit_env,
        target_environment=target,
        nesting_markers=NESTING_MARKERS,
    )
