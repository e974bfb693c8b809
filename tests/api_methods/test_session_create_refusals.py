"""`session/create` refused: what is wrong is named, nothing is left, and the submit id is free."""

import pytest

from tests.end_to_end.client import Client, Json
from tests.end_to_end.daemon import Daemon
from tests.end_to_end.fixtures import Connect, token_of
from tests.end_to_end.talk import create_params, text


@pytest.mark.rule("AP-002", "AP-003", "AP-008")
@pytest.mark.parametrize(
    ("change", "path"),
    [
        ({"agentTargetId": None}, "params.agentTargetId"),
        ({"clientSubmitId": ""}, "params.clientSubmitId"),
        ({"clientSubmitId": "a\nb"}, "params.clientSubmitId"),
        ({"clientSubmitId": "x" * 201}, "params.clientSubmitId"),
        ({"agentSessionId": "no spaces"}, "params.agentSessionId"),
        ({"agentSessionId": "x" * 129}, "params.agentSessionId"),
        ({"workspaceId": "ä"}, "params.workspaceId"),
        ({"title": "x" * 501}, "params.title"),
        ({"settings": {"model": 1}}, "params.settings.model"),
        ({"settings": []}, "params.settings"),
        ({"settings": {"model": "x" * 1001}}, "params.settings.model"),
        ({"initialContent": []}, "params.initialContent"),
        ({"initialContent": text("")}, "params.initialContent"),
        ({"initialContent": [{"type": "text"}]}, "params.initialContent[0].text"),
        ({"initialContent": [{"type": "video"}]}, "params.initialContent[0].type"),
        ({"initialContent": [{"type": "notice", "code": "x"}]}, "params.initialContent[0].type"),
        ({"railPlacement": {"type": "conversations", "version": 2}}, "params.railPlacement.version"),
        ({"railPlacement": {"type": "drawer", "version": 1}}, "params.railPlacement.type"),
        ({"computerUse": True}, "params.computerUse"),
    ],
)
async def test_what_is_wrong_with_it_is_named(
    client: Client, workspace: str, change: Json, path: str
) -> None:
    refused = await client.refused("session/create", **{**create_params(workspace), **change})
    assert (refused["code"], refused["details"]["path"]) == ("request.invalid", path)
    assert (await client.request("session/list", workspaceId=workspace))["items"] == []


@pytest.mark.parametrize("missing", ["workspaceId", "agentTargetId", "clientSubmitId"])
async def test_what_is_missing_is_named(client: Client, workspace: str, missing: str) -> None:
    params = create_params(workspace)
    del params[missing]
    refused = await client.refused("session/create", **params)
    assert refused["details"] == {"path": f"params.{missing}", "problem": "is missing"}


@pytest.mark.rule("RT-040")
@pytest.mark.parametrize(
    ("change", "code", "details"),
    [
        ({"agentTargetId": "nobody"}, "target.not_found", {}),
        ({"agentTargetId": "disabled"}, "target.disabled", {}),
        ({"settings": {"colour": "red"}}, "settings.invalid", {"key": "colour"}),
        ({"settings": {"dedicatedProcess": "yes"}}, "settings.invalid", {"key": "dedicatedProcess"}),
        ({"settings": {"model": True}}, "settings.invalid", {"key": "model"}),
        ({"cwd": "/no/such/directory"}, "session.cwd_missing", {}),
        ({"cwd": "/etc/passwd"}, "session.cwd_missing", {}),
        ({"cwd": "relative"}, "session.cwd_missing", {}),
        (
            {"initialGoalControl": {"action": "set", "objective": "x"}},
            "capability.unsupported",
            {"param": "initialGoalControl"},
        ),
        (
            {
                "initialContent": [
                    {"type": "image", "mediaType": "image/png", "bytes": 1, "attachmentId": "a"}
                ]
            },
            "attachment.not_found",
            {"attachmentId": "a"},
        ),
    ],
)
async def test_what_cannot_be_is_refused_before_anything_exists(
    client: Client, workspace: str, change: Json, code: str, details: Json
) -> None:
    refused = await client.refused("session/create", **create_params(workspace, **change))
    assert (refused["code"], refused["delivery"]) == (code, "not_dispatched")
    assert refused["details"] == details
    assert (await client.request("session/list", workspaceId=workspace))["items"] == []


@pytest.mark.rule("RT-068")
async def test_content_and_goal_exclude_each_other(client: Client, workspace: str) -> None:
    refused = await client.refused(
        "session/create",
        **create_params(
            workspace,
            initialContent=text("x"),
            initialGoalControl={"action": "set", "objective": "x"},
        ),
    )
    assert refused["code"] == "request.invalid"


async def test_a_prompt_longer_than_a_message_may_be_is_too_large(client: Client, workspace: str) -> None:
    content = text("x" * (4 * 1024 * 1024 + 1))
    refused = await client.refused("session/create", **create_params(workspace, initialContent=content))
    assert (refused["code"], refused["delivery"]) == ("request.too_large", "not_dispatched")


async def test_a_token_for_reading_creates_nothing(connect: Connect, workspace: str) -> None:
    async with connect(token=token_of("reader")) as reader:
        refused = await reader.refused("session/create", **create_params(workspace))
        assert refused["code"] == "auth.forbidden"
        assert (await reader.request("session/list", workspaceId=workspace))["items"] == []


async def test_a_token_for_some_workspaces_reaches_no_other(connect: Connect, workspace: str) -> None:
    async with connect(token=token_of("tenant")) as tenant:
        assert (await tenant.refused("session/create", **create_params(workspace)))[
            "code"
        ] == "auth.forbidden"
        created = await tenant.request(
            "session/create", **create_params("tenant-1", clientSubmitId=workspace)
        )
        assert created["session"]["workspaceId"] == "tenant-1"


async def test_a_token_with_roots_works_below_them_alone(
    connect: Connect, workspace: str, daemon: Daemon
) -> None:
    root = daemon.folder / "root"
    (root / "below").mkdir(exist_ok=True)
    (root / "way-out").unlink(missing_ok=True)
    (root / "way-out").symlink_to("/")
    async with connect(token=token_of("rooted")) as rooted:
        for cwd in (None, "/", str(root / ".."), str(root / "way-out"), f"{root}-beside"):
            refused = await rooted.refused("session/create", **create_params(workspace, cwd=cwd))
            assert refused["code"] == "auth.forbidden", cwd
        created = await rooted.request("session/create", **create_params(workspace, cwd=str(root / "below")))
        assert created["session"]["cwd"] == str(root / "below")
