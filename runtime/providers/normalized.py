"""What any provider can tell a scope, in the product's own words. No provider's wire shape passes this module.

An event belongs to one scope (a Session or a Side) and usually to one turn of ours; `item_id` and `call_id` are
unique inside their turn. Events of one scope arrive in the order the provider produced them, the end last.
"""

from typing import Literal, TypeAlias

import attrs

from store.canonical.common import Json, Settings, TurnError, Usage
from store.canonical.identifiers import CallId, RequestId, SessionId, TurnId
from store.canonical.interaction import InteractionInput, InteractionKind, InteractionOption, PlanInput
from store.canonical.message import FileChange, NoticeSeverity, PlanEntry, ToolKind, ToolStatus
from store.canonical.session import SessionCapabilities
from store.canonical.turn import TurnOutcome


@attrs.frozen
class ThreadOpened:
    """The provider holds this scope's conversation and takes prompts; `resumed` means an old one was loaded."""

    provider_session_id: str
    resumed: bool
    capabilities: SessionCapabilities | None = None
    settings: Settings | None = None


@attrs.frozen
class SideForked:
    """The provider holds an ephemeral fork for this scope; its boundary is in place and it takes prompts.

    Everything in it is the provider's own word, for whoever opens the Side to compare once more.
    """

    provider_session_id: str
    source_session_id: str
    """Which conversation the fork came from."""
    ephemeral: bool
    shown_turns: int
    """Inherited turns that the fork shows; its model remembers them, nobody else is to see them."""
    settings: Settings
    turns_max: int | None = None
    """How many turns it takes in all, where that is bounded by its kind."""


@attrs.frozen
class ThreadOpenFailed:
    """The conversation could not be started or resumed. `not_resumable` says that the old one is gone (FC-07)."""

    error: TurnError
    not_resumable: bool = False


@attrs.frozen
class TurnAccepted:
    """The provider has the prompt. For a wire without acknowledgement: its frame was written whole."""

    turn_id: TurnId
    provider_turn_id: str | None = None


@attrs.frozen
class TurnStartedByProvider:
    """The agent began a turn that nobody sent a prompt for: it follows a goal, or reviews.

    `turn_id` is new and chosen by the adapter. The turn runs already; what follows of it, its end included, is told as
    of any other turn, and it can be cancelled and guided like one. A sub-agent's turns all begin so; `prompt` is what
    it was told to do, where the wire shows that.
    """

    turn_id: TurnId
    provider_turn_id: str
    prompt: str | None = None


@attrs.frozen
class TurnRejected:
    """The provider answered that it does not take this prompt; nothing of it ran."""

    turn_id: TurnId
    error: TurnError


@attrs.frozen
class TextChunk:
    """More text of one item. The first chunk of an `item_id` opens its message; chunks are never empty."""

    turn_id: TurnId
    item_id: str
    kind: Literal["text", "reasoning", "plan"]
    text: str


@attrs.frozen
class ItemEnded:
    """No more of this item will come.

    `text` replaces all of it, when the chunks did not tell it as it finally is. `cut_short` says that the agent broke
    it off: what there is of it stays, and is not the whole.
    """

    turn_id: TurnId
    item_id: str
    text: str | None = None
    cut_short: bool = False


@attrs.frozen
class ToolCallReported:
    """First word of a tool call, or a change of it: a null field says nothing about that field.

    `output_text` replaces the whole output; appendable output travels as `ToolOutputChunk`. Both may come after the
    turn has ended, for a command that went on: they belong to that turn and do not open it again.
    """

    turn_id: TurnId
    call_id: CallId
    name: str | None = None
    title: str | None = None
    kind: ToolKind | None = None
    status: ToolStatus | None = None
    input: Json = None
    output_text: str | None = None
    exit_code: int | None = None
    changes: tuple[FileChange, ...] | None = None
    child_id: SessionId | None = None
    """The sub-agent it began; told after its ChildSpawned."""


@attrs.frozen
class ToolOutputChunk:
    """More output of a tool call, to be appended."""

    turn_id: TurnId
    call_id: CallId
    text: str


@attrs.frozen
class PlanReported:
    """The whole plan as it stands now."""

    turn_id: TurnId
    item_id: str
    entries: tuple[PlanEntry, ...]


@attrs.frozen
class NoticeReported:
    """Something the adapter found worth telling the user, typed by a code of ours."""

    turn_id: TurnId
    code: str
    severity: NoticeSeverity
    text: str


@attrs.frozen
class InteractionRequested:
    """The agent waits for a person. Published only complete and exactly answerable (RT-014, RT-016)."""

    turn_id: TurnId
    request_id: RequestId
    kind: InteractionKind
    input: InteractionInput
    options: tuple[InteractionOption, ...] = ()


@attrs.frozen
class InteractionWithdrawn:
    """The agent no longer waits for this answer."""

    turn_id: TurnId
    request_id: RequestId


@attrs.frozen
class AnswerDelivered:
    """The answer's frame was written whole, or the provider confirmed it."""

    turn_id: TurnId
    request_id: RequestId


@attrs.frozen
class AnswerFailed:
    """The answer did not reach the agent; an explicit repeat may be tried (RT-023)."""

    turn_id: TurnId
    request_id: RequestId
    error: TurnError


@attrs.frozen
class CancelRefused:
    """The provider said no to a cancel; the turn is still running."""

    turn_id: TurnId
    error: TurnError


@attrs.frozen
class GuideAccepted:
    """The agent has this guidance, in this turn. `continued` says that a new response began with it, after the one
    before had ended (PR-013)."""

    turn_id: TurnId
    guide_id: str
    continued: bool = False


@attrs.frozen
class GuideRefused:
    """The agent does not have this guidance, and nothing of it took effect."""

    turn_id: TurnId
    guide_id: str
    error: TurnError


@attrs.frozen
class PromptKept:
    """Something that was said to the agent, by the name it was given: a turn's id, or the `guide_id` of guidance."""

    turn_id: TurnId
    client_id: str
    text: str


KeptItem: TypeAlias = PromptKept | TextChunk | ToolCallReported
"""One item of a record: text stands whole in its chunk, a call has ended."""


@attrs.frozen
class TurnReconciled:
    """What the provider keeps of a turn: it runs, it has ended, there never was one; `unknown` if it cannot say.

    For a turn that is open its TurnEnded has been told right before `ended`. `outcome` is what the provider says now;
    a turn that settled otherwise keeps the outcome it has (`contract §3`). `items` is all that is kept of a turn that
    was not followed to its end on this connection, in order; of others they have been told already.
    """

    turn_id: TurnId
    state: Literal["running", "ended", "absent", "unknown"]
    provider_turn_id: str | None = None
    outcome: TurnOutcome | None = None
    items: tuple[KeptItem, ...] = ()


@attrs.frozen
class PlanProposed:
    """The turn is about to end with this plan, which nobody in it waits for an answer to; told before its TurnEnded.

    Only by a family with a setting that says how such a plan is carried out (`PlanEnd`). The last one of a turn counts.
    """

    turn_id: TurnId
    plan: PlanInput


@attrs.frozen
class TurnEnded:
    """The provider's own word that this turn is over. `outcome` follows the contract's table of stop reasons."""

    turn_id: TurnId
    outcome: TurnOutcome
    stop_reason: str | None = None
    error: TurnError | None = None
    usage: Usage | None = None


@attrs.frozen
class BackgroundReported:
    """Commands go on though their turns are over, by the agent's word: those of these turns. Told when that changes."""

    turn_ids: frozenset[TurnId]


@attrs.frozen
class ChildSpawned:
    """The agent began a sub-agent, shown by the wire as a work of its own (RT-132, RT-133).

    It is an event of the scope that began it, within its turn `turn_id`. `child_id` is chosen by the adapter, always the
    same for the same sub-agent; what the sub-agent does follows as `OfChild`. `call_id` is the tool call that began it,
    where the wire names one. Never told without that evidence.
    """

    turn_id: TurnId
    child_id: SessionId
    provider_session_id: str
    call_id: CallId | None = None
    title: str | None = None


@attrs.frozen
class OfChild:
    """An event of a sub-agent, or of one of its own. It comes to the scope of the tree's root, which owns the connection."""

    child_id: SessionId
    event: "ProviderEvent"


@attrs.frozen
class UsageReported:
    """Cumulative figures of the conversation."""

    usage: Usage
    turn_id: TurnId | None = None


@attrs.frozen
class SettingsReported:
    """What the conversation holds now, by the keys used outside: all settings that the provider tells of."""

    settings: Settings


@attrs.frozen
class SettingsApplied:
    """The change of this id took effect; `settings` is what holds now, as in SettingsReported."""

    update_id: str
    settings: Settings


@attrs.frozen
class SettingsRefused:
    """The change of this id has no effect: the provider does not take `key`, or could not be asked.

    `settings` is what holds now; null when it did not change.
    """

    update_id: str
    error: TurnError
    key: str | None = None
    settings: Settings | None = None


@attrs.frozen
class TitleReported:
    """The provider's idea of a title; a user's title is never overwritten by it (RT-047)."""

    title: str


@attrs.frozen
class ConnectionLost:
    """The process or its pipe is gone: every turn and ask of this scope on it ends. Always the last event."""

    error: TurnError


TurnEvent: TypeAlias = (
    TurnAccepted
    | TurnRejected
    | TextChunk
    | ItemEnded
    | ToolCallReported
    | ToolOutputChunk
    | PlanReported
    | PlanProposed
    | NoticeReported
    | InteractionRequested
    | InteractionWithdrawn
    | AnswerDelivered
    | AnswerFailed
    | CancelRefused
    | TurnEnded
)
"""Events of exactly one turn of ours, while it is open."""

TurnAnswer: TypeAlias = GuideAccepted | GuideRefused | TurnReconciled
"""What was asked about one turn of ours is answered; it may have ended meanwhile, or long ago."""

ProviderEvent: TypeAlias = (
    TurnEvent
    | TurnAnswer
    | TurnStartedByProvider
    | BackgroundReported
    | ChildSpawned
    | OfChild
    | ThreadOpened
    | SideForked
    | ThreadOpenFailed
    | UsageReported
    | TitleReported
    | SettingsReported
    | SettingsApplied
    | SettingsRefused
    | ConnectionLost
)


CHUNKS = frozenset((TextChunk, ToolOutputChunk))
"""What text streams as: nearly all that a provider says."""


def merge_events(earlier: ProviderEvent, later: ProviderEvent) -> ProviderEvent | None:
    """Join two adjacent chunks of the same message; None when they are not that (`architecture rule 8`)."""
    if type(earlier) is TextChunk and type(later) is TextChunk:
        if earlier.item_id == later.item_id and earlier.turn_id == later.turn_id:
            return attrs.evolve(earlier, text=earlier.text + later.text)
    elif (
        type(earlier) is ToolOutputChunk
        and type(later) is ToolOutputChunk
        and earlier.call_id == later.call_id
        and earlier.turn_id == later.turn_id
    ):
        return attrs.evolve(earlier, text=earlier.text + later.text)
    elif type(earlier) is OfChild and type(later) is OfChild and earlier.child_id == later.child_id:
        merged = merge_events(earlier.event, later.event)
        return None if merged is None else OfChild(earlier.child_id, merged)
    return None
