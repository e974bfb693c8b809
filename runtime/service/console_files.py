"""The built console, as it is shipped inside the package."""

from importlib.resources import files


def console_files() -> dict[str, bytes]:
    """File name to content."""
    folder = files("runtime.api") / "console"
    return {entry.name: entry.read_bytes() for entry in folder.iterdir() if entry.is_file()}
