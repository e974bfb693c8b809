"""What of an adapter's outputs anybody sees: its events, why it gave up, and its diagnostics as they are kept."""

from collections.abc import Iterable

from runtime.providers.diagnostics import DiagnosticLog
from runtime.providers.port import Deliver, Diagnostic, GiveUp
from runtime.providers.redaction import Redactor
from tests.doubles.secret_kinds import found_in


def leaked(outputs: Iterable[object]) -> list[str]:
    """The kinds of secrets that can be seen in it."""
    log = DiagnosticLog(10_000, Redactor(()))
    seen: list[object] = []
    for output in outputs:
        match output:
            case Deliver() | GiveUp():
                seen.append(output)
            case Diagnostic():
                log.add(output)
            case _:
                pass  # goes to the provider, or sets a timer
    seen += log.report().newest
    return found_in("\n".join(map(repr, seen)))
