"""Unified diffs of tool calls: right to the line, and bounded in work and size."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runtime.providers.unified_diff import COMPARED_LINES_MAX, DIFF_CHARACTERS_MAX, unified_diff

LINES = st.lists(st.sampled_from(["a\n", "b\n", "c\n", "\n", "\x0b d\n", "\u2028e\n"]), max_size=40)
ENDS = st.sampled_from(["", "end"])


def apply(diff: str, old: str) -> str:
    """A small patch program: trusts line numbers and checks every line it takes away or passes."""
    lines = [line + "\n" for line in old.split("\n")]
    lines[-1] = lines[-1][:-1]
    new: list[str] = []
    place = 0
    body = diff.split("\n")[2:-1]
    for index, line in enumerate(body):
        if line.startswith("@@"):
            start, _, count = line.split(" ")[1][1:].partition(",")
            first = int(start) - (1 if count != "0" else 0)
            new += lines[place:first]
            place = first
        elif line.startswith("\\"):
            continue
        else:
            cut = index + 1 < len(body) and body[index + 1].startswith("\\")
            text = line[1:] + ("" if cut else "\n")
            if line[0] != "+":
                assert lines[place] == text
                place += 1
            if line[0] != "-":
                new.append(text)
    return "".join(new + lines[place:])


@given(LINES, LINES, ENDS, ENDS, st.integers(0, 60), st.integers(0, 60))
def test_diff_turns_the_old_text_into_the_new_one(
    old: list[str], new: list[str], old_end: str, new_end: str, before: int, after: int
) -> None:
    head, tail = "same\n" * before, "like\n" * after
    old_text, new_text = head + "".join(old) + tail + old_end, head + "".join(new) + tail + new_end
    diff = unified_diff("f", old_text, new_text)
    assert diff is not None
    assert (diff == "") == (old_text == new_text)
    assert apply(diff, old_text) == new_text


def test_only_the_change_is_shown_with_three_lines_around_it() -> None:
    old = "".join(f"{n}\n" for n in range(1, 101))
    new = old.replace("50\n", "fifty\n").replace("90\n", "")
    assert unified_diff("f", old, new) == (
        "--- f\n+++ f\n@@ -47,7 +47,7 @@\n 47\n 48\n 49\n-50\n+fifty\n 51\n 52\n 53\n"
        "@@ -87,7 +87,6 @@\n 87\n 88\n 89\n-90\n 91\n 92\n 93\n"
    )


def test_texts_too_long_to_match_are_shown_as_replaced() -> None:
    old = "".join(f"{n}\n" for n in range(COMPARED_LINES_MAX))
    new = "".join(f"x{n}\n" for n in range(COMPARED_LINES_MAX))
    diff = unified_diff("f", "head\n" + old, "head\n" + new)
    assert diff is not None
    assert diff.startswith(
        f"--- f\n+++ f\n@@ -1,{COMPARED_LINES_MAX + 1} +1,{COMPARED_LINES_MAX + 1} @@\n head\n-0\n"
    )


@pytest.mark.parametrize("size", [DIFF_CHARACTERS_MAX, 10 * DIFF_CHARACTERS_MAX])
def test_diff_over_the_bound_is_left_out(size: int) -> None:
    assert unified_diff("f", "", "y\n" * size) is None
