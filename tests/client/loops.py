"""Runs one test under asyncio and under trio: the client has to behave alike on both."""

import functools
import inspect
from collections.abc import Awaitable, Callable
from typing import Any

import anyio
import pytest

TEST_SECONDS = 60.0
"""A test that hangs says so before the whole run does."""


def on_both_loops(test: Callable[..., Awaitable[None]]) -> Callable[..., None]:
    """An async test as two sync ones; its fixtures are sync."""

    @functools.wraps(test)
    def run(*, backend: str, **fixtures: Any) -> None:
        anyio.run(_within_time, functools.partial(test, **fixtures), backend=backend)

    signature = inspect.signature(test)
    backend = inspect.Parameter("backend", inspect.Parameter.KEYWORD_ONLY)
    run.__signature__ = signature.replace(parameters=[*signature.parameters.values(), backend])
    del run.__wrapped__
    return pytest.mark.parametrize("backend", ["asyncio", "trio"])(run)


async def _within_time(test: Callable[[], Awaitable[None]]) -> None:
    with anyio.fail_after(TEST_SECONDS):
        await test()
