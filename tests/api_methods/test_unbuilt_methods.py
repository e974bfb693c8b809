"""Methods the contract names and this release does not serve say so; others do not exist."""

import pytest

from tests.end_to_end.client import Client
from tests.end_to_end.fixtures import Connect, token_of
from tests.end_to_end.shapes import REPLIES, WITH_FAULTS

UNBUILT = """
session/fork turn/editRetry editRetry/recover goal/control goal/get

fault/inject fault/list fault/clear
"""
RESERVED = """
host/observationGap host/interactionReadiness session/sections target/setEnabled project/list project/anything
prompt/list preference/get recording/start replay/open
"""


async def test_capabilities_name_exactly_what_answers(client: Client, workspace: str) -> None:
    methods = client.hello["capabilities"]["methods"]
    assert sorted(methods) == sorted(REPLIES.keys() - WITH_FAULTS)
    for method in methods:
        if method != "initialize":
            refused = await client.refused(method, noSuchMember=workspace)
            assert refused["code"] == "request.invalid", f"{method} is served"


@pytest.mark.parametrize("method", UNBUILT.split() + RESERVED.split())
async def test_a_name_of_the_contract_that_is_not_served_says_so(
    client: Client, connect: Connect, workspace: str, method: str
) -> None:
    assert method not in client.hello["capabilities"]["methods"]
    refused = await client.refused(method, workspaceId=workspace, agentSessionId="s")
    assert refused == {
        "code": "capability.unsupported",
        "retryable": False,
        "delivery": "not_dispatched",
        "details": {},
    }


@pytest.mark.parametrize(
    "method",
    ["", "session", "session/", "Session/get", "session/get ", "__class__", "rpc.discover", "a" * 4096],
)
async def test_any_other_name_is_unknown(client: Client, method: str) -> None:
    sent = await client.send(method)
    assert (await sent.refusal())["code"] == "request.unknown_method"
    assert sent.answer is not None
    assert sent.answer["error"]["code"] == -32601


async def test_a_token_for_reading_is_told_the_same(connect: Connect) -> None:
    async with connect(token=token_of("reader")) as reader:
        assert (await reader.refused("goal/control"))["code"] == "capability.unsupported"
        assert (await reader.refused("side/none"))["code"] == "request.unknown_method"
