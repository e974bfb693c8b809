"""Token files on the real disk: the adapter behind `authentication.SecretFiles`.

Owns modes and atomicity, and nothing of what a token is.
"""

import os
import stat
from pathlib import Path

from runtime.api.authentication import TOKEN_FILE_MODE, SecretFile

_READ_BYTES_MAX = 4096


class SystemSecretFiles:
    """Implements `SecretFiles`."""

    def read(self, path: str) -> SecretFile | None:
        """The file at `path`; mode and text are of the same open file, so neither can change between them."""
        try:
            descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
        except FileNotFoundError:
            return None
        with os.fdopen(descriptor, "rb") as file:
            mode = stat.S_IMODE(os.fstat(descriptor).st_mode)
            return SecretFile(file.read(_READ_BYTES_MAX).decode(), mode)

    def create(self, path: str, text: str) -> None:
        """Writes beside `path` first, then links: a crash leaves no half token, and an older file is never replaced."""
        target = Path(path)
        target.parent.mkdir(parents=True, exist_ok=True)
        draft = target.with_name(f".{target.name}.{os.getpid()}")
        descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, TOKEN_FILE_MODE)
        try:
            with os.fdopen(descriptor, "wb") as file:
                os.fchmod(descriptor, TOKEN_FILE_MODE)
                file.write(text.encode())
                file.flush()
                os.fsync(descriptor)
            target.hardlink_to(draft)
        finally:
            draft.unlink(missing_ok=True)
