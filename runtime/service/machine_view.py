"""What of agents can be seen on this machine: which file a program is, and whether a sign-in lies where it would.

An adapter, and nothing of what it means. Credentials are looked at to see that they are some and whether they changed; what
they say is never kept, compared or logged, only a digest that goes away with the process (PR-033, PR-048).
"""

import hashlib
import json
from collections.abc import Iterator
from pathlib import Path

import attrs

from runtime.providers.catalogue import CatalogueAbilities, CredentialFile
from runtime.providers.programs import ProgramFile, ProgramFiles
from runtime.targets import TargetDefinition

CREDENTIAL_BYTES_MAX = 256 * 1024
"""A larger file is none of credentials."""


@attrs.frozen
class DiskMachineView:
    """Implements `MachineView`."""

    files: ProgramFiles
    salt: bytes = attrs.field(repr=False)
    """Keeps a mark from being compared with anything outside of this process."""

    def program(self, definition: TargetDefinition) -> ProgramFile | None:
        """See `MachineView`. A server that is only connected to is no file."""
        return self.files.identify(definition.program) if definition.server is None else None

    def credentials(self, definition: TargetDefinition, abilities: CatalogueAbilities) -> str | None:
        """See `MachineView`."""
        if definition.server is not None:
            return None
        places, environment = abilities.credentials, definition.environment
        seen = [f"{name}={environment[name]}".encode() for name in places.variables if environment.get(name)]
        for file in places.files:
            seen += _content(_path(file, definition), file)
        if not seen:
            return None
        digest = hashlib.blake2b(key=self.salt)
        for part in seen:
            digest.update(len(part).to_bytes(8) + part)
        return digest.hexdigest()


def _path(file: CredentialFile, definition: TargetDefinition) -> Path:
    environment = definition.environment
    folder = environment.get(file.variable)
    home = environment.get("HOME")
    if folder is None:
        folder = str(Path(home or "/") / file.folder)
    return Path(folder) / file.name


def _content(path: Path, file: CredentialFile) -> Iterator[bytes]:
    """The file, if it is one that holds a sign-in; one that cannot be read or understood is none (PR-033)."""
    try:
        with path.open("rb") as opened:
            content = opened.read(CREDENTIAL_BYTES_MAX + 1)
        document = json.loads(content)
    except (OSError, ValueError, RecursionError):
        return
    fits = len(content) <= CREDENTIAL_BYTES_MAX
    if fits and isinstance(document, dict) and any(document.get(member) for member in file.members):
        yield content
