"""Token figures of Claude Code: what a turn cost, and how full the model's context is.

Owns the reading of `usage` and `modelUsage`. Costs are counted from the start of a process, so those of a turn are a
difference.
"""

from typing import Final

import attrs

from runtime.providers.jsonrpc.members import Members, count_of, object_of
from store.canonical.common import Json, Usage

_COUNTED: Final = (
    "input_tokens",
    "cached_input_tokens",
    "output_tokens",
    "reasoning_tokens",
    "total_tokens",
    "cost_usd",
)


@attrs.define
class ProcessUsage:
    """What has been counted since the process started."""

    whole: bool = True
    """Whether the process has seen the conversation from its start, so that its sums are those of the conversation."""
    cost_usd: float = 0.0
    context_tokens: int | None = None
    """What the last request of the conversation itself was given."""

    def message(self, usage: Json) -> None:
        """The figures of one reply of the model."""
        given = _given(object_of(usage))
        if given:
            self.context_tokens = given

    def turn(self, result: Members) -> Usage:
        """What the turn of this result took."""
        usage = object_of(result.get("usage"))
        total_cost = result.get("total_cost_usd")
        cost = None
        if isinstance(total_cost, int | float) and not isinstance(total_cost, bool):
            cost = max(0.0, total_cost - self.cost_usd)
            self.cost_usd = max(self.cost_usd, float(total_cost))
        given, output = _given(usage), count_of(usage.get("output_tokens"))
        return Usage(
            input_tokens=given,
            cached_input_tokens=count_of(usage.get("cache_read_input_tokens")),
            output_tokens=output,
            reasoning_tokens=count_of(object_of(usage.get("output_tokens_details")).get("thinking_tokens")),
            total_tokens=None if given is None or output is None else given + output,
            context_tokens=self.context_tokens,
            context_window=_window(
                [object_of(each) for each in object_of(result.get("modelUsage")).values()]
            ),
            cost_usd=cost,
        )

    def conversation(self, result: Members) -> Usage:
        """How full the context is; with what the conversation took so far, where that is known."""
        models = [object_of(model) for model in object_of(result.get("modelUsage")).values()]
        told = Usage(context_tokens=self.context_tokens, context_window=_window(models))
        if not self.whole:
            return told
        cached = _sum(models, "cacheReadInputTokens")
        given = _sum(models, "inputTokens") + cached + _sum(models, "cacheCreationInputTokens")
        output = _sum(models, "outputTokens")
        return attrs.evolve(
            told,
            input_tokens=given,
            cached_input_tokens=cached,
            output_tokens=output,
            total_tokens=given + output,
            cost_usd=self.cost_usd,
        )


def together(earlier: Usage | None, later: Usage) -> Usage:
    """What two parts of one turn took; how full the context is says the later one."""
    if earlier is None:
        return later
    sums = {}
    for name in _COUNTED:
        before, after = getattr(earlier, name), getattr(later, name)
        sums[name] = after if before is None else before if after is None else before + after
    return attrs.evolve(later, **sums)


def _sum(models: list[Members], name: str) -> int:
    return sum(count_of(model.get(name)) or 0 for model in models)


def _given(usage: Members) -> int | None:
    names = ("input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens")
    counts = [count for name in names if (count := count_of(usage.get(name))) is not None]
    return sum(counts) if counts else None


def _window(models: list[Members]) -> int | None:
    windows = [count_of(model.get("contextWindow")) for model in models]
    return max((window for window in windows if window is not None), default=None)
