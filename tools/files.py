"""Finds the files of the working tree that the tools look at.

Owns the folder names of the project and what is never looked at (caches, builds, environments). It reads the
tree itself rather than asking git, so that the tools also work on an unpacked copy.
"""

from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

PRODUCT_PACKAGES = ("runtime", "store", "supervisor")
CLIENT_FOLDER = ROOT / "client"
CLIENT_PACKAGE = "greenroom_client"
SHIPPED_PACKAGES = (*PRODUCT_PACKAGES, CLIENT_PACKAGE)
"""What the program's wheel holds: the client travels with it (docs/decisions/0012)."""

# `.git` is a folder, or a file where the checkout is a work tree beside another.
_SKIPPED = {
    ".cache",
    ".git",
    ".hypothesis",
    ".import_linter_cache",
    ".mypy_cache",
    ".pytest_cache",
    ".ruff_cache",
    ".venv",
    "__pycache__",
    "build",
    "dist",
    "node_modules",
}


def tree_files(root: Path) -> Iterator[Path]:
    """All files below `root` that belong to the project, in a stable order."""
    for entry in sorted(root.iterdir()):
        if entry.name in _SKIPPED:
            continue
        if entry.is_dir():
            if not entry.name.endswith(".egg-info"):
                yield from tree_files(entry)
        elif entry.is_file():
            yield entry


def read_text(path: Path) -> str | None:
    """The text of `path`, or None when it is no UTF-8 text."""
    try:
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        return None
