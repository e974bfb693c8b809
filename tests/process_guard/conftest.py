"""A started process guard for each test that asks for one."""

import uuid
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from supervisor.process_guard import ProcessGuard


@pytest.fixture
def instances(tmp_path: Path) -> Path:
    return tmp_path / "instances"


@pytest.fixture
def instance_id() -> str:
    """Unlike any other on this host: a sweep ends whatever carries the id that it takes for dead."""
    return uuid.uuid4().hex


@pytest.fixture
async def guard(instances: Path, instance_id: str) -> AsyncIterator[ProcessGuard]:
    guard = ProcessGuard(instances, instance_id)
    guard.start()
    try:
        yield guard
    finally:
        await guard.close()
