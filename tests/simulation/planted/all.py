"""All planted bugs: importing the modules that plant them fills the table."""

from tests.simulation.planted import of_durability, of_idempotency, of_order, of_sharing
from tests.simulation.planted.bug import PLANTED

__all__ = ["PLANTED", "of_durability", "of_idempotency", "of_order", "of_sharing"]
