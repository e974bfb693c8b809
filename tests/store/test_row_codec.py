"""Rows survive the way to SQL and back, and nothing outside the vocabulary does."""

from typing import Any

import attrs
import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from store.canonical.claim import SubmitClaim
from store.canonical.common import TurnError, Usage
from store.canonical.interaction import (
    ApprovalInput,
    Interaction,
    InteractionOption,
    OptionAnswer,
    PlanInput,
    Question,
    QuestionAnswer,
    QuestionInput,
    QuestionOption,
    RedactedAnswer,
)
from store.canonical.message import (
    FileChange,
    ImageBlock,
    Message,
    NoticeBlock,
    PlanBlock,
    PlanEntry,
    ResourceLinkBlock,
    TextBlock,
    ToolCall,
    ToolOutput,
)
from store.canonical.session import (
    LifecycleCapabilities,
    Session,
    SessionCapabilities,
    SessionLineage,
    SessionParent,
)
from store.canonical.turn import Turn, TurnTimings
from store.errors import RowError
from store.rows import CLAIM, INTERACTION, MESSAGE, PIECE, SESSION, TURN, RowCodec
from tests.store.builders import interaction_row, message_row, piece, session_row, turn_row

texts = some.text(some.characters(exclude_categories=("Cs",)), max_size=12)
numbers = some.integers(0, 2**53 - 1)
words = some.sampled_from(("read", "edit", "execute", "other"))
json_values = some.recursive(
    some.none() | some.booleans() | numbers | texts,
    lambda inner: some.lists(inner, max_size=3) | some.dictionaries(texts, inner, max_size=3),
    max_leaves=6,
)


def maybe(values: some.SearchStrategy[Any]) -> some.SearchStrategy[Any]:
    return some.none() | values


changes = some.builds(FileChange, texts, some.sampled_from(("add", "update", "delete", "move")), maybe(texts))
tool_calls = some.builds(
    ToolCall,
    call_id=texts,
    name=texts,
    title=texts,
    kind=words,
    status=some.sampled_from(("pending", "running", "waiting", "completed", "declined")),
    input=json_values,
    output=some.builds(ToolOutput, texts, maybe(numbers), maybe(some.lists(changes, max_size=2).map(tuple))),
    child_agent_session_id=maybe(texts),
)
entries = some.builds(
    PlanEntry, texts, some.sampled_from(("pending", "in_progress", "completed")), maybe(texts)
)
blocks = some.one_of(
    some.builds(TextBlock, text=texts),
    some.builds(ImageBlock, media_type=texts, bytes=numbers, attachment_id=texts),
    some.builds(ResourceLinkBlock, uri=texts, name=texts),
    some.builds(PlanBlock, entries=some.lists(entries, max_size=2).map(tuple)),
    some.builds(
        NoticeBlock, code=texts, severity=some.sampled_from(("info", "warning", "error")), text=texts
    ),
)
usages = some.builds(Usage, *[maybe(numbers)] * 7, cost_usd=maybe(some.floats(0, 1e6, allow_nan=False)))
questions = some.builds(
    Question,
    id=texts,
    question=texts,
    multi_select=some.booleans(),
    free_text=some.booleans(),
    secret=some.booleans(),
    header=maybe(texts),
    options=maybe(some.lists(some.builds(QuestionOption, texts, maybe(texts)), max_size=2).map(tuple)),
)
inputs = some.one_of(
    some.builds(
        ApprovalInput,
        call_id=texts,
        title=texts,
        kind=words,
        command=maybe(texts),
        changes=maybe(some.lists(changes, max_size=2).map(tuple)),
        reason=maybe(texts),
    ),
    some.builds(QuestionInput, some.lists(questions, max_size=2).map(tuple)),
    some.builds(PlanInput, maybe(texts), maybe(some.lists(entries, max_size=2).map(tuple))),
)
answers = some.one_of(
    some.builds(OptionAnswer, texts, maybe(texts)),
    some.builds(
        QuestionAnswer,
        some.dictionaries(texts, texts | some.lists(texts, max_size=2).map(tuple), max_size=2),
    ),
    some.just(RedactedAnswer()),
)
sessions = some.builds(
    Session,
    workspace_id=texts,
    agent_session_id=texts,
    agent_target_id=texts,
    provider=texts,
    cwd=texts,
    created_at=numbers,
    updated_at=numbers,
    title=maybe(texts),
    title_source=some.sampled_from(("none", "provider", "user")),
    settings=some.dictionaries(texts, texts | some.booleans(), max_size=3),
    settings_source=some.dictionaries(
        texts, some.sampled_from(("explicit", "default", "provider")), max_size=3
    ),
    pinned=some.booleans(),
    active_turn_id=maybe(texts),
    capabilities=maybe(some.builds(SessionCapabilities, some.booleans(), some.booleans())),
    lifecycle_capabilities=some.builds(LifecycleCapabilities, some.booleans()),
    lineage=maybe(some.builds(SessionLineage, texts, texts)),
    parent=maybe(some.builds(SessionParent, texts, texts, texts, texts, maybe(texts))),
    resumability=some.sampled_from(("unknown", "resumable", "not_resumable")),
    usage=maybe(usages),
    history_revision=numbers,
    message_version=numbers,
    deleted_at=maybe(numbers),
)
turns = some.builds(
    Turn,
    workspace_id=texts,
    agent_session_id=texts,
    turn_id=texts,
    sequence=numbers,
    submitted_at=numbers,
    phase=some.sampled_from(("submitted", "running", "waiting", "settling", "settled")),
    outcome=maybe(some.sampled_from(("completed", "failed", "canceled", "interrupted"))),
    delivery=some.sampled_from(("not_dispatched", "dispatching", "accepted", "rejected", "unknown")),
    origin=some.sampled_from(("user_prompt", "provider", "goal", "edit_retry")),
    stop_reason=maybe(texts),
    forkable=some.booleans(),
    usage=maybe(usages),
    timings=some.builds(TurnTimings, maybe(numbers), maybe(numbers)),
    error=maybe(
        some.builds(TurnError, texts, texts, some.sampled_from(("provider", "runtime")), some.booleans())
    ),
    settled_at=maybe(numbers),
)
messages = some.builds(
    Message,
    workspace_id=texts,
    agent_session_id=texts,
    message_id=texts,
    sequence=numbers,
    version=numbers,
    role=some.sampled_from(("user", "assistant", "system")),
    kind=some.sampled_from(("text", "reasoning", "plan", "tool_call", "notice", "goal_control")),
    created_at=numbers,
    turn_id=maybe(texts),
    status=some.sampled_from(("streaming", "completed", "failed", "interrupted")),
    content=some.lists(blocks, max_size=3).map(tuple),
    tool_call=maybe(tool_calls),
    delta_seq=maybe(numbers),
    truncated=some.booleans(),
    display_prompt=maybe(texts),
)
interactions = some.builds(
    Interaction,
    workspace_id=texts,
    agent_session_id=texts,
    turn_id=texts,
    request_id=texts,
    kind=some.sampled_from(("approval", "question", "plan")),
    input=inputs,
    created_at=numbers,
    options=some.lists(
        some.builds(InteractionOption, texts, texts, some.sampled_from(("allow_once", "stop"))), max_size=2
    ).map(tuple),
    status=some.sampled_from(("pending", "answered", "superseded")),
    answer=maybe(answers),
    answer_delivery=maybe(some.sampled_from(("dispatching", "delivered", "failed", "unknown"))),
    resolved_at=maybe(numbers),
)
claims = some.builds(
    SubmitClaim,
    scope=some.sampled_from(("workspace", "session")),
    workspace_id=texts,
    agent_session_id=texts,
    client_submit_id=texts,
    method=some.sampled_from(("session/create", "session/send", "turn/guide", "goal/control")),
    digest=texts,
    created_at=numbers,
    turn_id=maybe(texts),
    content=json_values,
)


def round_trip(codec: RowCodec[Any], row: Any) -> Any:
    """Through the columns of the row's table, with its identity as a join brings it."""
    identity = [getattr(row, name) for name in codec.identity]
    return codec.from_sql((*identity, *codec.to_sql(row)))


@settings(max_examples=60)
@given(
    some.one_of(
        sessions.map(lambda row: (SESSION, row)),
        turns.map(lambda row: (TURN, row)),
        messages.map(lambda row: (MESSAGE, row)),
        interactions.map(lambda row: (INTERACTION, row)),
        claims.map(lambda row: (CLAIM, row)),
    )
)
def test_every_row_comes_back_as_it_went(codec_and_row):
    codec, row = codec_and_row
    assert round_trip(codec, row) == row


def test_a_piece_comes_back_as_it_went():
    row = piece("s", "m", 3, " leading and trailing \n")
    assert round_trip(PIECE, row) == row


@pytest.mark.rule("ST-019")
def test_white_space_of_a_text_is_kept():
    row = message_row("s", "m", 1, 1, "  \n indented\t\n ")
    assert round_trip(MESSAGE, row).content[0].text == "  \n indented\t\n "


@pytest.mark.rule("ST-021")
@pytest.mark.parametrize("reported", [None, SessionCapabilities(), SessionCapabilities(load=True)])
def test_not_reported_and_reported_none_stay_apart(reported):
    row = session_row("s", capabilities=reported)
    assert round_trip(SESSION, row).capabilities == reported


@pytest.mark.rule("ST-001")
@pytest.mark.parametrize(
    ("codec", "row"),
    [
        (TURN, turn_row("s", phase="paused")),
        (TURN, turn_row("s", delivery=None)),
        (TURN, turn_row("s", error=TurnError("internal", "x", "browser"))),
        (MESSAGE, message_row("s", "m", 1, 1, status="done")),
        (MESSAGE, message_row("s", "m", 1, True)),
        (MESSAGE, message_row("s", "m", 1, 1, content=(TextBlock(7),))),
        (MESSAGE, message_row("s", "m", 1, 1, content=(NoticeBlock("c", "fatal", "t"),))),
        (MESSAGE, message_row("s", "m", 1, 1, tool_call=ToolCall("c", "n", "t", kind="fly"))),
        (MESSAGE, message_row("s", "m", 1, 1, "\ud800")),
        (INTERACTION, interaction_row("s", input=ApprovalInput("c", "t", "fly"))),
        (SESSION, session_row("s", settings={"model": 3})),
    ],
)
def test_what_the_vocabulary_does_not_know_is_refused_before_it_is_stored(codec, row):
    with pytest.raises(RowError):
        codec.to_sql(row)


@pytest.mark.rule("ST-001")
@pytest.mark.parametrize(
    ("column", "stored"),
    [
        ("status", "done"),
        ("status", None),
        ("truncated", 7),
        ("content", "not json"),
        ("content", '[{"type":"hologram"}]'),
        ("content", '[{"type":"text","text":7}]'),
        ("content", '[{"type":"text"}]'),
        ("tool_call", '{"call_id":"c","name":"n","title":"t","kind":"fly"}'),
        ("tool_call", "[]"),
    ],
)
def test_what_the_vocabulary_does_not_know_is_refused_when_it_is_read(column, stored):
    row = message_row("s", "m", 1, 1)
    values = dict(zip(MESSAGE.columns, MESSAGE.to_sql(row), strict=True)) | {column: stored}
    with pytest.raises(RowError):
        MESSAGE.from_sql(("w", "s", *values.values()))


def test_a_live_observation_is_not_stored():
    assert "runtime" not in SESSION.columns
    assert {field.name for field in attrs.fields(Session)} - {"runtime"} == set(SESSION.columns)
