"""`target/list`: the agents there are, read without starting or asking any."""

import pytest

from tests.end_to_end.client import Client, Json
from tests.end_to_end.daemon import Daemon
from tests.end_to_end.fixtures import Connect, token_of


@pytest.mark.rule("RT-041", "PR-006")
async def test_configured_ones_in_their_order_and_the_demo_last(client: Client, daemon: Daemon) -> None:
    before = daemon.providers()
    items = (await client.request("target/list"))["items"]
    assert [item["agentTargetId"] for item in items] == [
        "logged",
        "slow",
        "deaf",
        "sign-in",
        "forgetful",
        "blind",
        "stiff",
        "broken",
        "missing",
        "disabled",
        "demo",
    ]
    assert {item["provider"] for item in items} == {"acp"}
    assert {item["agentTargetId"] for item in items if not item["enabled"]} == {"disabled"}
    assert {item["agentTargetId"] for item in items if not item["program"]["found"]} == {"missing"}
    never_run = {item["auth"] for item in items if item["agentTargetId"] in ("missing", "disabled")}
    assert never_run == {"unknown"}, "nothing is known of what nobody asked"
    assert {item["capabilities"] for item in items} == {None}, "null is not known yet"
    settings = {setting["key"]: setting for setting in items[0]["settings"]}
    assert settings.keys() == {"model", "reasoningEffort", "mode", "dedicatedProcess"}
    assert settings["dedicatedProcess"]["default"] is False
    assert settings["dedicatedProcess"]["change"] == "launch"
    assert daemon.providers() == before


async def test_pages_hold_each_once(client: Client) -> None:
    whole = (await client.request("target/list"))["items"]
    seen, cursor = [], None
    for _ in range(3):
        page = await client.request("target/list", limit=4, cursor=cursor)
        seen += page["items"]
        cursor = page["nextCursor"]
    assert (seen, cursor) == (whole, None)


async def test_a_token_for_reading_is_enough(connect: Connect) -> None:
    async with connect(token=token_of("reader")) as reader:
        assert (await reader.request("target/list"))["items"]


@pytest.mark.parametrize(
    ("params", "path"),
    [
        ({"cursor": "x"}, "params.cursor"),
        ({"cursor": "99"}, "params.cursor"),
        ({"cursor": "-1"}, "params.cursor"),
        ({"limit": 0}, "params.limit"),
        ({"workspaceId": "w"}, "params.workspaceId"),
    ],
)
async def test_what_is_wrong_with_it_is_named(client: Client, params: Json, path: str) -> None:
    refused = await client.refused("target/list", **params)
    assert (refused["code"], refused["details"]["path"]) == ("request.invalid", path)
