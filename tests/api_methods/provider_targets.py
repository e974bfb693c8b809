"""Agents that tell of themselves, or fail to: scripted app-servers, each with its own home, and a daemon that asks them."""

import sys
from pathlib import Path
from typing import Any

from tests.doubles.scripted_codex import scripted_target
from tests.end_to_end.fixtures import shared_settings

INQUIRY_SECONDS = 6.0
"""Enough for a program to start on a busy machine, as all but `silent` have to answer within it."""


def provider_settings(folder: Path) -> dict[str, Any]:
    """`none`, `key`, `plus` tell all; `refusing`, `silent`, `odd` fail at models; `dying` and `gone` never start."""
    settings = shared_settings(folder)

    def target(name: str, **environment: str) -> dict[str, Any]:
        return scripted_target(home_of(folder, name), name, **environment)

    settings["limits"]["inquiryTimeoutSeconds"] = INQUIRY_SECONDS
    settings["targets"] = [
        target("none"),
        target("key", SCRIPTED_ACCOUNT="apiKey"),
        target("plus", SCRIPTED_ACCOUNT="chatgpt"),
        target("again", SCRIPTED_ACCOUNT="apiKey"),
        target("many", SCRIPTED_ACCOUNT="apiKey"),
        target("refusing", SCRIPTED_CATALOGUE="refuses"),
        target("silent", SCRIPTED_CATALOGUE="silent"),
        target("leaving", SCRIPTED_CATALOGUE="leaves"),
        target("odd", SCRIPTED_CATALOGUE="odd"),
        {"id": "dying", "provider": "codex", "command": [sys.executable, "-c", "pass"]},
        {"id": "gone", "provider": "codex", "command": ["no-such-agent-program"]},
        {**target("off"), "enabled": False},
    ]
    return settings


def home_of(folder: Path, name: str) -> Path:
    """Where that app-server keeps its notes and its sign-in."""
    return folder / f"{name}-home"
