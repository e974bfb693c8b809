"""The garbage collector of a process that lives for months: what was made at its start is not looked at again.

Owns two settings of the interpreter. Most of what a turn makes is freed by its count alone; collections in between
cost about a twentieth of the processor time of a stream, and walk over everything that was imported.
"""

import gc

YOUNG_OBJECTS = 10_000
"""So many more containers made than freed before the young ones are looked through; 700 is the interpreter's own."""


def spare_long_lived() -> None:
    """Once, when the daemon stands: from here on the collector sees only what is made from now on."""
    gc.collect()
    gc.freeze()
    _, middle, old = gc.get_threshold()
    gc.set_threshold(YOUNG_OBJECTS, middle, old)
