"""The commands and their arguments, as cyclopts reads them. Each hands over to a module of its own, imported late.

Owns the names of flags and what help says of them, and that a wrong argument is one line and exit code 2
(`contract §1`).
"""

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import attrs
from cyclopts import App, CycloptsError, Parameter

from runtime.cli.failures import EXIT_ARGUMENTS, CommandFailed
from runtime.cli.output import Output

if TYPE_CHECKING:
    from runtime.config import Flags

application = App(
    name="greenroom",
    help="Hosts many concurrent coding-agent sessions on one machine.",
    version_flags=[],
    help_format="plaintext",
    result_action="return_value",
)

Json = Annotated[bool, Parameter(name="--json", negative="", help="JSON in place of text.")]
Workspace = Annotated[str, Parameter(help="The workspace the session belongs to.")]


@Parameter(name="*")
@attrs.frozen(kw_only=True)
class Place:
    """Which daemon is meant."""

    data_dir: Annotated[str | None, Parameter(help="The data directory, in place of the user's own.")] = None
    config: Annotated[str | None, Parameter(help="The configuration file, in place of the user's own.")] = (
        None
    )

    def flags(self) -> "Flags":
        """The same for the configuration."""
        from runtime.config import Flags

        return Flags(config_file=self.config, data_dir=self.data_dir)


_HERE = Place()


@application.command
def serve(
    *,
    place: Place = _HERE,
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


@application.command
def run(
    prompt: Annotated[
        str | None, Parameter(help="What the agent is to do; read from stdin when left out.")
    ] = None,
    /,
    *,
    target: Annotated[str | None, Parameter(help="Which agent; the first enabled one by default.")] = None,
    cwd: Annotated[str | None, Parameter(help="Where it works; a directory of its own by default.")] = None,
    session: Annotated[str | None, Parameter(help="Go on with this session.")] = None,
    workspace: Workspace = "default",
    place: Place = _HERE,
    json: Json = False,
) -> int:
    """Give an agent one prompt and follow it to its end. Exit code 1 when the turn did not complete."""
    from runtime.cli.run_command import RunRequest, run_command

    request = RunRequest(prompt, target_id=target, cwd=cwd, session_id=session, workspace_id=workspace)
    return run_command(request, place.flags(), as_json=json)


@application.command
def sessions(*, workspace: Workspace = "default", place: Place = _HERE, json: Json = False) -> int:
    """List the sessions of a workspace."""
    from runtime.cli.session_commands import sessions_command

    return sessions_command(workspace, place.flags(), as_json=json)


@application.command
def show(
    session: Annotated[str, Parameter(help="The session's id.")],
    /,
    *,
    workspace: Workspace = "default",
    newest: Annotated[int, Parameter(help="How many messages at most, the newest ones.")] = 500,
    place: Place = _HERE,
    json: Json = False,
) -> int:
    """Show a session: its transcript, its turns, and what waits for an answer."""
    from runtime.cli.session_commands import show_command

    return show_command(session, workspace, place.flags(), newest=max(1, newest), as_json=json)


@application.command
def doctor(*, place: Place = _HERE, json: Json = False) -> int:
    """Check what a daemon needs, and who can read its token. Exit code 1 when something is wrong."""
    from runtime.cli.doctor import doctor_command

    return doctor_command(place.flags(), as_json=json)


@application.command
def restore(
    *,
    copy: Annotated[
        str | None, Parameter(name="--from", help="The copy; without it, the copies are listed.")
    ] = None,
    place: Place = _HERE,
    json: Json = False,
) -> int:
    """Put a copy of the database in the place of a damaged one, which is kept."""
    from runtime.cli.restore_command import restore_command

    return restore_command(copy, place.flags(), as_json=json)


@application.command
def contract(
    *, out: Annotated[Path, Parameter(help="The directory to write into.")], json: Json = False
) -> int:
    """Write the contract as JSON Schema, OpenRPC and AsyncAPI."""
    from runtime.cli.contract_command import contract_command

    return contract_command(out, as_json=json)


# Its arguments are its own: the simulator reads them.
@application.command(help_flags=[])
def simulate(*arguments: Annotated[str, Parameter(allow_leading_hyphen=True)]) -> int:
    """Run seeded whole-service simulations with faults; --help tells the arguments."""
    from importlib import import_module

    return int(import_module("runtime.simulation.command").simulate(arguments))


def run_application(tokens: Sequence[str]) -> int:
    """Runs the command in `tokens`; its exit code. A wrong argument is one line on stderr."""
    application.help_formatter = "default" if sys.stdout.isatty() else "plain"
    try:
        result = application(tokens, exit_on_error=False, print_error=False)
    except CycloptsError as error:
        known = [token for token in tokens[:1] if token in application]
        step = " ".join(["greenroom", *known, "--help"])
        failed = CommandFailed(" ".join(str(error).split()), step, exit_code=EXIT_ARGUMENTS)
        Output("--json" in tokens).failure(failed)
        return failed.exit_code
    return result if isinstance(result, int) else 0
