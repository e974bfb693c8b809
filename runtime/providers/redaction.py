"""Takes secrets out of what a process says about itself: those of its environment, and what has the shape of one.

Owns the judgement which values look secret, and the replacement; the shapes are those of `secret_shapes`. Pure. It is a
net for what agents print by accident into stderr and logs, not a promise: a secret that an agent encodes before it
prints it passes.
"""

import re
from collections.abc import Iterable, Iterator, Mapping

from runtime.providers.secret_shapes import FOLDERS, KEY_SHAPES, LONGEST_BYTES, SECRETS, spans_in

REDACTED = b"[redacted]"
HIDDEN_FOLDERS = b"[path]/"
SECRET_CHARACTERS_MIN = 6
"""Shorter values would blot out innocent text without hiding anything."""
SECRET_BYTES_MAX = 8 * 1024
"""Longer values (whole certificates) are covered line by line or not at all, so that the margin kept stays small."""

_SECRET_NAME = re.compile(
    r"KEY|TOKEN|SECRET|PASS(?:WORD|WD|PHRASE)?(?:_|$)|CREDENTIAL|AUTH(?!OR)|COOKIE|BEARER|SIGNATURE",
    re.IGNORECASE,
)
_SECRET_VALUE = re.compile(rf"^{KEY_SHAPES}$|-----BEGIN [A-Z ]*PRIVATE KEY")
_PASSWORD_IN_ADDRESS = re.compile(r"://[^/@\s]*:([^/@\s]+)@")


class Redactor:
    """Replaces secrets in bytes that came from a process: those it was given, and what looks like one."""

    def __init__(self, secrets: Iterable[str]) -> None:
        encoded = {secret.encode(errors="surrogateescape") for secret in secrets}
        # The longest first: one secret may be the beginning of another.
        ordered = sorted((secret for secret in encoded if secret), key=lambda secret: (-len(secret), secret))
        known = [re.compile(b"|".join(map(re.escape, ordered)))] if ordered else []
        self._secrets = (*known, *SECRETS)
        self.margin_bytes = max(LONGEST_BYTES, *map(len, ordered)) if ordered else LONGEST_BYTES
        """So much before a cut decides whether the cut goes through a secret."""

    @classmethod
    def for_environment(cls, environment: Mapping[str, str]) -> "Redactor":
        """A redactor of every value in `environment` that looks secret by its name or by itself."""
        return cls(secret for name, value in environment.items() for secret in secrets_in(name, value))

    def redact(self, data: bytes, start: int = 0) -> bytes:
        """`data` from `start` on without secrets; one that begins before `start` and ends behind it is none too."""
        return _hidden(self._secrets, data, REDACTED, start, self.margin_bytes)

    def redact_text(self, text: str) -> str:
        """The same for text that is already decoded."""
        return self.redact(text.encode(errors="replace")).decode(errors="replace")

    def redact_words(self, data: bytes, start: int = 0) -> str:
        """Words of a provider for those who look after it: without secrets, and without the folders of paths."""
        shown = self.redact(data, start)
        return _hidden(FOLDERS, shown, HIDDEN_FOLDERS).decode(errors="replace")


def hide_tokens(text: str) -> str:
    """Words of a provider without what has the shape of a token, or is the account in an address (PR-024)."""
    encoded = text.encode("utf-8", "surrogatepass")
    return _hidden(SECRETS, encoded, REDACTED).decode("utf-8", "surrogatepass")


def _hidden(
    patterns: Iterable[re.Pattern[bytes]], data: bytes, instead: bytes, start: int = 0, margin_bytes: int = 0
) -> bytes:
    before = max(0, start - margin_bytes)
    pieces: list[bytes] = []
    shown_to = start
    for begin, end in spans_in(patterns, data[before:]):
        begin, end = begin + before, end + before
        if end > start:
            pieces += [data[shown_to : max(begin, shown_to)], instead]
            shown_to = end
    return b"".join((*pieces, data[shown_to:]))


def secrets_in(name: str, value: str) -> Iterator[str]:
    """What of one variable must not be shown: its value, the lines of it, the password of an address."""
    if _SECRET_NAME.search(name) or _SECRET_VALUE.search(value):
        candidates = {value, value.strip(), *(line.strip() for line in value.splitlines())}
        yield from sorted(candidate for candidate in candidates if _worth_hiding(candidate))
    yield from (password for password in _PASSWORD_IN_ADDRESS.findall(value) if _worth_hiding(password))


def _worth_hiding(secret: str) -> bool:
    return (
        len(secret) >= SECRET_CHARACTERS_MIN
        and len(secret.encode(errors="surrogateescape")) <= SECRET_BYTES_MAX
    )
