"""The command line: `greenroom serve`, and the commands that talk to a daemon (`contract §1`).

Owns arguments, terminals, signals and exit codes; what the service does is the service's. Modules are imported when
a command needs them, so that `greenroom --version` answers at once.
"""

import os
import sys
from collections.abc import Sequence

EXIT_BROKEN_PIPE = 141
"""128 + SIGPIPE, what a shell reports of a program whose reader went away."""
EXIT_UNWRITTEN = 1
"""What was to be printed could not be."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs one command and returns its exit code; the console script's entry point."""
    _open_missing_streams()
    tokens = list(sys.argv[1:] if arguments is None else arguments)
    try:
        if tokens == ["--version"]:
            from runtime.cli.version import program_version

            print(f"greenroom {program_version()}")
            code = 0
        else:
            from runtime.cli.application import run_application

            code = run_application(tokens)
        printed = _printed()
    except BrokenPipeError:
        # The reader, such as `head`, has had enough.
        _drop_what_is_buffered()
        return EXIT_BROKEN_PIPE
    return code if printed else EXIT_UNWRITTEN


def _open_missing_streams() -> None:
    """Whoever starts us may have closed some: the next file opened would take their place, and what is printed."""
    for descriptor, (name, mode) in enumerate((("stdin", "r"), ("stdout", "w"), ("stderr", "w"))):
        if getattr(sys, name) is None:
            os.dup2(os.open(os.devnull, os.O_RDWR), descriptor)
            setattr(sys, name, open(descriptor, mode, encoding="utf-8", closefd=False))  # noqa: SIM115


def _printed() -> bool:
    """Whether all of stdout is where it was to go."""
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        raise
    except OSError as error:
        sys.stderr.write(f"greenroom: what was to be printed could not be written: {error.strerror}\n")
        _drop_what_is_buffered()
        return False
    return True


def _drop_what_is_buffered() -> None:
    """It must not raise again at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
