"""The exposition format: one line a sample, quoted so that no label can break it; histograms are cumulative."""

from runtime.observability.metrics import by_label, exposition, gauge, histogram
from store.latency import BOUNDS_SECONDS, Latency


def test_a_family_is_its_help_its_type_and_its_samples():
    text = exposition([gauge("clients", "Clients connected.", 3)]).decode()
    assert text == (
        "# HELP greenroom_clients Clients connected.\n# TYPE greenroom_clients gauge\ngreenroom_clients 3.0\n"
    )


def test_labels_are_quoted_whatever_they_hold():
    [_, _, line] = exposition([by_label("x", "X.", "gauge", "kind", {'a"b\\c\nd': 1})]).decode().splitlines()
    assert line == r'greenroom_x{kind="a\"b\\c\nd"} 1.0'


def test_a_family_without_samples_is_named_all_the_same():
    text = exposition([by_label("ended_total", "Ended.", "counter", "how", {})]).decode()
    assert text.splitlines()[-1] == "# TYPE greenroom_ended_total counter"


def test_a_histogram_counts_cumulatively_with_bounds_included():
    latency = Latency()
    for seconds in (0.0, 0.001, 0.0011, 3.0, 99.0):
        latency.observe(seconds)
    family = histogram("took_seconds", "Took.", latency)
    buckets = {s.labels["le"]: s.value for s in family.samples if s.name.endswith("_bucket")}
    assert list(buckets) == [*(f"{bound:g}" for bound in BOUNDS_SECONDS), "+Inf"]
    assert (buckets["0.001"], buckets["0.0025"], buckets["2.5"], buckets["5"]) == (2, 3, 3, 4)
    assert buckets["10"] == 4
    assert buckets["+Inf"] == 5
    [total, count] = [s.value for s in family.samples if not s.name.endswith("_bucket")]
    assert (round(total, 4), count) == (102.0021, 5)
