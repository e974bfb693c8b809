"""What all commands share: the configuration they run with, requests whose refusals are told with advice, the exit.

Owns the one place where errors become messages and exit codes. Nothing here knows a single command.
"""

import sys
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import trio

from greenroom_client import AccessRefused, Client, ClientError, GreenroomError
from runtime.cli.failures import (
    EXIT_ARGUMENTS,
    EXIT_INTERRUPTED,
    CommandFailed,
    Subject,
    leaf_errors,
    next_step_for,
)
from runtime.cli.output import Output
from runtime.config import Configuration, ConfigurationInvalid, Flags, Surroundings, load_configuration

_INTERRUPTED = CommandFailed("interrupted", exit_code=EXIT_INTERRUPTED)

if TYPE_CHECKING:
    from runtime.service import StartRefused

PAGE_ITEMS = 200
"""The most a page may hold (`contract §4`)."""


def load(flags: Flags) -> Configuration:
    """The configuration in force. Raises `CommandFailed` with exit code 2."""
    try:
        return load_configuration(flags, Surroundings.of_this_process())
    except ConfigurationInvalid as error:
        raise CommandFailed(str(error), exit_code=EXIT_ARGUMENTS) from error


@contextmanager
def about(subject: Subject) -> Iterator[None]:
    """Requests within speak of `subject`: a refusal becomes a `CommandFailed` with what to do about it."""
    try:
        yield
    except GreenroomError as refused:
        raise refusal_told(refused, subject) from refused


def refusal_told(refused: GreenroomError, subject: Subject) -> CommandFailed:
    """A refusal in words, with what to do about it."""
    if refused.code == "request.invalid":
        path = str(refused.details.get("path", "")).removeprefix("params.")
        problem = f"{refused.method}: {path} {refused.details.get('problem', '')}"
        return CommandFailed(f"{subject}: {problem}", "correct it and try again", code=refused.code)
    what = f"{subject}: {refused.message.rstrip('.')} ({refused.code})"
    advice = refused.details.get("advice") or next_step_for(refused.code, subject)
    return CommandFailed(what, str(advice), code=refused.code)


def told_client_error(error: ClientError, subject: Subject) -> CommandFailed:
    """A refusal in words, or that the daemon did not answer, for a program that goes on."""
    if isinstance(error, GreenroomError):
        return refusal_told(error, subject)
    return CommandFailed(f"the daemon did not answer: {error}", "try again, or start it: greenroom serve")


async def all_items(client: Client, method: str, params: Mapping[str, Any]) -> list[Any]:
    """The items of every page of a list."""
    items: list[Any] = []
    cursor: str | None = None
    while True:
        page = await client.request(method, {**params, "limit": PAGE_ITEMS, "cursor": cursor})
        items += page["items"]
        cursor = page["nextCursor"]
        if cursor is None:
            return items


def perform(body: Callable[[], int], output: Output) -> int:
    """Runs a command that needs no loop; the exit code, its failure told."""
    try:
        return body()
    except CommandFailed as failed:
        output.failure(failed)
        return failed.exit_code


def perform_async(body: Callable[[], Awaitable[int]], output: Output) -> int:
    """Runs a command in a loop of its own; the exit code, its failure told. Bugs are raised as they are."""
    try:
        return trio.run(told, body, output)
    except KeyboardInterrupt:
        output.failure(_INTERRUPTED)
        return _INTERRUPTED.exit_code


async def told(body: Callable[[], Awaitable[int]], output: Output) -> int:
    """The exit code of `body`; a failure becomes a message."""
    try:
        return await body()
    except (BaseExceptionGroup, CommandFailed, ClientError) as error:
        failed = _failure_of(leaf_errors(error))
        if failed is None:
            raise
    output.failure(failed)
    return failed.exit_code


def _failure_of(errors: list[BaseException]) -> CommandFailed | None:
    """What of several errors to tell; None when one of them is a bug, which must not hide behind the others."""
    told = [_as_failure(error) for error in errors]
    return None if not told or None in told else told[0]


def _as_failure(error: BaseException) -> CommandFailed | None:
    match error:
        case CommandFailed():
            return error
        case KeyboardInterrupt():
            return _INTERRUPTED
        case AccessRefused():
            step = "run it as the user who runs the daemon, or name another --data-dir; greenroom doctor tells more"
            return CommandFailed(f"the daemon does not let us in: {error}", step)
        case GreenroomError():
            return refusal_told(error, Subject())
        case ClientError():
            step = "start it again (greenroom serve) and look at the session (greenroom show); nothing acknowledged is lost"
            return CommandFailed(f"the daemon went away: {error}", step)
        case _:
            return _start_failure(error)


def _start_failure(error: BaseException) -> CommandFailed | None:
    """A refused start of the daemon. Its class is known only once the service was imported."""
    service = sys.modules.get("runtime.service")
    return start_failure(error) if service is not None and isinstance(error, service.StartRefused) else None


def start_failure(refused: "StartRefused") -> CommandFailed:
    """A refused start of the daemon, embedded or not, in words."""
    from store.errors import SchemaTooNew

    too_new = isinstance(refused.__cause__, SchemaTooNew)
    step = "install the program that wrote it, or a newer one" if too_new else ""
    return CommandFailed(refused.line, step, exit_code=refused.exit_code)
