"""What is kept of the odd things a provider process does: counters, the last few of them, the end of its stderr.

Owns bounds and redaction of this material; it is shown by `debug/session` to an admin and never sent to other
clients. Pure.
"""

from collections import deque
from collections.abc import Mapping

import attrs

from runtime.providers.port import Diagnostic
from runtime.providers.redaction import Redactor

KINDS_MAX = 64
OTHER_KIND = "other"
DETAIL_CHARACTERS_MAX = 500


@attrs.frozen
class DiagnosticReport:
    """Counts by kind since the process started, and the newest diagnostics, oldest first."""

    counts: Mapping[str, int]
    newest: tuple[Diagnostic, ...]


class DiagnosticLog:
    """Counts all diagnostics and keeps the newest (FC-17, FC-24)."""

    def __init__(self, kept_max: int, redactor: Redactor) -> None:
        self._counts: dict[str, int] = {}
        self._newest: deque[Diagnostic] = deque(maxlen=kept_max)
        self._redactor = redactor

    def add(self, diagnostic: Diagnostic) -> None:
        """Count it and keep it, shortened and redacted."""
        detail = self._redactor.redact_words(diagnostic.detail.encode(errors="replace"))
        if len(detail) > DETAIL_CHARACTERS_MAX:
            detail = detail[: DETAIL_CHARACTERS_MAX - 1] + "…"
        self.count(diagnostic.kind)
        self._newest.append(Diagnostic(diagnostic.kind, detail))

    def count(self, kind: str) -> None:
        """Count it only."""
        if kind not in self._counts and len(self._counts) >= KINDS_MAX:
            kind = OTHER_KIND
        self._counts[kind] = self._counts.get(kind, 0) + 1

    def report(self) -> DiagnosticReport:
        """As it stands now."""
        return DiagnosticReport(dict(self._counts), tuple(self._newest))


class StderrTail:
    """The last `bytes_max` bytes of a stream of any length (FC-18: a flood costs no memory)."""

    def __init__(self, bytes_max: int, redactor: Redactor) -> None:
        self._bytes_max = bytes_max
        self._redactor = redactor
        # Kept beyond the tail so that a secret lying across its beginning is still recognised.
        self._kept_max = bytes_max + redactor.margin_bytes
        self._kept = bytearray()
        self.total_bytes = 0

    def feed(self, data: bytes) -> None:
        """More of the stream."""
        self.total_bytes += len(data)
        self._kept += data[-self._kept_max :]
        del self._kept[: -self._kept_max]

    def text(self) -> str:
        """The tail, decoded leniently, without secrets and folders; its first line may be cut."""
        kept = bytes(self._kept)
        return self._redactor.redact_words(kept, max(0, len(kept) - self._bytes_max))
