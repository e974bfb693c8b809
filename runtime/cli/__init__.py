"""The command line: `greenroom serve`, and the commands that talk to a daemon (`contract §1`).

Owns arguments, terminals, signals and exit codes; what the service does is the service's. Modules are imported when
a command needs them, so that `greenroom --version` answers at once.
"""

import os
import sys
from collections.abc import Sequence

EXIT_BROKEN_PIPE = 141
"""128 + SIGPIPE, what a shell reports of a program whose reader went away."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs one command and returns its exit code; the console script's entry point."""
    tokens = list(sys.argv[1:] if arguments is None else arguments)
    try:
        if tokens == ["--version"]:
            from runtime.cli.version import program_version

            print(f"greenroom {program_version()}")
            code = 0
        else:
            from runtime.cli.application import run_application

            code = run_application(tokens)
        sys.stdout.flush()
    except BrokenPipeError:
        # The reader, such as `head`, has had enough. What is still buffered must not raise again at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return EXIT_BROKEN_PIPE
    return code
