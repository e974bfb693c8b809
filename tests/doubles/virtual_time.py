"""Waiting in doubles and scripts: only ever in virtual time."""

import trio
import trio.testing


async def pass_time(seconds: float) -> None:
    """Sleep; under a real clock, where a test would really wait, it fails instead."""
    assert isinstance(trio.lowlevel.current_clock(), trio.testing.MockClock), "take autojump_clock"
    await trio.sleep(seconds)
