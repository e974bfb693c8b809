"""Turns a file's text before and after into a unified diff, within a bound of work and of size.

Owns only text. difflib is quadratic on texts that have nothing in common, so equal ends are cut off first and what
remains is compared line by line only while it is small; otherwise it is shown as replaced.
"""

import difflib
from collections.abc import Iterator
from typing import TypeAlias

COMPARED_LINES_MAX = 2000
"""Lines on both sides together that difflib is asked to match."""

DIFF_CHARACTERS_MAX = 512 * 1024
"""A longer diff is left out; path and kind of the change are told all the same."""

CONTEXT_LINES = 3
_NO_NEWLINE = "\\ No newline at end of file\n"

_Run: TypeAlias = tuple[bool, int, int, int, int]
"""Whether both sides are equal here, and the lines [start, end) of the old and of the new side."""


def unified_diff(path: str, old_text: str, new_text: str) -> str | None:
    """The diff in the usual form, empty when nothing changed, null when it would be longer than the bound."""
    if len(old_text) + len(new_text) > 8 * DIFF_CHARACTERS_MAX:
        return None
    old, new = _lines(old_text), _lines(new_text)
    parts: list[str] = []
    for hunk in _hunks(_runs(old, new)):
        parts += _hunk_text(hunk, old, new)
    if not parts:
        return ""
    diff = f"--- {path}\n+++ {path}\n" + "".join(parts)
    return diff if len(diff) <= DIFF_CHARACTERS_MAX else None


def _lines(text: str) -> list[str]:
    """Lines with their ends, cut at newlines alone: a diff counts no other separator."""
    *ended, rest = text.split("\n")
    return [line + "\n" for line in ended] + ([rest] if rest else [])


def _runs(old: list[str], new: list[str]) -> Iterator[_Run]:
    """Equal and changed runs from the first line to the last, the equal ends included."""
    head = _common_lines(old, new)
    tail = _common_lines(old[head:][::-1], new[head:][::-1])
    old_end, new_end = len(old) - tail, len(new) - tail
    yield (True, 0, head, 0, head)
    if old_end + new_end - 2 * head <= COMPARED_LINES_MAX:
        matcher = difflib.SequenceMatcher(None, old[head:old_end], new[head:new_end])
        for tag, old_start, old_stop, new_start, new_stop in matcher.get_opcodes():
            yield (tag == "equal", head + old_start, head + old_stop, head + new_start, head + new_stop)
    else:
        yield (False, head, old_end, head, new_end)
    yield (True, old_end, len(old), new_end, len(new))


def _common_lines(left: list[str], right: list[str]) -> int:
    count = 0
    for one, other in zip(left, right, strict=False):
        if one != other:
            break
        count += 1
    return count


def _hunks(runs: Iterator[_Run]) -> Iterator[list[_Run]]:
    """Changed runs with their context; an equal run too long to be shared ends one hunk and begins the next."""
    hunk: list[_Run] = []
    changed = False
    for run in runs:
        equal, old_start, old_end, new_start, new_end = run
        if not equal:
            hunk.append(run)
            changed = True
        elif not changed:
            shown = min(CONTEXT_LINES, old_end - old_start)
            hunk = [(True, old_end - shown, old_end, new_end - shown, new_end)]
        elif old_end - old_start <= 2 * CONTEXT_LINES:
            hunk.append(run)
        else:
            yield [*hunk, (True, old_start, old_start + CONTEXT_LINES, new_start, new_start + CONTEXT_LINES)]
            hunk = [(True, old_end - CONTEXT_LINES, old_end, new_end - CONTEXT_LINES, new_end)]
            changed = False
    if changed:
        *before, (equal, old_start, old_end, new_start, new_end) = hunk
        shown = min(CONTEXT_LINES, old_end - old_start)
        # The last run is always the equal tail, perhaps an empty one.
        yield [*before, (equal, old_start, old_start + shown, new_start, new_start + shown)]


def _hunk_text(hunk: list[_Run], old: list[str], new: list[str]) -> list[str]:
    (_, old_start, _, new_start, _), (_, _, old_end, _, new_end) = hunk[0], hunk[-1]
    text = [f"@@ -{_range(old_start, old_end)} +{_range(new_start, new_end)} @@\n"]
    for equal, old_first, old_stop, new_first, new_stop in hunk:
        if equal:
            text += _marked(" ", old[old_first:old_stop])
        else:
            text += _marked("-", old[old_first:old_stop])
            text += _marked("+", new[new_first:new_stop])
    return text


def _range(start: int, end: int) -> str:
    """A range as unified diffs write it: one line without its count, an empty one by the line before."""
    length = end - start
    if length == 1:
        return str(start + 1)
    return f"{start if length == 0 else start + 1},{length}"


def _marked(mark: str, lines: list[str]) -> list[str]:
    return [mark + line if line.endswith("\n") else f"{mark}{line}\n{_NO_NEWLINE}" for line in lines]
