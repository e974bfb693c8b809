"""What is kept of a noisy process: bounded, redacted, and the end of it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runtime.providers.diagnostics import (
    DETAIL_CHARACTERS_MAX,
    KINDS_MAX,
    OTHER_KIND,
    DiagnosticLog,
    StderrTail,
)
from runtime.providers.port import Diagnostic
from runtime.providers.redaction import Redactor

NOTHING_SECRET = Redactor([])


@pytest.mark.case("FC-17")
def test_everything_is_counted_and_the_newest_are_kept():
    log = DiagnosticLog(3, NOTHING_SECRET)
    for number in range(1000):
        log.add(Diagnostic("noise", f"line {number}"))
    report = log.report()
    assert report.counts == {"noise": 1000}
    assert [diagnostic.detail for diagnostic in report.newest] == ["line 997", "line 998", "line 999"]


def test_a_long_detail_is_cut_after_redaction():
    log = DiagnosticLog(3, Redactor(["hunter2hunter2"]))
    log.add(Diagnostic("noise", "x" * (DETAIL_CHARACTERS_MAX - 5) + "hunter2hunter2"))
    (kept,) = log.report().newest
    assert len(kept.detail) == DETAIL_CHARACTERS_MAX
    assert "hunter" not in kept.detail


def test_kinds_cannot_grow_without_end():
    log = DiagnosticLog(3, NOTHING_SECRET)
    for number in range(KINDS_MAX + 10):
        log.count(f"kind {number}")
    assert len(log.report().counts) == KINDS_MAX + 1
    assert log.report().counts[OTHER_KIND] == 10


@pytest.mark.case("FC-18")
@given(pieces=st.lists(st.binary(max_size=40), max_size=20))
def test_the_tail_is_the_end_of_the_stream_however_it_arrived(pieces):
    tail = StderrTail(16, NOTHING_SECRET)
    for piece in pieces:
        tail.feed(piece)
    stream = b"".join(pieces)
    assert tail.text() == stream[-16:].decode(errors="replace")
    assert tail.total_bytes == len(stream)


def test_a_secret_across_the_beginning_of_the_tail_is_not_shown_in_part():
    tail = StderrTail(10, Redactor(["hunter2hunter2"]))
    for byte in b"x" * 50 + b"hunter2hunter2" + b"after":
        tail.feed(bytes([byte]))
    assert tail.text() == "[redacted]after"
