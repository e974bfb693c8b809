"""Models of `fault/inject`, `fault/list` and `fault/clear`: a failpoint, what is armed there, and how often it was passed.

For tests of a daemon that was started with `--enable-faults`; names and meanings of failpoints follow the inside of
this version.
"""

from typing import Annotated, Literal, TypeAlias

import attrs

from runtime.wire.constraints import AtLeast, Characters
from runtime.wire.requests import PageParams
from runtime.wire.rows import Count

FailpointName: TypeAlias = Annotated[str, Characters(1, 100)]
FaultAction: TypeAlias = Literal["kill", "exit", "raise", "delay", "pause"]


@attrs.frozen(kw_only=True)
class FaultInjectParams:
    """What is to happen at one failpoint, from its next pass on. Replaces what was armed there."""

    name: FailpointName
    action: FaultAction
    """kill: the daemon gets SIGKILL. exit: it ends at once. raise: the error that can happen there. delay: it takes so
    long. pause: it waits until the failpoint is cleared or armed anew."""
    on_pass: Annotated[int, AtLeast(1)] | None = None
    """Only the pass of this number, counted from now."""
    probability: float | None = None
    """Above 0 and at most 1; each pass is drawn anew. Without it, each pass."""
    delay_ms: Annotated[int, AtLeast(1)] | None = None
    """Of a delay, and of nothing else."""


@attrs.frozen(kw_only=True)
class FaultListParams(PageParams):
    """Which page of the failpoints."""


@attrs.frozen(kw_only=True)
class FaultClearParams:
    """Which failpoint to disarm; without a name, all. Whoever is paused there goes on."""

    name: FailpointName | None = None


@attrs.frozen(kw_only=True)
class ArmedFault:
    """What is armed at a failpoint."""

    action: FaultAction
    on_pass: Count | None
    probability: float
    delay_ms: Count


@attrs.frozen(kw_only=True)
class FailpointView:
    """One failpoint."""

    name: str
    """`seam.effect.before` or `.after`."""
    stands_for: str
    """What is so, and what is not yet, when it is reached."""
    waits: bool
    """Whether `delay` and `pause` are possible there."""
    armed: ArmedFault | None
    passes: Count
    """Since the daemon started."""
    fired: Count
    waiting: Count
    """How many are paused there now."""


@attrs.frozen(kw_only=True)
class FaultInjectReply:
    """The failpoint as it stands now."""

    failpoint: FailpointView
    commit_seq: Count


@attrs.frozen(kw_only=True)
class FaultListReply:
    """One page of failpoints, by their names."""

    items: tuple[FailpointView, ...]
    next_cursor: str | None
    """Null at the end."""
    commit_seq: Count
