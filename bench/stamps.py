"""What both sides of a race share: the prompt, the stamps in its answer, and what is made of them.

Every chunk begins `~TAG.INDEX.NANOSECONDS~` with the machine's steady clock at the moment of the agent's write, so
latency, order and loss come from the bytes themselves, whatever carried them.
"""

import re
import time

import attrs

KEPT_BYTES = 64
"""More than a stamp is long."""
STAMP = re.compile(rb"~[0-9A-Za-z_-]+\.(\d+)\.(\d+)~")


def prompt(chunks: int, size: int, delay_ms: int) -> str:
    """The prompt that makes the demo agent stream."""
    return f"[[stream {chunks} size={size} delay={delay_ms} stamp]]"


@attrs.define
class Stamps:
    """Latencies of one run, in nanoseconds."""

    latencies_ns: list[int] = attrs.field(factory=list)
    reads: int = 0

    def feed(self, data: bytes) -> None:
        """Note every stamp in these bytes as arriving now."""
        now_ns = time.monotonic_ns()
        self.reads += 1
        self.latencies_ns.extend(now_ns - int(match[2]) for match in STAMP.finditer(data))

    @staticmethod
    def cut(data: bytes) -> bytes:
        """What the next bytes are to be put behind, where they may begin within a stamp: no stamp is met twice."""
        begun = max(0, len(data) - KEPT_BYTES)
        whole = STAMP.search(data, begun)
        return data[whole.end() if whole else begun :]

    @classmethod
    def together(cls, several: "list[Stamps]") -> "Stamps":
        """What several clients saw, as one."""
        latencies = [latency for stamps in several for latency in stamps.latencies_ns]
        return cls(latencies, sum(stamps.reads for stamps in several))

    def quantile_ms(self, share: float) -> float:
        """A quantile of the latencies, in milliseconds."""
        ordered = sorted(self.latencies_ns)
        return ordered[min(len(ordered) - 1, int(share * len(ordered)))] / 1e6 if ordered else float("nan")


@attrs.frozen
class Figures:
    """One run of one side."""

    side: str
    sessions: int
    chunks: int
    arrived: int
    seconds: float
    cpu_seconds: float | None
    """Of the daemon; None where there is none."""
    p50_ms: float
    p99_ms: float
    events: int

    @property
    def cpu_per_thousand(self) -> float | None:
        """Seconds of the daemon's CPU for 1,000 chunks."""
        return None if self.cpu_seconds is None else self.cpu_seconds * 1000 / self.chunks
