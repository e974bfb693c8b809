"""Typed requests to a real daemon: connecting in each way, results, refusals, many at once, giving up."""

import greenroom_client
from tests.client.loops import on_both_loops
from tests.end_to_end.daemon import Daemon


@on_both_loops
async def test_a_session_is_created_and_read_by_typed_calls(daemon: Daemon, workspace: str):
    async with greenroom_client.connect(daemon.ready["url"], token=daemon.token) as client:
        assert client.state == "connected"
        assert client.hello["protocolVersion"] == 1
        created = await client.session_create(
            workspace_id=workspace,
            agent_target_id="demo",
            client_submit_id=greenroom_client.new_submit_id(),
            initial_content=greenroom_client.prompt("hello"),
        )
        session_id = created["session"]["agentSessionId"]
        turn = await greenroom_client.wait_for_turn(
            client, workspace_id=workspace, agent_session_id=session_id, turn_id=created["turn"]["turnId"]
        )
        assert turn["outcome"] == "completed"
        listed = await client.session_list(workspace_id=workspace)
        assert [item["agentSessionId"] for item in listed["items"]] == [session_id]


@on_both_loops
async def test_a_prompt_streams_to_its_end(daemon: Daemon, workspace: str):
    async with greenroom_client.connect_to_daemon(daemon.data_dir) as client:
        created = await client.session_create(
            workspace_id=workspace, agent_target_id="demo", client_submit_id=greenroom_client.new_submit_id()
        )
        session_id = created["session"]["agentSessionId"]
        text = ""
        async with greenroom_client.send_and_stream(
            client,
            workspace_id=workspace,
            agent_session_id=session_id,
            content="[[stream 200]] [[say the end]]",
        ) as turn:
            async for piece in turn:
                if isinstance(piece, greenroom_client.TextPiece):
                    text += piece.text
        assert turn.turn["outcome"] == "completed"
        assert text.endswith("the end")
