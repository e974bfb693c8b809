"""`operation/get`: one durable operation of a session. What plans come to is shown with an agent that plans."""

import pytest

from tests.end_to_end.client import Client
from tests.end_to_end.talk import start


@pytest.mark.parametrize("operation_id", ["unknown", "x" * 200])
async def test_an_operation_that_is_not_there_says_so(
    client: Client, workspace: str, operation_id: str
) -> None:
    talk = await start(client, workspace)
    refused = await client.refused("operation/get", **talk.key, operationId=operation_id)
    assert refused["code"] == "operation.not_found"


async def test_a_session_that_is_not_there_or_deleted_says_so(client: Client, workspace: str) -> None:
    talk = await start(client, workspace)
    unknown = {**talk.key, "agentSessionId": "unknown"}
    refused = await client.refused("operation/get", **unknown, operationId="o")
    assert refused["code"] == "session.not_found"
    await client.request("session/delete", workspaceId=workspace, agentSessionIds=[talk.session_id])
    refused = await client.refused("operation/get", **talk.key, operationId="o")
    assert refused["code"] == "session.deleted"


@pytest.mark.parametrize("params", [{}, {"operationId": ""}, {"operationId": "x" * 201}, {"operationId": 5}])
async def test_the_operation_must_be_named(client: Client, workspace: str, params: dict[str, object]) -> None:
    talk = await start(client, workspace)
    refused = await client.refused("operation/get", **talk.key, **params)
    assert (refused["code"], refused["details"]["path"]) == ("request.invalid", "params.operationId")
