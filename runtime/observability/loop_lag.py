"""How late the loop runs its tasks: what everything else in it feels when one step takes too long."""

import attrs
import trio

from store.latency import Latency

SAMPLE_SECONDS = 0.5


@attrs.define(eq=False)
class LoopLag:
    """Samples by sleeping: the time beyond what was asked for is the lag."""

    latency: Latency = attrs.field(factory=Latency)
    newest_seconds: float = 0.0
    samples: int = 0
    """How often it was sampled; that it grows shows from another thread that the loop runs."""

    async def run(self, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED) -> None:
        """Sample until cancelled."""
        task_status.started()
        while True:
            due = trio.current_time() + SAMPLE_SECONDS
            await trio.sleep_until(due)
            self.samples += 1
            self.newest_seconds = max(0.0, trio.current_time() - due)
            self.latency.observe(self.newest_seconds)
