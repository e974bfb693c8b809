"""The table of methods, whole: those served, those the contract names and this server does not serve yet, those reserved.

Holds no handler; dispatch binds them by name.
"""

from collections.abc import Iterator, Mapping
from types import MappingProxyType

from runtime.refusal import Refusal
from runtime.wire.host_methods import HOST_METHODS, INITIALIZE
from runtime.wire.method import Method
from runtime.wire.session_methods import SESSION_METHODS
from runtime.wire.side_methods import SIDE_METHODS
from runtime.wire.turn_methods import TURN_METHODS

COMMON_REFUSALS = (
    "request.invalid",
    "auth.forbidden",
    "protocol.uninitialized",
    "limit.exceeded",
    "overloaded",
    "store.unavailable",
    "shutdown.in_progress",
    "internal",
)
"""What any method may be refused with; not repeated in the table."""


_TABLE = (INITIALIZE, *SESSION_METHODS, *TURN_METHODS, *SIDE_METHODS, *HOST_METHODS)

METHODS: Mapping[str, Method] = MappingProxyType({method.name: method for method in _TABLE})
"""Every method served, by name."""

UNBUILT_METHODS = frozenset(
    {
        *("turn/editRetry", "editRetry/recover", "goal/control", "goal/get"),
        "session/fork",
    }
)
"""Named in the contract's table and not served yet."""

RESERVED_METHODS = frozenset(
    {"host/observationGap", "host/interactionReadiness", "session/sections", "target/setEnabled"}
)
RESERVED_PREFIXES = ("project/", "prompt/", "preference/", "recording/", "replay/")
"""To come within v1 (`contract §4`)."""


def served_methods(faults_enabled: bool) -> tuple[str, ...]:
    """The names that a daemon answers to."""
    return tuple(method.name for method in _TABLE if faults_enabled or not method.with_faults)


def find_method(name: str, *, faults_enabled: bool) -> Method | Refusal:
    """The method of this name; for a name of the contract that is not served, and for any other, why not."""
    method = METHODS.get(name)
    if method is not None and (faults_enabled or not method.with_faults):
        return method
    if (
        method is not None
        or name in UNBUILT_METHODS
        or name in RESERVED_METHODS
        or name.startswith(RESERVED_PREFIXES)
    ):
        return Refusal("capability.unsupported")
    return Refusal("request.unknown_method")


def all_refusals(method: Method) -> Iterator[str]:
    """Every code this method may be refused with, the common ones last."""
    yield from method.refusals
    yield from (code for code in COMMON_REFUSALS if code not in method.refusals)
