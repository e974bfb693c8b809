"""Keeps a program that dies at every start from being started for ever (FC-30).

Owns the memory of failed starts by launch fingerprint: more than a few in a window close the fingerprint for a
back-off that doubles with each further failure. Pure; the caller passes the time in.
"""

from typing import Final

import attrs

from runtime.providers.limits import PoolLimits
from supervisor.back_off import BackOff
from supervisor.restart_intensity import RestartIntensity

NOT_COUNTED: Final = frozenset({"session.cwd_missing", "session.not_resumable"})
"""Nothing is wrong with the program."""


@attrs.define
class _History:
    failures: int = 0
    recent: tuple[float, ...] = ()
    closed_until: float = 0.0
    back_offs: int = 0


class StartFailures:
    """Which fingerprints may be started now. Times are seconds of one monotonic clock."""

    def __init__(self, limits: PoolLimits) -> None:
        # One fewer than the limit is admitted without consequence, the next one closes the fingerprint.
        self._intensity = RestartIntensity(
            limits.start_failures_max - 1, limits.start_failures_window_seconds
        )
        self._window_seconds = limits.start_failures_window_seconds
        self._back_off = BackOff(limits.start_back_off_seconds, limits.start_back_off_max_seconds)
        self._histories: dict[str, _History] = {}

    def closed_for_seconds(self, fingerprint: str, now: float) -> float:
        """How long no start is allowed; 0 when one is."""
        history = self._histories.get(fingerprint)
        return max(0.0, history.closed_until - now) if history is not None else 0.0

    def failures(self, fingerprint: str) -> int:
        """Failed starts since the last one that worked, as far as remembered."""
        history = self._histories.get(fingerprint)
        return history.failures if history is not None else 0

    def begin(self, fingerprint: str, now: float) -> None:
        """A start begins. After a back-off it is a single trial: no other one beside it."""
        history = self._histories.get(fingerprint)
        if history is not None and history.back_offs:
            history.closed_until = now + self._back_off.seconds(history.back_offs)

    def failed(self, fingerprint: str, now: float) -> None:
        """A start failed, or the process died before it was ready."""
        self._forget_old(now)
        history = self._histories.setdefault(fingerprint, _History())
        history.failures += 1
        recent = self._intensity.admit(history.recent, now)
        if recent is not None and not history.back_offs:
            history.recent = recent
            return
        history.back_offs += 1
        history.closed_until = now + self._back_off.seconds(history.back_offs)

    def succeeded(self, fingerprint: str) -> None:
        """A start worked: all is forgotten."""
        self._histories.pop(fingerprint, None)

    def abandoned(self, fingerprint: str, now: float) -> None:
        """A start was given up by us: nothing is known of it, so the next trial may begin at once."""
        history = self._histories.get(fingerprint)
        if history is not None and history.back_offs:
            history.closed_until = now

    def _forget_old(self, now: float) -> None:
        """Bounds the memory: fingerprints of single sessions come and go."""
        window_seconds = self._window_seconds
        old = [
            fingerprint
            for fingerprint, history in self._histories.items()
            if now >= history.closed_until + window_seconds
            and (not history.recent or now >= history.recent[-1] + window_seconds)
        ]
        for fingerprint in old:
            del self._histories[fingerprint]
