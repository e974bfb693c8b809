"""A session in words: its turns with what was said in them, and what waits for an answer. Pure.

Owns the layout of `greenroom show` and of the rows of `greenroom sessions`; rows come in as the contract shows them.
"""

import datetime as dt
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeAlias

import attrs

from greenroom_client import text_of
from runtime.cli import questions
from runtime.cli.wording import excerpt, tool_line

Json: TypeAlias = Mapping[str, Any]

SESSION_COLUMNS = ("SESSION", "TARGET", "STATE", "STARTED", "TITLE")
SEARCH_COLUMNS = ("SESSION", "TARGET", "STARTED", "FOUND")


@attrs.frozen
class Line:
    """One line of a transcript, with how a terminal may draw it."""

    text: str
    style: str = ""


def session_row(session: Json, first_words: str = "", zone: dt.tzinfo | None = None) -> tuple[str, ...]:
    """A session as a row of `SESSION_COLUMNS`; its first words stand in for a title it has not."""
    return (
        session["agentSessionId"],
        session["agentTargetId"],
        session_state(session),
        local_time(session["createdAt"], zone),
        ("* " if session["pinned"] else "") + (session["title"] or first_words),
    )


def found_row(session: Json, zone: dt.tzinfo | None = None) -> tuple[str, ...]:
    """A session that a search found, as a row of `SEARCH_COLUMNS`."""
    started = local_time(session["createdAt"], zone)
    return session["agentSessionId"], session["agentTargetId"], started, excerpt(session["match"]["snippet"])


def session_state(session: Json) -> str:
    """What a session is doing, at a glance."""
    activity = session.get("activity")
    if activity is None:
        return "deleted"
    pending = activity["pendingInteractions"]
    if pending:
        return f"asks {pending}" if pending > 1 else "asks"
    if activity["phase"]:
        return str(activity["phase"])
    return "idle" if session["runtime"]["state"] == "absent" else str(session["runtime"]["state"])


def session_lines(session: Json, children: Sequence[Json], zone: dt.tzinfo | None = None) -> Iterator[Line]:
    """The head of a transcript."""
    title = f"  {session['title']}" if session["title"] else ""
    yield Line(f"session {session['agentSessionId']}{title}", "bold")
    yield Line(
        f"  target {session['agentTargetId']} ({session['provider']}), runtime {session['runtime']['state']}"
    )
    yield Line(f"  directory {session['cwd']}")
    if (isolation := session.get("isolation")) is not None:
        yield Line(f"  checkout of its own, branch {isolation['branch']} from {isolation['baseCommit'][:12]}")
    project = str(session.get("railSectionKey") or "")
    if project.startswith("project:"):
        yield Line(f"  project {project.removeprefix('project:')}")
    yield Line(f"  created {local_time(session['createdAt'], zone)}")
    if (parent := session.get("parent")) is not None:
        yield Line(f"  sub-agent of {parent['parentAgentSessionId']}")
    for child in children:
        works = ", at work" if child.get("activeTurnId") else ""
        yield Line(f"  child {child['agentSessionId']}{works}  {child['title'] or ''}".rstrip())


def transcript_lines(
    turns: Sequence[Json], messages: Sequence[Json], zone: dt.tzinfo | None = None
) -> Iterator[Line]:
    """Every turn with its messages, oldest first; messages of no turn stand at their place in the sequence."""
    by_turn: dict[str | None, list[Json]] = {}
    for message in sorted(messages, key=lambda message: message["sequence"]):
        by_turn.setdefault(message["turnId"], []).append(message)
    known = sorted(turns, key=lambda turn: turn["sequence"])
    listed = {turn["turnId"] for turn in known}
    for turn_id, rows in by_turn.items():
        if turn_id not in listed:
            yield from message_lines(rows)
    for turn in known:
        yield Line("")
        yield Line(turn_line(turn, zone), "bold")
        yield from message_lines(by_turn.get(turn["turnId"], ()))


def turn_line(turn: Json, zone: dt.tzinfo | None = None) -> str:
    """What is known of a turn, in one line."""
    state = turn["outcome"] or turn["phase"]
    text = f"turn {turn['turnId']}  {state}, {local_time(turn['submittedAt'], zone)}"
    if turn["settledAt"] is not None:
        text += f", {(turn['settledAt'] - turn['submittedAt']) / 1000:.1f} s"
    error = turn["error"]
    return f"{text}: {error['message']} ({error['code']})" if error else text


def pending_lines(interactions: Iterable[Json]) -> Iterator[Line]:
    """What waits for an answer, with what is offered."""
    for interaction in interactions:
        if interaction["status"] == "pending":
            yield Line("")
            yield Line(
                f"waiting: request {interaction['requestId']} of turn {interaction['turnId']}", "yellow"
            )
            yield from (Line(f"  {line}") for line in questions.asked_lines(interaction))


def local_time(milliseconds: int, zone: dt.tzinfo | None = None) -> str:
    """A time of the contract as people read it; `zone` None is that of this machine."""
    moment = dt.datetime.fromtimestamp(milliseconds / 1000, dt.UTC).astimezone(zone)
    return moment.strftime("%Y-%m-%d %H:%M")


def message_lines(messages: Iterable[Any]) -> Iterator[Line]:
    """What was said and done in messages, in their order."""
    for message in messages:
        match message["kind"]:
            case "text" if message["role"] == "user":
                yield from _indented("> ", message["displayPrompt"] or text_of(message), "green")
            case "text":
                yield from _indented("  ", text_of(message))
            case "reasoning":
                yield from _indented("  ~ ", text_of(message), "dim")
            case "tool_call":
                yield Line(f"  • {tool_line(message['toolCall'])}", "cyan")
            case _:
                yield from _blocks(message["content"])
        if message["status"] in ("failed", "interrupted") and message["kind"] != "tool_call":
            yield Line(f"  ({message['status']})", "yellow")


def _blocks(content: Iterable[Json]) -> Iterator[Line]:
    for block in content:
        match block["type"]:
            case "plan":
                yield from (Line(f"  - {entry['text']} ({entry['status']})") for entry in block["entries"])
            case "notice":
                yield Line(f"  ! {block['severity']}: {block['text']}", "yellow")
            case "text":
                yield from _indented("  ", block["text"])
            case other:
                yield Line(f"  [{other}]")


def _indented(mark: str, text: str, style: str = "") -> Iterator[Line]:
    for number, line in enumerate(text.splitlines()):
        yield Line((mark if number == 0 else " " * len(mark)) + line, style)
