"""Rows of the contract in short words, for every command that shows them. Pure; rows come in as they were sent."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final, TypeAlias

Json: TypeAlias = Mapping[str, Any]

TOOL_ENDS_TOLD: Final = ("failed", "declined", "interrupted")
EXCERPT_CHARACTERS: Final = 72
OUTPUT_TAIL_LINES: Final = 8
DIFF_LINES: Final = 40


def tool_line(call: Json) -> str:
    """A tool call in one line; how it ended only when that was not well."""
    text = " ".join(f"{call['kind']}: {call['title'] or call['name']}".split())
    status = call["status"]
    if status not in TOOL_ENDS_TOLD:
        return text
    exit_code = (call.get("output") or {}).get("exitCode")
    return f"{text}: {status}" + (f" (exit code {exit_code})" if exit_code else "")


def plan_line(entries: Iterable[Json]) -> str:
    """A plan in one line."""
    return "; ".join(f"{entry['text']} ({entry['status']})" for entry in entries)


def notice_line(notices: Iterable[Json]) -> str:
    """What the runtime tells, in one line."""
    return "; ".join(f"{notice['severity']}: {notice['text']}" for notice in notices)


def output_tail(call: Json) -> Iterator[str]:
    """The last lines of what a tool call brought back."""
    lines = ((call.get("output") or {}).get("text") or "").rstrip().splitlines()
    if len(lines) > OUTPUT_TAIL_LINES:
        yield f"… {len(lines) - OUTPUT_TAIL_LINES} lines before"
    yield from lines[-OUTPUT_TAIL_LINES:]


def diff_lines(call: Json) -> Iterator[str]:
    """What a tool call changed, file by file, cut where it gets long."""
    for change in (call.get("output") or {}).get("changes") or ():
        yield f"{change['kind']} {change['path']}"
        lines = (change["diff"] or "").splitlines()
        yield from lines[:DIFF_LINES]
        if len(lines) > DIFF_LINES:
            yield f"… {len(lines) - DIFF_LINES} lines more"


def excerpt(text: str) -> str:
    """The first words of a text on one line."""
    words = " ".join(text.split())
    return words if len(words) <= EXCERPT_CHARACTERS else words[: EXCERPT_CHARACTERS - 1].rstrip() + "…"
