"""Why a cell or a child of the tree ended: a closed union that its owner can match exhaustively.

Owns the words only. Whether an ending leads to a restart is decided in `child_spec` and `cell`.
"""

import attrs


@attrs.frozen
class Normal:
    """It had nothing left to do: a passivated cell, or a child that returned."""


@attrs.frozen
class Shutdown:
    """Its owner asked it to stop, or cancelled it."""


@attrs.frozen
class Crashed:
    """Its code raised; `error` may be an `ExceptionGroup`, which still is one crash."""

    error: Exception


ExitReason = Normal | Shutdown | Crashed
