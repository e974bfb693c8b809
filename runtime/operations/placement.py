"""Where a Session stands in a list grouped by project, as its key says it. Pure.

The key is made once, from what the caller gave at creation; nothing recomputes it (ST-034, ST-036).
"""

from posixpath import normpath
from typing import Final

_PROJECT: Final = "project:"


def project_path(path: str) -> str:
    """A project's path in the one form that names it: two spellings of a path are one project. Links stay."""
    normal = normpath(path)
    return normal[1:] if normal.startswith("//") else normal


def section_key(project: str | None) -> str | None:
    """`railSectionKey` of a session of this project; null stands for the conversations without one."""
    return None if project is None else f"{_PROJECT}{project}"


def project_of(key: str | None) -> str | None:
    """The project that a key stands for."""
    return key.removeprefix(_PROJECT) if key is not None and key.startswith(_PROJECT) else None
