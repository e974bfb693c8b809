"""Page checksums: SQLite's cksumvfs, which the apsw wheel ships as a loadable extension.

With 8 reserved bytes a page every page is summed when written and checked when read: a flipped bit is an error
instead of wrong data (SQLite's own integrity check notices one in nine). The extension wraps whatever file
system layer is SQLite's default at the moment it is loaded; a simulator uses that to put a faulty disk underneath.
"""

from functools import cache
from typing import Final

import apsw
import apsw.sqlite_extra

RESERVED_BYTES: Final = 8
"""Set aside at the end of every page, before the first write of a new file; it cannot be added later."""

_EXTENSION: Final = "cksumvfs"
_LAYER: Final = "cksmvfs"
SYSTEM_LAYER: Final = "unix"

_base_layer: str | None = None


@cache
def checksums_shipped() -> bool:
    """Whether this platform's wheel of apsw has the extension."""
    return apsw.sqlite_extra.has(_EXTENSION) is not None


def checksum_layer(base_layer: str = SYSTEM_LAYER) -> str:
    """The name of the VFS that sums pages over `base_layer`, which is then the one it uses in this process.

    SQLite has room for one such layer, so a process works over one base at a time: asking for another one puts
    the layer over it, which is only right while no connection is open. SQLite's default VFS stays what it was.
    """
    global _base_layer
    if base_layer != _base_layer:
        _put_over(base_layer)
        _base_layer = base_layer
    return _LAYER


def _put_over(base_layer: str) -> None:
    default = apsw.vfs_names()[0]
    if _LAYER in apsw.vfs_names():
        apsw.unregister_vfs(_LAYER)
    apsw.set_default_vfs(base_layer)
    try:
        with apsw.Connection(":memory:") as connection:
            apsw.sqlite_extra.load(connection, _EXTENSION)
        connection.close()
    finally:
        apsw.set_default_vfs(default)
