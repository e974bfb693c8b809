"""Takes the secrets of a process's environment out of what the process says about itself.

Owns the judgement which values look secret, and the replacement. Pure. It is a net for what agents print by
accident into stderr and logs, not a promise: a secret that an agent encodes before it prints it passes.
"""

import re
from collections.abc import Iterable, Iterator, Mapping

REDACTED = b"[redacted]"
SECRET_CHARACTERS_MIN = 6
"""Shorter values would blot out innocent text without hiding anything."""
SECRET_BYTES_MAX = 8 * 1024
"""Longer values (whole certificates) are covered line by line or not at all, so that the margin kept stays small."""

_SECRET_NAME = re.compile(
    r"KEY|TOKEN|SECRET|PASS(?:WORD|WD|PHRASE)?(?:_|$)|CREDENTIAL|AUTH(?!OR)|COOKIE|BEARER|SIGNATURE",
    re.IGNORECASE,
)
_KNOWN_SHAPES = r"(?:sk-|xox[a-z]-|gh[a-z]_|github_pat_|glpat-|AKIA|AIza|ya29\.|eyJ)[\w.+/=-]{8,}"
_SECRET_VALUE = re.compile(rf"^{_KNOWN_SHAPES}$|-----BEGIN [A-Z ]*PRIVATE KEY")
_TOKEN_IN_TEXT = re.compile(
    rf"(?<![\w-]){_KNOWN_SHAPES}|(?<=bearer[ .])[A-Za-z0-9._~+/=-]{{8,}}", re.IGNORECASE
)
_PASSWORD_IN_ADDRESS = re.compile(r"://[^/@\s]*:([^/@\s]+)@")
_ACCOUNT_IN_ADDRESS = re.compile(r"(?<=://)[^/@\s]*:[^/@\s]+(?=@)")


class Redactor:
    """Replaces known secrets in bytes that came from a process."""

    def __init__(self, secrets: Iterable[str]) -> None:
        encoded = {secret.encode(errors="surrogateescape") for secret in secrets}
        # The longest first: one secret may be the beginning of another.
        ordered = sorted((secret for secret in encoded if secret), key=lambda secret: (-len(secret), secret))
        self._pattern = re.compile(b"|".join(map(re.escape, ordered))) if ordered else None
        self.margin_bytes = max(map(len, ordered), default=1) - 1
        """So much before a cut decides whether the cut goes through a secret."""

    @classmethod
    def for_environment(cls, environment: Mapping[str, str]) -> "Redactor":
        """A redactor of every value in `environment` that looks secret by its name or by itself."""
        return cls(secret for name, value in environment.items() for secret in secrets_in(name, value))

    def redact(self, data: bytes, start: int = 0) -> bytes:
        """`data` from `start` on without secrets; one that begins before `start` and ends behind it is none too."""
        if self._pattern is None:
            return data[start:]
        for match in self._pattern.finditer(data, max(0, start - self.margin_bytes)):
            if match.start() < start < match.end():
                return REDACTED + self._pattern.sub(REDACTED, data[match.end() :])
        return self._pattern.sub(REDACTED, data[start:])

    def redact_text(self, text: str) -> str:
        """The same for text that is already decoded."""
        return hide_tokens(self.redact(text.encode(errors="replace")).decode(errors="replace"))


def hide_tokens(text: str) -> str:
    """Words of a provider without what has the shape of a token, or is the account in an address (PR-024)."""
    hidden = REDACTED.decode()
    return _ACCOUNT_IN_ADDRESS.sub(hidden, _TOKEN_IN_TEXT.sub(hidden, text))


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
