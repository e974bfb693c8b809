"""All small protocols by name, for `greenroom simulate --explore` and the tests that walk each of them.

A module of protocols has a tuple `PROTOCOLS`; it is listed here.
"""

from typing import Final

from runtime.simulation.protocols import (
    closing,
    families,
    guidance,
    hibernation,
    locks,
    ownership,
    sides,
    turns,
)
from runtime.simulation.protocols.protocol import Protocol

PROTOCOLS: Final[dict[str, Protocol]] = {
    protocol.name: protocol
    for module in (locks, turns, closing, ownership, guidance, families, hibernation, sides)
    for protocol in module.PROTOCOLS
}
