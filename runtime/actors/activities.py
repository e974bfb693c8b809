"""The last live observation of each session's runtime: laid over rows when they are read, gone with the daemon."""

from collections.abc import Callable, Iterator

import attrs

from runtime.lifecycle.effects import PublishActivity
from store.canonical.identifiers import SessionKey
from store.canonical.session import SessionRuntime


@attrs.define(eq=False)
class ActivityRegistry:
    """Only sessions that have, or had, a runtime in this life of the daemon are here."""

    on_releasable: Callable[[], object] = lambda: None
    """Called in the step in which a session comes to hold a runtime that it could give up."""
    _observed: dict[SessionKey, PublishActivity] = attrs.field(factory=dict, init=False)

    def note(self, key: SessionKey, activity: PublishActivity) -> None:
        """The newest observation; the newest is last."""
        self._observed.pop(key, None)
        if activity.runtime_state != "absent":
            self._observed[key] = activity
        if activity.releasable:
            self.on_releasable()

    def runtime(self, key: SessionKey) -> SessionRuntime:
        """What `session.runtime` shows."""
        observed = self._observed.get(key)
        if observed is None:
            return SessionRuntime()
        return SessionRuntime(observed.runtime_state, observed.at_ms)

    def releasable(self) -> Iterator[SessionKey]:
        """Sessions that could give their runtime up, the longest idle first."""
        return (key for key, observed in self._observed.items() if observed.releasable)

    def quarantined(self) -> tuple[SessionKey, ...]:
        """Sessions set aside after repeated faults."""
        return tuple(key for key, seen in self._observed.items() if seen.runtime_state == "quarantined")
