"""Sessions of the demo agent in a folder, one small JSON file each, written whole or not at all."""

# ruff: noqa: PTH103, PTH105, PTH118, PTH123 - pathlib alone would add a third to the time this program takes to start

import json
import os
import re

from runtime.providers.demo.actions import Record

_NAME = re.compile(r"[A-Za-z0-9-]{1,100}")


class FileStore:
    """A store in `folder`, which is made when first needed. What cannot be read counts as not there."""

    def __init__(self, folder: str) -> None:
        self._folder = folder

    def load(self, session_id: str) -> Record | None:
        """The session, or None when there is no readable file of it."""
        if not _NAME.fullmatch(session_id):
            return None
        try:
            with open(self._path(session_id), encoding="utf-8") as file:
                record: Record = json.load(file)
        except (OSError, ValueError):
            return None
        return record

    def save(self, session_id: str, record: Record) -> None:
        """Keep it; a reader sees the old file or the new one, never half of it."""
        os.makedirs(self._folder, exist_ok=True)
        path = self._path(session_id)
        with open(path + ".new", "w", encoding="utf-8") as file:
            json.dump(record, file)
        os.replace(path + ".new", path)

    def _path(self, session_id: str) -> str:
        return os.path.join(self._folder, session_id + ".json")
