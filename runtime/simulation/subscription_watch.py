"""A client's view of one subscription, and the check of every event that builds it (`contract §5`).

Kept by simulated clients and usable by any client: it takes the events in the order they arrive and says what they
break. What the commit log holds is compared later, by `checkers.missed_commits`.
"""

from collections.abc import Callable
from typing import Any

import attrs

from runtime.simulation.history import Json, SessionName

MessageName = tuple[str, str, str]


@attrs.define
class _Text:
    """What is held of one streaming message."""

    turn_id: str | None
    field: str
    text: str
    next_delta: int
    whole: bool = True
    """Every delta was seen, so the row that ends it must say the same."""
    heard: list[tuple[float, int]] = attrs.field(factory=list)
    """When how many characters of it were known."""


@attrs.define(eq=False)
class SubscriptionWatch:
    """One subscription from its reply to the end of its connection."""

    label: str
    workspace_id: str
    """Or "*"."""
    sessions: frozenset[str] | None
    """The roots that are followed; None is all."""
    base: int
    """Commits up to this one are not expected."""
    head: int
    """Commits up to this one are replayed, and the text that was streamed for them is not."""
    violated: Callable[[str, str], None]
    now: Callable[[], float]
    """Seconds, for how long ago something was heard."""
    told_by: object = None
    """The daemon at the other end: what it sent may arrive when it is long gone."""
    seen: dict[int, str] = attrs.field(factory=dict, init=False)
    """Bodies of commits by number, as they came."""
    last: int = attrs.field(init=False)
    """Everything up to this number has come, or did not concern us."""
    skipped: bool = attrs.field(default=False, init=False)
    """A resync came: what lies before it was not sent."""
    rows: dict[tuple[str, ...], Json] = attrs.field(factory=dict, init=False)
    """The newest row of each kind and name."""
    doubts: dict[MessageName, str] = attrs.field(factory=dict, init=False)
    """Messages whose row said something else than their deltas. Text that was lost may be told of later, so this is
    judged when everything has been told."""
    _learned_at: dict[tuple[str, ...], int] = attrs.field(factory=dict, init=False)
    _texts: dict[MessageName, _Text] = attrs.field(factory=dict, init=False)
    _unsure: set[SessionName] = attrs.field(factory=set, init=False)
    """Sessions of which some rows were not shown."""
    _gaps: set[MessageName] = attrs.field(factory=set, init=False)
    """Messages of which text was lost: nothing may be added to them before a snapshot."""

    def __attrs_post_init__(self) -> None:
        self.last = self.base

    def follows(self, workspace_id: str, session_id: str) -> bool:
        """Whether commits of this session are to come."""
        return self.workspace_id in ("*", workspace_id) and (
            self.sessions is None or session_id in self.sessions
        )

    def of_session(self, kind: str, session: SessionName) -> list[Json]:
        """The rows of a kind that belong to a session."""
        return [row for name, row in self.rows.items() if name[:3] == (kind, *session)]

    def learn(self, name: tuple[str, ...], row: Json, commit_seq: int) -> None:
        """A row as of a commit, from an event or a read; one that is older than what is held is dropped."""
        if commit_seq >= self._learned_at.get(name, 0):
            self.rows[name], self._learned_at[name] = row, commit_seq

    def heard_until(self, moment: float) -> dict[MessageName, str]:
        """The text of messages that still streamed at the end, as far as it was known at that moment."""
        return {
            name: text.text[: max((length for at, length in text.heard if at <= moment), default=0)]
            for name, text in self._texts.items()
            if text.field == "text"
        }

    def check_read(self, row: Json) -> None:
        """A read whose reply has just come: it has every delta that came before it (`contract §5`)."""
        name = row["workspaceId"], row["agentSessionId"], row["messageId"]
        text = self._texts.get(name)
        if text is not None and row["status"] == "streaming" and deltas_in(row) < text.next_delta:
            self.violated(
                "a read contains every delta sent before it",
                f"{self.label}: {name} was read with {row['deltaSeq']}, known are {text.next_delta}",
            )

    def take(self, event: Json, body: str) -> None:
        """One event; `body` is its text without what differs between subscribers."""
        match event["type"]:
            case "commit":
                self._advance(event["commitSeq"])
                self.seen[event["commitSeq"]] = body
                for change in event["changes"]:
                    self._change(change["type"], change["row"], event["commitSeq"])
                self._no_text_in_settled_turns(event)
            case "session_reset":
                self._advance(event["commitSeq"])
                self.seen[event["commitSeq"]] = body
                self._reset((event["workspaceId"], event["agentSessionId"]))
            case "checkpoint":
                self._advance(event["commitSeq"])
            case "resync":
                self._advance(event["commitSeq"])
                self.skipped = True
                self._texts.clear()
            case "message_delta":
                self._delta(event)
            case "message_snapshot":
                self._snapshot(event["message"])
            case "stream_gap":
                # It may come before the row: a consumer that is behind is told of its loss first.
                name = event["workspaceId"], event["agentSessionId"], event["messageId"]
                self._gaps.add(name)
                self.doubts.pop(name, None)
            case _:
                pass  # clients ignore event types they do not know

    # --- commits ----------------------------------------------------------------------------------------------

    def _advance(self, commit_seq: int) -> None:
        if commit_seq <= self.last:
            self.violated("commitSeq strictly grows", f"{self.label}: {commit_seq} after {self.last}")
        self.last = commit_seq

    def _change(self, kind: str, row: Json, commit_seq: int) -> None:
        session = row["workspaceId"], row["agentSessionId"]
        match kind:
            case "session" | "session_removed" | "session_restored":
                self.learn(("session", *session), row, commit_seq)
            case "turn":
                self._turn(("turn", *session, row["turnId"]), row, commit_seq)
            case "interaction":
                self.learn(("interaction", *session, row["turnId"], row["requestId"]), row, commit_seq)
            case "message":
                self.learn(("message", *session, row["messageId"]), row, commit_seq)
                self._message((*session, row["messageId"]), row, live=commit_seq > self.head)
            case _:
                pass

    def _turn(self, name: tuple[str, ...], row: Json, commit_seq: int) -> None:
        before = self.rows.get(name)
        if before is not None and before["phase"] == "settled":
            stands = ("phase", "outcome", "settledAt")
            if any(before[key] != row[key] for key in stands):
                self.violated(
                    "a settled outcome stands", f"{self.label}: turn {row['turnId']} changed after its end"
                )
        self.learn(name, row, commit_seq)

    def _no_text_in_settled_turns(self, event: Json) -> None:
        for change in event["changes"]:
            row = change["row"]
            if change["type"] == "turn" and row["phase"] == "settled":
                open_texts = [
                    name
                    for name, text in self._texts.items()
                    if text.turn_id == row["turnId"]
                    and name[:2] == (row["workspaceId"], row["agentSessionId"])
                ]
                if open_texts:
                    self.violated(
                        "ended rows precede the settled turn",
                        f"{self.label}: {open_texts} of turn {row['turnId']}",
                    )

    def _reset(self, session: SessionName) -> None:
        """Rows were not shown: which messages there are is not known from here any more."""
        self._unsure.add(session)
        for name in [name for name in self._texts if name[:2] == session]:
            del self._texts[name]

    # --- streamed text ----------------------------------------------------------------------------------------

    def _message(self, name: MessageName, row: Json, *, live: bool) -> None:
        text = self._texts.get(name)
        if row["status"] == "streaming":
            held, field = text_of(row)
            if text is not None and deltas_in(row) < text.next_delta:
                self.violated(
                    "a row contains the deltas before it", f"{self.label}: {name} {row['deltaSeq']}"
                )
            whole = text.whole if text is not None else live and deltas_in(row) == 0
            self._texts[name] = _Text(row["turnId"], field, held, deltas_in(row), whole=whole)
        elif text is not None:
            del self._texts[name]
            held, _ = text_of(row)
            # Output may also be reported as a whole, by the row that ends the call.
            whole = text.whole and name not in self._gaps
            if whole and text.field == "text" and held != text.text:
                self.doubts[name] = f"{self.label}: {name} is {held!r}, its deltas gave {text.text!r}"

    def _snapshot(self, row: Json) -> None:
        name = row["workspaceId"], row["agentSessionId"], row["messageId"]
        held, field = text_of(row)
        before = self._texts.get(name)
        if before is not None and deltas_in(row) < before.next_delta:
            self.violated(
                "a snapshot is not older than what was sent", f"{self.label}: {name} {row['deltaSeq']}"
            )
        # Whoever applies the snapshot is whole again.
        self._gaps.discard(name)
        self._texts[name] = _Text(row["turnId"], field, held, deltas_in(row))

    def _delta(self, event: Json) -> None:
        name = event["workspaceId"], event["agentSessionId"], event["messageId"]
        text = self._texts.get(name)
        if text is None:
            if name[:2] not in self._unsure:
                broken = "a message's row precedes its first delta"
                self.violated(broken, f"{self.label}: {name} {event['deltaSeq']}")
            return
        lost = name in self._gaps
        if lost or event["deltaSeq"] != text.next_delta or not event["text"]:
            expected = "a snapshot" if lost else text.next_delta
            self.violated(
                "deltas have no holes", f"{self.label}: {name} got {event['deltaSeq']}, not {expected}"
            )
        if event["field"] == text.field:
            text.text += event["text"]
        text.next_delta = event["deltaSeq"] + 1
        text.heard.append((self.now(), len(text.text)))


def text_of(row: Json) -> tuple[str, str]:
    """The appendable text of a message row and the name of its field."""
    tool_call: dict[str, Any] | None = row["toolCall"]
    if tool_call is not None:
        return str(tool_call["output"]["text"]), "output"
    return "".join(block.get("text", "") for block in row["content"] if block["type"] == "text"), "text"


def deltas_in(row: Json) -> int:
    """How many deltas a streaming row contains; a plan, which is only ever written anew, has none."""
    return int(row["deltaSeq"] or 0)
