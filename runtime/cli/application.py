"""The application: its commands put together, those about the daemon, and what is said of a wrong argument.

Owns the names of flags and what help says of them, and that a wrong argument is one line and exit code 2
(`contract §1`). Each command hands over to a module of its own, imported late.
"""

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Final, Literal

import attrs
from cyclopts import App, CycloptsError, Parameter

from runtime.cli.failures import EXIT_ARGUMENTS, CommandFailed
from runtime.cli.output import Output
from runtime.cli.session_words import add_session_commands
from runtime.cli.words import DAEMON, HERE, Json, Place, example

UNBROKEN_COLUMNS: Final = 10_000
"""The width of help that no person reads on a terminal: whoever does, wraps it there."""

HELP_FLAGS: Final = frozenset({"--help", "-h"})

application = App(
    name="greenroom",
    help="Hosts many concurrent coding-agent sessions on one machine.",
    help_epilogue="Exit codes: 0 done, 1 it failed, 2 wrong arguments, 130 interrupted; docs/cli.md has them all.",
    version_flags=[],
    help_format="plaintext",
    result_action="return_value",
)
add_session_commands(application)


@application.command(
    group=DAEMON, help_epilogue=example("serve", "serve --data-dir data --listen 127.0.0.1:0")
)
def serve(
    *,
    place: Place = HERE,
    listen: Annotated[str | None, Parameter(help="127.0.0.1:PORT, [::1]:PORT or unix:PATH.")] = None,
    console: Annotated[
        bool | None, Parameter(negative="--no-console", help="Serve the web console, where there is one.")
    ] = None,
    enable_faults: Annotated[
        bool, Parameter(negative="", help="Serve the fault/* methods, for tests.")
    ] = False,
    transport: Annotated[
        Literal["wsproto", "trio-websocket"] | None, Parameter(help="What carries the WebSocket.")
    ] = None,
    json: Annotated[bool, Parameter(negative="", help="Logs as JSON lines, on a terminal too.")] = False,
) -> int:
    """Run the daemon until SIGTERM or Ctrl-C. One JSON line on stdout tells when it is ready; logs go to stderr."""
    from runtime.cli.serve_command import serve_command

    flags = attrs.evolve(
        place.flags(), listen=listen, console=console, enable_faults=enable_faults, transport=transport
    )
    return serve_command(flags, logs_as_json=json)


@application.command(group=DAEMON, help_epilogue=example("top", "top --once"))
def top(
    *,
    once: Annotated[bool, Parameter(negative="", help="Print it once and end.")] = False,
    interval_seconds: Annotated[float, Parameter(name="--interval", help="Seconds between two looks.")] = 2.0,
    place: Place = HERE,
    json: Json = False,
) -> int:
    """Watch a daemon: its sessions and turns, its memory, queues and rates, until Ctrl-C."""
    from runtime.cli.top_command import top_command

    return top_command(place.flags(), interval_seconds=max(0.1, interval_seconds), once=once, as_json=json)


@application.command(group=DAEMON, help_epilogue=example("targets", "targets --models"))
def targets(
    *,
    check: Annotated[bool, Parameter(help="Ask each agent how its sign-in stands.", negative=())] = False,
    models: Annotated[bool, Parameter(help="Ask each agent for its models.", negative=())] = False,
    place: Place = HERE,
    json: Json = False,
) -> int:
    """List the agents that can be talked to, as far as is known; agents are asked only for --check and --models."""
    from runtime.cli.targets_command import targets_command

    return targets_command(place.flags(), check=check, models=models, as_json=json)


@application.command(group=DAEMON, help_epilogue=example("doctor"))
def doctor(*, place: Place = HERE, json: Json = False) -> int:
    """Check what a daemon needs, and who can read its token. Exit code 1 when something is wrong."""
    from runtime.cli.doctor import doctor_command

    return doctor_command(place.flags(), as_json=json)


@application.command(group=DAEMON, help_epilogue=example("restore", "restore --from COPY"))
def restore(
    *,
    copy: Annotated[
        str | None, Parameter(name="--from", help="The copy; without it, the copies are listed.")
    ] = None,
    place: Place = HERE,
    json: Json = False,
) -> int:
    """Put a copy of the database in the place of a damaged one, which is kept. Sessions come back by `undelete`."""
    from runtime.cli.restore_command import restore_command

    return restore_command(copy, place.flags(), as_json=json)


@application.command(group=DAEMON, help_epilogue=example("backup", "backup --out FILE"))
def backup(
    *,
    out: Annotated[
        str | None, Parameter(help="The file to make; beside the database by default, under a new name.")
    ] = None,
    place: Place = HERE,
    json: Json = False,
) -> int:
    """Make a checked copy of the database, while the daemon runs or not."""
    from runtime.cli.backup_command import backup_command

    return backup_command(out, place.flags(), as_json=json)


@application.command(group=DAEMON, help_epilogue=example("check", "check COPY"))
def check(
    file: Annotated[str | None, Parameter(help="A copy; the database itself by default.")] = None,
    /,
    *,
    place: Place = HERE,
    json: Json = False,
) -> int:
    """Look at the whole database without changing it. Exit code 4 when it is damaged or newer than this program."""
    from runtime.cli.check_command import check_command

    return check_command(file, place.flags(), as_json=json)


@application.command(group=DAEMON, help_epilogue=example("contract --out contract"))
def contract(
    *, out: Annotated[Path, Parameter(help="The directory to write into.")], json: Json = False
) -> int:
    """Write the contract as JSON Schema, OpenRPC and AsyncAPI."""
    from runtime.cli.contract_command import contract_command

    return contract_command(out, as_json=json)


# Its arguments are its own: the simulator reads them.
@application.command(group=DAEMON, help_flags=[])
def simulate(*arguments: Annotated[str, Parameter(allow_leading_hyphen=True)]) -> int:
    """Run seeded whole-service simulations with faults; --help tells the arguments."""
    from importlib import import_module

    return int(import_module("runtime.simulation.command").simulate(arguments))


@application.command(group=DAEMON, help_flags=[])
def torture(*arguments: Annotated[str, Parameter(allow_leading_hyphen=True)]) -> int:
    """Kill and hinder a real daemon and check what it promises; --help tells the arguments."""
    from importlib import import_module

    return int(import_module("runtime.torture.command").torture(arguments))


@application.command(
    group=DAEMON,
    help_epilogue=example(
        "completion bash > ~/.local/share/bash-completion/completions/greenroom",
        "completion fish > ~/.config/fish/completions/greenroom.fish",
    ),
)
def completion(
    shell: Annotated[Literal["bash", "zsh", "fish"], Parameter(help="Whose.")], /, *, json: Json = False
) -> int:
    """Print what a shell needs to complete commands and options."""
    script = application.generate_completion(shell=shell)
    output = Output(json)
    if json:
        output.document({"shell": shell, "script": script})
    else:
        output.stdout.write(script)
    return 0


def run_application(tokens: Sequence[str]) -> int:
    """Runs the command in `tokens`; its exit code. A wrong argument is one line on stderr."""
    console = None
    helping = not tokens or not HELP_FLAGS.isdisjoint(tokens)
    if helping and not sys.stdout.isatty():
        from rich.console import Console

        application.help_formatter = "plain"
        console = Console(width=UNBROKEN_COLUMNS, color_system=None)
    try:
        result = application(tokens, exit_on_error=False, print_error=False, console=console)
    except CycloptsError as error:
        known = [token for token in tokens[:1] if token in application]
        step = " ".join(["greenroom", *known, "--help"])
        failed = CommandFailed(" ".join(str(error).split()), step, exit_code=EXIT_ARGUMENTS)
        Output("--json" in tokens).failure(failed)
        return failed.exit_code
    return result if isinstance(result, int) else 0
