"""The directories of Sessions that were created without one: below `workRoot`, one each (`contract §1`).

An adapter: the one place that makes or removes them. It never looks inside, and removes only what is empty.
"""

from collections.abc import Sequence
from pathlib import Path

import attrs

from runtime.operations.create_session import WorkDirectoryUnavailable
from store.canonical.identifiers import SessionKey


@attrs.frozen
class DiskWorkDirectories:
    """`WorkDirectories` on disk."""

    root: Path

    def is_directory(self, path: str) -> bool:
        """Whether an absolute path names a directory."""
        try:
            return path.startswith("/") and Path(path).is_dir()
        except (OSError, ValueError):
            return False

    def is_within(self, path: str, roots: Sequence[str]) -> bool:
        """Whether a path, with its links resolved, is one of the roots or below one."""
        try:
            real = Path(path).resolve()
            return any(real.is_relative_to(Path(root).resolve()) for root in roots)
        except (OSError, ValueError):
            return False

    def path_of(self, key: SessionKey) -> str:
        """Where `allocate` would put it."""
        return str(self._path(key))

    def allocate(self, key: SessionKey) -> str:
        """The session's directory; made when it is not there."""
        path = self._path(key)
        try:
            path.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise WorkDirectoryUnavailable(f"{path}: {error.strerror}") from error
        return str(path)

    def release(self, key: SessionKey) -> None:
        """Remove it again if nothing was put into it."""
        try:
            self._path(key).rmdir()
        except OSError:
            return  # not empty, or gone: either way nothing of ours is left to remove

    def _path(self, key: SessionKey) -> Path:
        return self.root / file_name_of(key.workspace_id) / file_name_of(key.agent_session_id)


def file_name_of(identifier: str) -> str:
    """An identifier as a file name of its own: ids may begin with dots, file names of ours do not."""
    return f"_{identifier}" if identifier.startswith((".", "_")) else identifier
