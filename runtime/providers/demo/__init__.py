"""The built-in demo agent: a scripted ACP agent, shipped with the program and run as a real child process.

This folder uses the standard library only and is imported by the agent itself, so it stays small and quick.
"""

import sys

_START = "import sys; sys.path.append({root!r}); from runtime.providers.demo.process import main; main()"


def demo_command(state_folder: str | None = None) -> list[str]:
    """The command line that starts the agent; with `state_folder` its sessions can be loaded after a restart.

    Isolated and without site-packages: it starts in about 25 ms, and nothing in the working directory, which is
    a user's project, can take the place of a module.
    """
    from pathlib import Path  # not for the agent itself, whose start it would slow down

    root = Path(__file__).resolve().parents[3]
    command = [sys.executable, "-I", "-S", "-c", _START.format(root=str(root))]
    return command if state_folder is None else [*command, "--state", state_folder]
