"""The program's version, told without importing anything of the program (`runtime.service.installation` checks more)."""

from importlib import metadata

DISTRIBUTION = "greenroom"


def program_version() -> str:
    """The version of what is installed; `unknown` when it runs from a folder that is not."""
    try:
        return metadata.version(DISTRIBUTION)
    except metadata.PackageNotFoundError:
        return "unknown"
