"""What a turn took, and how full the context is: costs are counted from the start of a process."""

from runtime.providers.claude_code.usage import ProcessUsage, together
from store.canonical.common import Usage

RESULT = {
    "usage": {
        "input_tokens": 10,
        "cache_read_input_tokens": 70,
        "cache_creation_input_tokens": 20,
        "output_tokens": 5,
        "output_tokens_details": {"thinking_tokens": 2},
    },
    "total_cost_usd": 0.5,
    "modelUsage": {
        "small": {"inputTokens": 1, "outputTokens": 1, "contextWindow": 200000},
        "large": {"inputTokens": 9, "outputTokens": 4, "cacheReadInputTokens": 70, "contextWindow": 1000000},
    },
}


def test_what_was_cached_counts_as_given_and_costs_are_a_difference():
    process = ProcessUsage()
    process.message({"input_tokens": 30, "cache_read_input_tokens": 70})
    first = process.turn(RESULT)
    assert first == Usage(100, 70, 5, 2, 105, 100, 1000000, 0.5)
    assert process.turn({**RESULT, "total_cost_usd": 0.75}).cost_usd == 0.25


def test_a_result_without_figures_says_nothing():
    assert ProcessUsage().turn({"usage": "odd", "total_cost_usd": True}) == Usage()


def test_a_conversation_is_summed_only_where_it_was_seen_from_its_start():
    process = ProcessUsage()
    process.message({"input_tokens": 100})
    process.turn(RESULT)
    assert process.conversation(RESULT) == Usage(80, 70, 5, None, 85, 100, 1000000, 0.5)
    process.whole = False
    assert process.conversation(RESULT) == Usage(context_tokens=100, context_window=1000000)


def test_two_parts_of_a_turn_count_together():
    earlier = Usage(input_tokens=1, output_tokens=2, context_tokens=3, cost_usd=0.25)
    later = Usage(input_tokens=10, total_tokens=20, context_tokens=30, cost_usd=0.5)
    assert together(None, later) == later
    assert together(earlier, later) == Usage(11, None, 2, None, 20, 30, None, 0.75)
