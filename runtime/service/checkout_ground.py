"""The ground on which checkouts of sessions are made: beside the directories of sessions without a project.

An adapter: it looks and makes nothing. Checkouts lie below `workRoot` and not in the data directory, where tokens and
the database are: agents work in them. It also says with which variables git runs.
"""

import os
import shutil
from collections.abc import Mapping
from pathlib import Path

import attrs

from runtime.service.work_directories import file_name_of
from store.canonical.identifiers import SessionKey
from supervisor.process_guard import provider_environment

FOLDER = "_worktrees"
"""No folder of a workspace has this name: those that would begin with a `_` have two."""


@attrs.frozen
class DiskCheckoutGround:
    """`CheckoutGround` on disk."""

    root: Path
    """`workRoot`."""

    def path_of(self, key: SessionKey) -> str:
        """See `CheckoutGround`."""
        folder = self.root.resolve() / FOLDER
        return str(folder / file_name_of(key.workspace_id) / file_name_of(key.agent_session_id))

    def exists(self, path: str) -> bool:
        """See `CheckoutGround`."""
        return os.path.lexists(path)

    def free_bytes(self) -> int:
        """Of the disk that the root is on, or will be."""
        there = next(folder for folder in (self.root, *self.root.parents) if folder.exists())
        return shutil.disk_usage(there).free


def git_environment(environment: Mapping[str, str]) -> dict[str, str]:
    """What git sees of the daemon's variables: where the user's configuration is, and no `GIT_*`."""
    return provider_environment(
        environment, inherit_names=("XDG_CONFIG_HOME",), target_environment={}, nesting_markers=()
    )
