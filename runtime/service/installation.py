"""What is installed: the version, and a check that the packages of these generic names are really ours.

`supervisor`, `store` and `runtime` are names that other distributions use too; installed into one environment they
overwrite each other without a word. See `docs/decisions`.
"""

from importlib import metadata
from pathlib import Path

import runtime
import store
import supervisor

DISTRIBUTION = "greenroom"


def _version() -> str:
    try:
        return metadata.version(DISTRIBUTION)
    except metadata.PackageNotFoundError:
        return "0.0.0+unknown"


VERSION = _version()


def foreign_packages() -> tuple[str, ...]:
    """Names of our packages that were loaded from elsewhere than this one; empty when all is well."""
    home = _home(runtime)
    return tuple(package.__name__ for package in (store, supervisor) if _home(package) != home)


def _home(package: object) -> Path | None:
    file = getattr(package, "__file__", None)
    return None if file is None else Path(file).resolve().parent.parent
