"""`greenroom serve`: one ready line on stdout, logs on stderr, signals, exit codes (`contract §1`).

Owns the process around the service, and nothing of the service itself.
"""

import os
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Final

import attrs
import structlog
import trio

from runtime.cli.commands import load, perform_async
from runtime.cli.failures import EXIT_ARGUMENTS, CommandFailed
from runtime.cli.output import Output
from runtime.config import Configuration, Flags
from runtime.observability.logging import configure_logging, log_crash
from runtime.service import ReadyLine, serve
from runtime.service.installation import foreign_packages

SIGNAL_EXIT_BASE: Final = 128
SIGNALS: Final = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)

log = structlog.get_logger("greenroom.command_line")


def serve_command(flags: Flags, *, logs_as_json: bool) -> int:
    """Runs the daemon until a signal; the exit code."""
    output = Output()

    async def body() -> int:
        configuration = load(flags)
        refuse_foreign_packages()
        configure_logging(os.environ, as_json=True if logs_as_json else None)
        sys.excepthook = log_crash
        await _serve_until_signalled(configuration, flags)
        return 0

    return perform_async(body, output)


def refuse_foreign_packages() -> None:
    """Another distribution that overwrote a package of ours would make us run its code (decision 0001)."""
    foreign = foreign_packages()
    if foreign:
        raise CommandFailed(
            f"package {foreign[0]} of another distribution hides ours",
            "install greenroom into an environment of its own",
            exit_code=EXIT_ARGUMENTS,
        )


def show_console_link(console: str, token_file: Path) -> None:
    """One line for the person at the terminal, and for nobody else: the link carries the token.

    In its fragment, which a browser sends to no server and the page takes out of the address bar at once.
    """
    try:
        token = token_file.read_text(encoding="ascii").strip()
        print(f"Open the console: {console}#token={token}", file=sys.stderr, flush=True)
    except OSError as error:
        log.warning("the console's link could not be shown", reason=error.strerror)


@attrs.define(eq=False)
class _Run:
    """One run of the service, as the signals see it."""

    stop: trio.Event = attrs.field(factory=trio.Event)
    scope: trio.CancelScope = attrs.field(factory=trio.CancelScope)
    ready: bool = False
    signals: int = 0

    def announce(self, line: ReadyLine) -> None:
        """The one line on stdout. Whoever started us may have closed it: that is no reason not to serve."""
        self.ready = True
        try:
            # Past the buffer, which would try again at every exit of the process.
            os.write(sys.stdout.fileno(), line.encode() + b"\n")
        except OSError as error:
            log.warning("the ready line could not be written", reason=error.strerror)
        if line.console is not None and sys.stderr.isatty():
            show_console_link(line.console, Path(line.token_file))

    def stop_by(self, number: int) -> None:
        """First the clean stop; then at once, nothing lost; then without any manners."""
        self.signals += 1
        if self.signals == 1 and self.ready:
            self.stop.set()
        elif self.signals <= 2:
            self.scope.cancel()
        else:
            os._exit(SIGNAL_EXIT_BASE + number)


async def _serve_until_signalled(configuration: Configuration, flags: Flags) -> None:
    run = _Run()
    # One waiting configuration is enough: it is loaded when it is taken, so it is the newest.
    hang_up, reread = trio.open_memory_channel[None](1)
    with trio.open_signal_receiver(*SIGNALS) as received:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(partial(_obey, received, run, hang_up))
            with run.scope:
                await serve(
                    configuration, ready=run.announce, stop=run.stop, reread=_configurations(reread, flags)
                )
            nursery.cancel_scope.cancel()


async def _configurations(
    hang_ups: trio.MemoryReceiveChannel[None], flags: Flags
) -> AsyncIterator[Configuration]:
    """The configuration as it is after each SIGHUP; one that cannot be used is named and passed over."""
    async for _ in hang_ups:
        try:
            yield load(flags)
        except CommandFailed as failure:
            log.error("the configuration stays as it was", reason=str(failure))


async def _obey(received: AsyncIterator[int], run: _Run, hang_up: trio.MemorySendChannel[None]) -> None:
    async for number in received:
        if number == signal.SIGHUP:
            with suppress(trio.WouldBlock):
                hang_up.send_nowait(None)
            continue
        log.info("stopping", signal=signal.Signals(number).name, at_once=run.signals > 0)
        run.stop_by(number)
