"""Runs a program to its end and keeps what it printed: for programs that answer a question and leave.

Owns the pipes and the end of the process, whatever happens to whoever waits. What is asked and what the answer means is
the caller's; so is the deadline.
"""

from collections.abc import Callable

import attrs
import structlog
import trio

from runtime.providers.output_reader import read_to_end
from runtime.providers.transport import ProcessTransport
from runtime.providers.transport_end import end_transport
from supervisor.process_guard.port import ExitStatus, LadderTimes, LaunchRequest, ProcessLauncher

log = structlog.get_logger(__name__)

_READ_BYTES = 64 * 1024


@attrs.frozen
class ProgramOutput:
    """How it ended, and the beginning of what it printed."""

    status: ExitStatus | None
    printed: bytes
    errors: bytes
    """Of its stderr, the beginning as well."""

    @property
    def ended_well(self) -> bool:
        """Exit code 0, as far as anybody saw."""
        return self.status is not None and self.status.code == 0


async def run_program(
    launcher: ProcessLauncher, request: LaunchRequest, printed_bytes_max: int
) -> ProgramOutput:
    """Start it, give it no input, and wait for its end. Raises LaunchError; cancelled, it is ended with all it forked."""
    process = await launcher.launch(request)
    printed, errors = bytearray(), bytearray()
    try:
        process.stdin.close()
        async with trio.open_nursery() as nursery:
            for source, kept in ((process.stdout, printed), (process.stderr, errors)):
                nursery.start_soon(read_to_end, source, _READ_BYTES, _keeper(kept, printed_bytes_max))
            await process.wait()
    finally:
        fault = await end_transport(
            ProcessTransport(process), LadderTimes.at_once(), _READ_BYTES, lambda _: None
        )
        if fault is not None:
            log.error("program not ended", program=request.label, fault=str(fault))
    return ProgramOutput(process.exited, bytes(printed), bytes(errors))


def _keeper(kept: bytearray, bytes_max: int) -> Callable[[bytes], None]:
    def keep(data: bytes) -> None:
        kept.extend(data[: bytes_max - len(kept)])

    return keep
