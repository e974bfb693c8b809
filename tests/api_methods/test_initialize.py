"""`initialize`: the first request of a connection, and what holds before it."""

import pytest

from tests.end_to_end.client import Client
from tests.end_to_end.fixtures import Connect, token_of
from tests.end_to_end.shapes import is_server_made

HELLO = {"protocolVersion": 1, "clientInfo": {"name": "test", "version": "1"}}
LIMITS = {
    "maxFrameBytes": 16 << 20,
    "maxServerFrameBytes": 8 << 20,
    "maxProviderLineBytes": 32 << 20,
    "maxPageBytes": 4 << 20,
    "maxDeltaBytes": 64 << 10,
    "maxMessageBytes": 4 << 20,
    "maxToolOutputBytes": 768 << 10,
    "messageUpdateIntervalMs": 100,
    "writeBehindMs": 250,
    "maxSessions": 100_000,
    "maxLiveConnections": 64,
    "maxConcurrentStarts": 8,
    "admissionWaitSeconds": 60,
    "maxAdmissionWaiting": 4096,
    "startSlotSeconds": 10,
    "maxStartFailures": 5,
    "startFailuresWindowSeconds": 60,
    "startBackOffSeconds": 10,
    "startBackOffMaxSeconds": 300,
    "sessionsPerConnection": {"codex": 16, "claude": 1, "acp": 1},
    "connectionDrainSeconds": 60,
    "maxProviderDiscardBytes": 32 << 20,
    "maxProviderRecordBytes": 8 << 20,
    "maxProviderNoiseBytes": 10 << 20,
    "maxProviderUnwrittenBytes": 128 << 20,
    "providerLastReadsSeconds": 1,
    "providerStderrTailBytes": 16 << 10,
    "maxProviderDiagnostics": 50,
    "sessionLaneMessages": 1024,
    "sessionLaneControls": 64,
    "sessionLaneBytes": 8 << 20,
    "sessionRestarts": {"count": 3, "periodSeconds": 60},
    "maxClientConnections": 1024,
    "maxSubscriptionsPerConnection": 64,
    "helloTimeoutSeconds": 10,
    "idleReleaseSeconds": 1800,
    "initializeTimeoutSeconds": 60,
    "cancelGraceSeconds": 10,
    "turnReconcileSeconds": 60,
    "guideTimeoutSeconds": 15,
    "maxOpenGuides": 16,
    "maxOpenInteractions": 64,
    "maxInteractionBytes": 1048576,
    "respondTimeoutSeconds": 15,
    "maxSides": 1024,
    "maxSideTurns": 1000,
    "sideOpenTimeoutSeconds": 20,
    "sideOwnerGraceSeconds": 2,
    "maxSideTombstones": 1024,
    "lifecycleTimeoutSeconds": 30,
    "clientSendDeadlineSeconds": 10,
    "clientQueueBytes": 8 << 20,
    "clientCloseTimeoutSeconds": 2,
    "pingSeconds": 20,
    "maxInFlightRequests": 256,
    "checkpointSeconds": 10,
    "commitLogMaxAgeSeconds": 604_800,
    "commitLogMaxCount": 1_000_000,
    "commitLogMaxBytes": 1 << 30,
    "storeReserveBytes": 16 << 20,
    "maxSweeperPending": 256,
    "sweeperAttempts": 8,
    "maxAttachmentBytes": 10 << 20,
    "maxAttachmentsPerPrompt": 8,
    "shutdownGraceSeconds": 10,
}
CONFIGURED = {"cancelGraceSeconds", "checkpointSeconds"}
"""Limits that the shared daemon sets otherwise."""


async def test_it_says_who_answers_what_is_served_and_every_bound(client: Client) -> None:
    hello = client.hello
    assert hello["protocolVersion"] == 1
    assert hello["scope"] == "admin"
    assert hello["serverInfo"]["name"] == "greenroom"
    assert is_server_made(hello["serverInfo"]["instanceId"])
    assert hello["capabilities"]["deprecated"] == []
    limits = hello["limits"]
    assert {name: limits[name] for name in LIMITS if name not in CONFIGURED} == {
        name: value for name, value in LIMITS.items() if name not in CONFIGURED
    }
    assert limits["cancelGraceSeconds"] == 1
    assert limits["checkpointSeconds"] == 0.5


@pytest.mark.parametrize(
    ("token", "scope"), [("reader", "read"), ("worker", "control"), ("tenant", "control")]
)
async def test_it_names_the_scope_of_the_token(connect: Connect, token: str, scope: str) -> None:
    async with connect(token=token_of(token)) as client:
        assert client.hello["scope"] == scope


async def test_another_version_is_refused_with_those_that_are_spoken(connect: Connect) -> None:
    async with connect(initialize=False) as client:
        refused = await client.refused("initialize", protocolVersion=2, newMember={"of": "version 2"})
        assert refused["code"] == "protocol.unsupported"
        assert refused["details"] == {"supported": [1]}
        assert await client.refused("health/read") == {
            "code": "protocol.uninitialized",
            "retryable": False,
            "delivery": "not_dispatched",
            "details": {},
        }
        await client.request("initialize", **HELLO)
        assert (await client.request("health/read"))["status"] == "ok"


@pytest.mark.parametrize(
    ("params", "path"),
    [
        ({"clientInfo": {"name": "test"}}, "params.protocolVersion"),
        ({"protocolVersion": "1", "clientInfo": {"name": "test"}}, "params.protocolVersion"),
        ({"protocolVersion": True, "clientInfo": {"name": "test"}}, "params.protocolVersion"),
        ({"protocolVersion": 1}, "params.clientInfo"),
        ({"protocolVersion": 1, "clientInfo": {}}, "params.clientInfo.name"),
        ({"protocolVersion": 1, "clientInfo": {"name": ""}}, "params.clientInfo.name"),
        ({"protocolVersion": 1, "clientInfo": {"name": "x", "vendor": "y"}}, "params.clientInfo.vendor"),
        ({**HELLO, "workspaceId": "w"}, "params.workspaceId"),
    ],
)
async def test_what_is_wrong_with_it_is_named(connect: Connect, params: dict[str, object], path: str) -> None:
    async with connect(initialize=False) as client:
        refused = await client.refused("initialize", **params)
        assert (refused["code"], refused["details"]["path"]) == ("request.invalid", path)
        assert (await client.refused("health/read"))["code"] == "protocol.uninitialized"


@pytest.mark.parametrize(
    "method", ["session/list", "turn/guide", "events/subscribe", "no/such/method", "recording/start"]
)
async def test_nothing_is_answered_before_it(connect: Connect, method: str) -> None:
    async with connect(initialize=False) as client:
        assert (await client.refused(method, workspaceId="w"))["code"] == "protocol.uninitialized"


async def test_requests_may_follow_it_without_waiting(connect: Connect, workspace: str) -> None:
    async with connect(initialize=False) as client:
        hello = await client.send("initialize", **HELLO)
        listed = await client.send("session/list", workspaceId=workspace)
        assert (await listed.result())["items"] == []
        assert hello.place < listed.place


async def test_clients_of_one_daemon_see_one_store(connect: Connect) -> None:
    async with connect() as one, connect() as other:
        assert one.hello["storeId"] == other.hello["storeId"]
        assert one.hello["serverInfo"] == other.hello["serverInfo"]
