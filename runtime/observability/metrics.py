"""Figures for machines: families of samples, and their text in the exposition format of Prometheus 0.0.4. Pure.

Owns form alone. Which figures there are is decided where they are read (`runtime.metrics`); nothing registers itself
anywhere, and nothing is counted here.
"""

from collections.abc import Iterable, Iterator, Mapping
from itertools import accumulate
from typing import Literal

import attrs

from store.latency import BOUNDS_SECONDS, Latency

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
PREFIX = "greenroom_"

MetricType = Literal["counter", "gauge", "histogram"]


@attrs.frozen
class MetricSample:
    """One figure. A histogram has several names: `_bucket` with the label `le`, `_sum` and `_count`."""

    name: str
    labels: Mapping[str, str]
    value: float


@attrs.frozen
class MetricFamily:
    """What belongs to one name. Counters only grow, from 0 at each start of the daemon."""

    name: str
    help: str
    type: MetricType
    samples: tuple[MetricSample, ...]


def gauge(name: str, text: str, value: float) -> MetricFamily:
    """A figure that goes up and down."""
    return by_label(name, text, "gauge", "", {"": value})


def counter(name: str, text: str, value: float) -> MetricFamily:
    """A figure that only grows."""
    return by_label(name, text, "counter", "", {"": value})


def by_label(
    name: str, text: str, kind: Literal["counter", "gauge"], label: str, values: Mapping[str, float]
) -> MetricFamily:
    """One figure for each value of a label; the empty label is none."""
    full = PREFIX + name
    samples = (
        MetricSample(full, {label: word} if label else {}, float(value))
        for word, value in sorted(values.items())
    )
    return MetricFamily(full, text, kind, tuple(samples))


def histogram(name: str, text: str, latency: Latency) -> MetricFamily:
    """Durations in seconds, cumulative by bucket."""
    full = PREFIX + name
    bounds = (*(f"{bound:g}" for bound in BOUNDS_SECONDS), "+Inf")
    buckets = (
        MetricSample(f"{full}_bucket", {"le": bound}, float(count))
        for bound, count in zip(bounds, accumulate(latency.counts), strict=True)
    )
    return MetricFamily(
        full,
        text,
        "histogram",
        (
            *buckets,
            MetricSample(f"{full}_sum", {}, latency.total_seconds),
            MetricSample(f"{full}_count", {}, float(latency.count)),
        ),
    )


def exposition(families: Iterable[MetricFamily]) -> bytes:
    """All of it as text."""
    return "".join(line + "\n" for family in families for line in _lines(family)).encode()


def _lines(family: MetricFamily) -> Iterator[str]:
    yield f"# HELP {family.name} {_escaped(family.help)}"
    yield f"# TYPE {family.name} {family.type}"
    for sample in family.samples:
        labels = ",".join(f'{name}="{_quoted(value)}"' for name, value in sample.labels.items())
        yield f"{sample.name}{{{labels}}} {sample.value!r}" if labels else f"{sample.name} {sample.value!r}"


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace("\n", "\\n")


def _quoted(text: str) -> str:
    return _escaped(text).replace('"', '\\"')
