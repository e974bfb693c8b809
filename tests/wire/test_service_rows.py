"""One complete example of what the service tells of itself, and of a Side, written by hand from the contract."""

import orjson
import pytest

from runtime.wire import replies, rows
from runtime.wire.converter import structure, unstructure
from runtime.wire.limits import Limits
from store.canonical.identifiers import SessionKey

SIDE = {
    "workspaceId": "w",
    "agentSessionId": "side",
    "sourceAgentSessionId": "s",
    "sideAgentSessionId": "side",
    "surfaceId": "panel-1",
    "state": "open",
    "activeTurnId": None,
    "settings": {"model": "m"},
    "openedAt": 5,
}

TARGET = {
    "agentTargetId": "codex",
    "provider": "codex",
    "name": "Codex",
    "enabled": True,
    "program": {"found": True, "version": "1.2"},
    "auth": "authenticated",
    "capabilities": {
        "load": True,
        "imagePrompts": False,
        "embeddedContext": False,
        "interrupt": True,
        "guidance": False,
        "plan": False,
        "side": False,
    },
    "settings": [
        {
            "key": "sandbox",
            "values": [{"value": "read-only", "label": "Read only", "effect": "read_only"}],
            "default": None,
            "change": "next_turn",
        },
        {"key": "model", "values": None, "default": "m", "change": "now"},
    ],
}

HEALTH = {
    "status": "degraded",
    "problems": [
        {"code": "session.quarantined", "since": 5, "workspaceId": "w", "agentSessionId": "s"},
        {"code": "store.full", "since": 6},
    ],
    "store": {
        "state": "ok",
        "bytes": 4096,
        "walBytes": 0,
        "freeBytes": 1 << 40,
        "headCommitSeq": 9,
        "oldestCommitSeq": 1,
    },
    "live": {"connections": 1, "sessions": 2, "sides": 0, "turns": 1},
    "queues": {"writer": 0},
    "sweeper": {"pending": 0},
    "quarantined": [{"workspaceId": "w", "agentSessionId": "s"}],
    "commitSeq": 9,
}

INITIALIZED = {
    "protocolVersion": 1,
    "storeId": "store-1",
    "serverInfo": {"name": "greenroom", "version": "1.0", "instanceId": "i", "startedAt": 5},
    "capabilities": {"methods": ["initialize"], "topics": ["host.updated"], "features": [], "deprecated": []},
    "scope": "admin",
    "limits": orjson.loads(orjson.dumps(unstructure(Limits()))),
}

EXAMPLES = [
    (rows.Side, SIDE),
    (rows.Target, TARGET),
    (rows.Target, TARGET | {"capabilities": None, "program": {"found": False, "version": None}}),
    (replies.HealthReadReply, HEALTH),
    (replies.InitializeReply, INITIALIZED),
    (replies.EventsSubscribeReply, {"subscriptionId": 1, "commitSeq": 7, "gap": False}),
    (replies.VoidReply, {"commitSeq": 7}),
]


@pytest.mark.parametrize(("shape", "example"), EXAMPLES)
def test_the_service_shows_exactly_these_members(shape, example):
    row = structure(shape, example, "row")
    assert isinstance(row, shape), row
    assert orjson.loads(orjson.dumps(unstructure(row))) == example


def test_every_bound_of_the_contract_is_shown_with_its_default():
    mib = 1024 * 1024
    assert unstructure(Limits()) == {
        "maxFrameBytes": 16 * mib,
        "maxServerFrameBytes": 8 * mib,
        "maxProviderLineBytes": 32 * mib,
        "maxPageBytes": 4 * mib,
        "maxDeltaBytes": 64 * 1024,
        "maxMessageBytes": 4 * mib,
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
        "maxProviderDiscardBytes": 32 * mib,
        "maxProviderRecordBytes": 8 * mib,
        "maxProviderNoiseBytes": 10 * mib,
        "maxProviderUnwrittenBytes": 128 << 20,
        "providerLastReadsSeconds": 1,
        "providerStderrTailBytes": 16 << 10,
        "maxProviderDiagnostics": 50,
        "sessionLaneMessages": 1024,
        "sessionLaneControls": 64,
        "sessionLaneBytes": 8 * mib,
        "sessionRestarts": {"count": 3, "periodSeconds": 60},
        "maxClientConnections": 1024,
        "maxSubscriptionsPerConnection": 64,
        "helloTimeoutSeconds": 10,
        "idleReleaseSeconds": 1800,
        "initializeTimeoutSeconds": 60,
        "examineTimeoutSeconds": 15,
        "cancelGraceSeconds": 10,
        "turnReconcileSeconds": 60,
        "guideTimeoutSeconds": 15,
        "maxOpenGuides": 16,
        "maxOpenInteractions": 64,
        "maxInteractionBytes": 1048576,
        "maxSessionChildren": 256,
        "childStartSeconds": 10,
        "respondTimeoutSeconds": 15,
        "settingsTimeoutSeconds": 15,
        "maxSides": 1024,
        "maxSideTurns": 1000,
        "sideOpenTimeoutSeconds": 20,
        "sideOwnerGraceSeconds": 2,
        "maxSideTombstones": 1024,
        "lifecycleTimeoutSeconds": 30,
        "clientSendDeadlineSeconds": 10,
        "clientQueueBytes": 8 * mib,
        "clientCloseTimeoutSeconds": 2,
        "pingSeconds": 20,
        "maxInFlightRequests": 256,
        "checkpointSeconds": 10,
        "commitLogMaxAgeSeconds": 604_800,
        "commitLogMaxCount": 1_000_000,
        "commitLogMaxBytes": 1024 * mib,
        "storeReserveBytes": 16 * mib,
        "maxWalBytes": 128 * mib,
        "copyIntervalSeconds": 86_400,
        "copiesKept": 3,
        "maxSweeperPending": 256,
        "sweeperAttempts": 8,
        "deletedRetentionSeconds": 2_592_000,
        "deletedRetentionBytes": 1024 * mib,
        "maxAttachmentBytes": 10 * mib,
        "inquiryTimeoutSeconds": 20,
        "maxInquiries": 2,
        "catalogueFreshSeconds": 900,
        "usageFreshSeconds": 60,
        "maxAttachmentsPerPrompt": 8,
        "attachmentUnusedSeconds": 3600,
        "maxUnusedAttachmentBytes": 256 * mib,
        "maxWorktrees": 256,
        "worktreeFreeBytes": 1024 * mib,
        "worktreeTimeoutSeconds": 120,
        "maxConcurrentCheckouts": 2,
        "shutdownGraceSeconds": 10,
    }


def test_a_quarantined_session_is_named_by_its_whole_key():
    assert unstructure(SessionKey("w", "s")) == {"workspaceId": "w", "agentSessionId": "s"}
