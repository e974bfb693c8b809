"""Opens the way to a provider within a deadline, and says in a typed error why there is none.

Owns that judgement only. Whatever was half opened is the opener's to undo.
"""

import structlog
import trio

from runtime.providers import failures
from runtime.providers.launch import LaunchSpecification
from runtime.providers.transport import ConnectFailed, ProviderTransport, TransportOpener
from store.canonical.common import TurnError
from supervisor.failpoints import failpoints
from supervisor.process_guard.port import LaunchError


async def open_transport(
    opener: TransportOpener,
    launch: LaunchSpecification,
    carrier: trio.Nursery,
    seconds: float,
    log: structlog.typing.FilteringBoundLogger,
) -> ProviderTransport | TurnError:
    """The open transport, or why there is none; after `seconds` it is given up."""
    with trio.move_on_after(seconds):
        try:
            if failpoints.on:
                await failpoints.reach("provider.launch.before")
            transport = await opener.open(launch, carrier)
            if failpoints.on:
                await failpoints.reach("provider.launch.after")
            return transport
        except LaunchError as fault:
            log.warning("provider not launched", fault=type(fault).__name__)
            return failures.not_started(launch, fault)
        except ConnectFailed as fault:
            log.warning("provider not reached", fault=str(fault))
            return failures.not_connected(launch, fault)
    return failures.start_timed_out(launch, seconds)
