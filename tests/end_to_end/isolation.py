"""Params that ask for a project and for a checkout, and what every refusal of one has to hold."""

from pathlib import Path
from typing import Any

from tests.end_to_end.client import Client, Json
from tests.end_to_end.talk import DEMO

WORKTREE = {"type": "worktree"}


def project(path: Path | str) -> Json:
    return {"type": "project", "version": 1, "path": str(path)}


def isolated(path: Path | str, **changes: Any) -> Json:
    return {"isolation": WORKTREE, "railPlacement": project(path), **changes}


async def refused_isolation(client: Client, workspace: str, path: Path, **changes: Any) -> Json:
    """Why this project has no checkout, which says what to do and leaves no session."""
    params = {"workspaceId": workspace, "agentTargetId": DEMO, "clientSubmitId": "once"}
    refused = await client.refused("session/create", **params, **isolated(path, **changes))
    assert refused["delivery"] == "not_dispatched"
    assert (await client.request("session/list", workspaceId=workspace))["items"] == []
    return refused
