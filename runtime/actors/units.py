"""From effects to units: which effects commit together, and what is done after each commit.

Pure. A unit ends where something that must come after its rows is followed by further rows: text of a message
that was just opened, a command to the provider, or an explicit `NewUnit` (`contract §5`, architecture rule 2). A claim
that is kept before its command is told has a unit of its own.
"""

from collections.abc import Iterable

import attrs

from runtime.lifecycle import effects as fx
from store.canonical.change import Row, SessionState
from store.canonical.claim import SubmitClaim
from store.canonical.message import Message
from store.canonical.turn import Turn

_ROW_EFFECTS = (
    fx.PersistSession,
    fx.CreateChild,
    fx.PersistTurn,
    fx.PersistInteraction,
    fx.PersistOperation,
    fx.OpenMessage,
    fx.PersistMessage,
    fx.AddClaim,
    fx.RemoveClaim,
)
_REPLY_EFFECTS = (fx.ReplyTurn, fx.ReplySession, fx.ReplyInteraction, fx.Refuse)
_ORDERED_AFTER_ROWS = (fx.AppendText, fx.ReplaceText, fx.TellConnection, fx.TellSession)


@attrs.define
class Segment:
    """Rows that commit together, then replies, then the rest, in the order the machine wanted it."""

    rows: dict[object, Row] = attrs.field(factory=dict)
    """The newest row of each entity."""
    opened: list[fx.OpenMessage] = attrs.field(factory=list)
    claims: list[SubmitClaim] = attrs.field(factory=list)
    claims_removed: list[SubmitClaim] = attrs.field(factory=list)
    tentative: SubmitClaim | None = None
    """This claim is all of the unit, and where it is not kept nothing of the segment is done."""
    replies: list[fx.Effect] = attrs.field(factory=list)
    after: list[fx.Effect] = attrs.field(factory=list)
    sealed: bool = False
    """Something in `after` must not come later than rows that follow."""

    @property
    def writes(self) -> bool:
        """Whether there is anything to commit."""
        return bool(self.rows or self.claims or self.claims_removed)


def segments(effects: Iterable[fx.Effect]) -> list[Segment]:
    """Group effects in order; see the module's rule."""
    current = Segment()
    result = [current]
    for effect in effects:
        if isinstance(effect, fx.NewUnit):
            if current.writes or current.after:
                current.sealed = True
        elif isinstance(effect, fx.TellOnceClaimed):
            current = Segment()
            result += [_claimed_first(effect), current]
        elif isinstance(effect, _ROW_EFFECTS):
            if current.sealed:
                current = Segment()
                result.append(current)
            _add_row(current, effect)
        elif isinstance(effect, _REPLY_EFFECTS):
            current.replies.append(effect)
        else:
            current.after.append(effect)
            if isinstance(effect, _ORDERED_AFTER_ROWS):
                current.sealed = True
    return result


def numbers_after(before: SessionState, rows: Iterable[Row], updated_at: int) -> SessionState:
    """The session's counters once these rows are written.

    The machine may have given further numbers already: published before their rows, they would make a client
    that reads after a version miss those rows (ST-009).
    """
    version, counters = before.message_version, before.counters
    for row in rows:
        if isinstance(row, Message):
            version = max(version, row.version)
            sequence = max(counters.message_sequence, row.sequence)
            counters = attrs.evolve(counters, message_sequence=sequence)
        elif isinstance(row, Turn):
            counters = attrs.evolve(counters, turn_sequence=max(counters.turn_sequence, row.sequence))
    return SessionState(version, max(before.updated_at, updated_at), counters)


def _claimed_first(effect: fx.TellOnceClaimed) -> Segment:
    told = fx.TellConnection(effect.generation, effect.command)
    timer = fx.ArmTimer(effect.timer, effect.seconds)
    return Segment(claims=[effect.claim], tentative=effect.claim, after=[told, timer], sealed=True)


def _add_row(segment: Segment, effect: fx.Effect) -> None:
    match effect:
        case fx.PersistSession(session):
            segment.rows["session"] = session
        case fx.CreateChild(session):
            segment.rows["session", session.agent_session_id] = session
        case fx.PersistTurn(turn):
            segment.rows["turn", turn.turn_id] = turn
        case fx.PersistInteraction(interaction):
            segment.rows["interaction", interaction.turn_id, interaction.request_id] = interaction
        case fx.PersistOperation(operation):
            segment.rows["operation", operation.operation_id] = operation
        case fx.OpenMessage(message):
            segment.opened.append(effect)
            segment.rows["message", message.message_id] = message
        case fx.PersistMessage(message):
            segment.rows["message", message.message_id] = message
        case fx.AddClaim(claim):
            segment.claims.append(claim)
        case fx.RemoveClaim(claim):
            segment.claims_removed.append(claim)
        case _:
            raise AssertionError(f"{type(effect).__name__} writes no row")
