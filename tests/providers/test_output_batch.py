"""Outputs of one read: adjacent chunks of a message leave as one, everything else in its order."""

from hypothesis import given
from hypothesis import strategies as st

from runtime.providers.normalized import ItemEnded, ProviderEvent, TextChunk, ToolOutputChunk, merge_events
from runtime.providers.output_batch import OutputBatch
from runtime.providers.port import Deliver, Output, Scope, Write
from store.canonical.identifiers import CallId, TurnId
from tests.providers.adapter_playbook import T1, T2, A, B

EVENTS: st.SearchStrategy[ProviderEvent] = st.one_of(
    st.builds(
        TextChunk,
        st.sampled_from([T1, T2]),
        st.sampled_from(["i1", "i2"]),
        st.just("text"),
        st.text(min_size=1, max_size=3),
    ),
    st.builds(ToolOutputChunk, st.just(T1), st.sampled_from([CallId("c1"), CallId("c2")]), st.just("o")),
    st.builds(ItemEnded, st.just(T1), st.just("i1")),
)


def merged(events: list[ProviderEvent]) -> list[ProviderEvent]:
    result: list[ProviderEvent] = []
    for event in events:
        joined = merge_events(result[-1], event) if result else None
        if joined is None:
            result.append(event)
        else:
            result[-1] = joined
    return result


@given(st.lists(st.tuples(st.sampled_from([A, B]), EVENTS)))
def test_each_scope_gets_its_events_in_order_with_adjacent_chunks_joined(
    events: list[tuple[Scope, ProviderEvent]],
) -> None:
    batch = OutputBatch()
    for scope, event in events:
        batch.deliver(scope, event)
    outputs = batch.take()
    for scope in (A, B):
        told = [o.event for o in outputs if isinstance(o, Deliver) and o.scope == scope]
        assert told == merged([event for whose, event in events if whose == scope])
    assert batch.take() == []


def test_other_outputs_keep_their_place_and_split_no_text() -> None:
    batch = OutputBatch()
    outputs: list[Output] = []
    for text in ("a", "b"):
        batch.deliver(A, TextChunk(TurnId("t"), "i", "text", text))
        batch.add(Write(text.encode()))
        outputs.append(Write(text.encode()))
    assert batch.take() == [Deliver(A, TextChunk(TurnId("t"), "i", "text", "ab")), *outputs]
