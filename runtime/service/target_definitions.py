"""From the configuration to target definitions: exact commands and complete environments (`contract §1`, FC-51)."""

import os
import shutil
from collections.abc import Mapping

from runtime.config import Configuration
from runtime.providers.demo import demo_command
from runtime.providers.demo.options import MODELS, MODES
from runtime.providers.port import SettingChoice, SettingDescription
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
    """The configured targets in their order, the built-in demo agent last."""
    definitions = [
        TargetDefinition(
            target_id=TargetId(target.id),
            provider=target.provider,
            name=target.name,
            command=tuple(target.command),
            environment=_environment(config, environment, target.env),
            enabled=target.enabled,
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


def program_found(definition: TargetDefinition) -> bool:
    """Whether the program of a target is there to be started."""
    return (
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
