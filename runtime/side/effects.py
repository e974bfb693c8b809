"""Everything a Side can want. There is no word here for keeping anything: a Side cannot write (`architecture rule 7`).

The actor performs these in order. What the machine of a conversation wants besides (timers, replies, streamed text) are
the same values a Session has.
"""

from typing import TypeAlias

import attrs

from runtime.lifecycle.effects import (
    AppendText,
    ArmTimer,
    Count,
    DisarmTimer,
    Refuse,
    ReplaceText,
    ReplyInteraction,
    ReplyTurn,
)
from runtime.lifecycle.inputs import ReplyTo
from runtime.providers.port import ConnectionCommand
from runtime.side.rows import Side, SideFact
from store.canonical.message import Message


@attrs.frozen
class Tell:
    """Say this to whoever follows the Side."""

    fact: SideFact


@attrs.frozen
class ShowMessage:
    """Tell a message as it stands, with the text that streamed; `opens` begins its stream, an ended row ends it."""

    message: Message
    opens: bool = False


@attrs.frozen
class ReplySide:
    """Answer a command with the Side."""

    to: ReplyTo
    side: Side


@attrs.frozen
class TellProvider:
    """Hand a command to the Side's connection."""

    command: ConnectionCommand


@attrs.frozen
class GiveBack:
    """Give the connection back in a child task, which reports ConnectionReleased."""


@attrs.frozen
class End:
    """Nothing follows: the Side is forgotten but for its id."""


SideEffect: TypeAlias = (
    Tell
    | ShowMessage
    | AppendText
    | ReplaceText
    | ReplySide
    | ReplyTurn
    | ReplyInteraction
    | Refuse
    | TellProvider
    | ArmTimer
    | DisarmTimer
    | GiveBack
    | Count
    | End
)
