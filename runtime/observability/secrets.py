"""Takes secrets out of log lines: by the names of members, by the shape of tokens, and by the values we know.

A net for what is logged by accident; nobody is to log a secret on purpose. Pure.
"""

import re
from collections.abc import Mapping, MutableMapping
from typing import Any

import attrs

from runtime.providers.redaction import REDACTED, Redactor

HIDDEN = REDACTED.decode()

_SECRET_MEMBER = re.compile(
    r"(?:.*[_-])?(?:token|secret|password|passphrase|api_?key|authorization|cookie|credentials?|bearer)",
    re.IGNORECASE,
)


@attrs.frozen
class SecretFilter:
    """A processor of structlog; stands after the one that formats exceptions and before the renderer."""

    redactor: Redactor

    @classmethod
    def for_environment(cls, environment: Mapping[str, str]) -> "SecretFilter":
        """Knows every value of `environment` that looks secret."""
        return cls(Redactor.for_environment(environment))

    def __call__(self, _: object, __: str, event: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
        """The event without secrets."""
        return {name: HIDDEN if _names_secret(name) else self._clean(value) for name, value in event.items()}

    def _clean(self, value: Any) -> Any:
        if isinstance(value, (int, float, bool, type(None))):
            return value
        if isinstance(value, Mapping):
            return {
                str(name): HIDDEN if _names_secret(str(name)) else self._clean(item)
                for name, item in value.items()
            }
        if isinstance(value, (list, tuple, set, frozenset)):
            return [self._clean(item) for item in value]
        return self.redactor.redact_text(str(value))


def _names_secret(name: str) -> bool:
    return _SECRET_MEMBER.fullmatch(name) is not None
