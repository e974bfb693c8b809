"""Token figures: the thread's as Codex reports them, and what one turn added to them.

Pure. A turn's share is the difference of totals, since the last request's own figures are told more than once.
"""

from typing import Final

import attrs

from runtime.providers.codex.turns import OpenTurn
from runtime.providers.jsonrpc.members import Members, count_of, object_of
from store.canonical.common import Json, Usage

NO_USAGE: Final = Usage(0, 0, 0, 0, 0)

_TOTALS = ("input_tokens", "cached_input_tokens", "output_tokens", "reasoning_tokens", "total_tokens")


def read_usage(token_usage: Json) -> tuple[Usage, Usage]:
    """Read `tokenUsage`: the thread's cumulative figures with its context, and those of its newest request."""
    members = object_of(token_usage)
    total, last = object_of(members.get("total")), object_of(members.get("last"))
    usage = attrs.evolve(
        _figures(total),
        context_tokens=count_of(last.get("totalTokens")),
        context_window=count_of(members.get("modelContextWindow")),
    )
    return usage, _figures(last)


class ThreadUsage:
    """The thread's total. It is unknown for a resumed thread until Codex reports it."""

    def __init__(self) -> None:
        self._total: Usage | None = None

    def begin_new(self) -> None:
        """The thread is new: nothing has been used yet."""
        self._total = NO_USAGE

    def turn_begins(self, turn: OpenTurn) -> None:
        """What was used before this turn."""
        turn.usage_before = self._total

    def report(self, token_usage: Json, turn: OpenTurn | None) -> Usage:
        """New figures; `turn` is the open turn they came in."""
        usage, newest = read_usage(token_usage)
        if turn is not None:
            turn.usage_before = turn.usage_before or difference(usage, newest)
            turn.usage_now = usage
        self._total = usage
        return usage


def usage_of(turn: OpenTurn) -> Usage | None:
    """What this turn used; null when nothing was reported in it."""
    if turn.usage_now is None or turn.usage_before is None:
        return None
    return difference(turn.usage_now, turn.usage_before)


def difference(later: Usage, earlier: Usage) -> Usage:
    """What came between two totals; null where one of them does not say."""
    return Usage(**{name: _less(getattr(later, name), getattr(earlier, name)) for name in _TOTALS})


def _less(later: int | None, earlier: int | None) -> int | None:
    return max(0, later - earlier) if later is not None and earlier is not None else None


def _figures(members: Members) -> Usage:
    return Usage(
        input_tokens=count_of(members.get("inputTokens")),
        cached_input_tokens=count_of(members.get("cachedInputTokens")),
        output_tokens=count_of(members.get("outputTokens")),
        reasoning_tokens=count_of(members.get("reasoningOutputTokens")),
        total_tokens=count_of(members.get("totalTokens")),
    )
