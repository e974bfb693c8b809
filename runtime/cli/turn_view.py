"""One turn as a person follows it: events in, pieces of text out. Pure (`contract §5`).

Owns what has been shown already: deltas, snapshots and rows overlap, and each character is shown once. Where pieces
go and how they look is the caller's business. Events of other sessions are looked at for their Interactions only.
"""

from collections.abc import Iterator, Mapping
from typing import Any, Literal, TypeAlias

import attrs

Json: TypeAlias = Mapping[str, Any]

TOOL_ENDS_TOLD = ("failed", "declined", "interrupted")


@attrs.frozen
class TextPiece:
    """More text of a message."""

    message_id: str
    kind: Literal["text", "reasoning"]
    text: str


@attrs.frozen
class LinePiece:
    """Something that is told in one line."""

    kind: Literal["tool", "plan", "notice"]
    text: str


@attrs.frozen
class Asked:
    """An Interaction waits for an answer."""

    interaction: Json

    @property
    def key(self) -> tuple[str, str, str]:
        """The whole identity of the Interaction."""
        return interaction_key(self.interaction)


@attrs.frozen
class NoLongerAsked:
    """Somebody answered, or nobody has to any more."""

    key: tuple[str, str, str]


@attrs.frozen
class ReadAgain:
    """Events are missing: the session has to be read."""


Piece: TypeAlias = TextPiece | LinePiece | Asked | NoLongerAsked | ReadAgain


def interaction_key(interaction: Json) -> tuple[str, str, str]:
    """Session, turn and request: together they name an Interaction."""
    return interaction["agentSessionId"], interaction["turnId"], interaction["requestId"]


@attrs.define
class _Shown:
    """How much of a streaming message has been shown."""

    characters: int = 0
    deltas: int = 0


@attrs.define
class TurnView:
    """What is known of one turn of one session."""

    session_id: str
    turn_id: str
    turn: Json | None = None
    """The newest row of the turn; None before any came."""
    _shown: dict[str, _Shown] = attrs.field(factory=dict, init=False)
    _tools: dict[str, str] = attrs.field(factory=dict, init=False)
    _lines: dict[str, str] = attrs.field(factory=dict, init=False)

    @property
    def ended(self) -> bool:
        """Whether the turn is settled."""
        return self.turn is not None and self.turn["phase"] == "settled"

    def receive(self, event: Json) -> Iterator[Piece]:
        """The pieces of one event, in order; unknown events have none."""
        match event.get("type"):
            case "commit":
                for change in event["changes"]:
                    yield from self.see(change["type"], change["row"])
            case "message_delta" if self._is_ours(event):
                yield from self._delta(event)
            case "message_snapshot":
                yield from self.see("message", event["message"])
            case "session_reset" | "resync":
                yield ReadAgain()
            case _:
                pass

    def see(self, kind: str, row: Json) -> Iterator[Piece]:
        """The pieces of one row, from an event or from a read."""
        if kind == "interaction":
            yield Asked(row) if row["status"] == "pending" else NoLongerAsked(interaction_key(row))
        elif kind == "turn" and self._is_ours(row):
            self.turn = row
        elif kind == "message" and self._is_ours(row) and row["role"] != "user":
            yield from self._message(row)

    def _is_ours(self, row: Json) -> bool:
        return row.get("agentSessionId") == self.session_id and row.get("turnId") == self.turn_id

    def _delta(self, delta: Json) -> Iterator[Piece]:
        if delta["field"] != "text" or delta["kind"] not in ("text", "reasoning"):
            return
        shown = self._shown.setdefault(delta["messageId"], _Shown())
        # An earlier one is in a row already shown; a later one means that some are lost, and a snapshot follows.
        if delta["deltaSeq"] == shown.deltas:
            shown.deltas += 1
            shown.characters += len(delta["text"])
            yield TextPiece(delta["messageId"], delta["kind"], delta["text"])

    def _message(self, row: Json) -> Iterator[Piece]:
        match row["kind"]:
            case "text" | "reasoning":
                yield from self._text(row)
            case "tool_call":
                yield from self._tool(row)
            case "plan":
                entries = [entry for block in row["content"] for entry in block.get("entries", ())]
                text = "; ".join(f"{entry['text']} ({entry['status']})" for entry in entries)
                yield from self._line(row["messageId"], "plan", text)
            case "notice":
                text = "; ".join(
                    f"{block['severity']}: {block['text']}" for block in row["content"] if "text" in block
                )
                yield from self._line(row["messageId"], "notice", text)
            case _:
                pass

    def _text(self, row: Json) -> Iterator[Piece]:
        shown = self._shown.setdefault(row["messageId"], _Shown())
        rest = text_of(row)[shown.characters :]
        shown.characters += len(rest)
        if row["deltaSeq"] is not None:
            shown.deltas = max(shown.deltas, row["deltaSeq"])
        if rest:
            yield TextPiece(row["messageId"], row["kind"], rest)

    def _tool(self, row: Json) -> Iterator[Piece]:
        call = row["toolCall"]
        before, now = self._tools.get(row["messageId"]), call["status"]
        self._tools[row["messageId"]] = now
        if before is None or (now != before and now in TOOL_ENDS_TOLD):
            yield LinePiece("tool", tool_line(call))

    def _line(self, message_id: str, kind: Literal["plan", "notice"], text: str) -> Iterator[Piece]:
        """Told again only when it reads otherwise than before."""
        if text and self._lines.get(message_id) != text:
            self._lines[message_id] = text
            yield LinePiece(kind, text)


def text_of(row: Json) -> str:
    """The text of a message row."""
    return "".join(block["text"] for block in row["content"] if block.get("type") == "text")


def tool_line(call: Json) -> str:
    """A tool call in one line; how it ended only when that was not well."""
    text = " ".join(f"{call['kind']}: {call['title'] or call['name']}".split())
    status = call["status"]
    if status not in TOOL_ENDS_TOLD:
        return text
    exit_code = (call.get("output") or {}).get("exitCode")
    return f"{text}: {status}" + (f" (exit code {exit_code})" if exit_code else "")
