"""Typed requests to a real daemon: connecting in each way, results, refusals, many at once, giving up."""

import socket
from pathlib import Path

import anyio
import anyio.lowlevel
import anyio.to_thread
import pytest

import greenroom_client
from greenroom_client import (
    AccessRefused,
    ClientOptions,
    ConnectionLost,
    DaemonUnreachable,
    GreenroomError,
    connect,
    connect_to_daemon,
    connect_unix,
)
from tests.client.loops import on_both_loops
from tests.end_to_end.daemon import Daemon
from tests.end_to_end.fixtures import MakeDaemon, token_of

TLS = Path(__file__).parent.parent / "api" / "transport" / "tls"


@on_both_loops
async def test_a_session_is_created_and_read_by_typed_calls(daemon: Daemon, workspace: str):
    async with connect(daemon.ready["url"], token=daemon.token) as client:
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
async def test_a_daemon_is_found_by_its_data_directory(daemon: Daemon):
    async with connect_to_daemon(daemon.data_dir) as client:
        assert (await client.health_read())["status"] == "ok"


@on_both_loops
async def test_a_daemon_is_reached_by_its_unix_socket(make_daemon: MakeDaemon, tmp_path: Path):
    path = tmp_path / "socket"
    daemon = make_daemon(listen=f"unix:{path}")
    async with connect_unix(path, token=daemon.token) as client:
        assert client.hello["scope"] == "admin"
    async with connect(daemon.ready["url"], token=daemon.token) as client:
        assert client.state == "connected"


@on_both_loops
async def test_a_daemon_with_tls_is_known_by_its_very_certificate(make_daemon: MakeDaemon):
    settings = {"tlsCertificate": str(TLS / "certificate.pem"), "tlsKey": str(TLS / "key.pem")}
    daemon = make_daemon(settings)
    certificate = TLS / "certificate.pem"
    async with connect_to_daemon(daemon.data_dir, certificate=certificate) as client:
        assert (await client.health_read())["status"] == "ok"
    with pytest.raises(AccessRefused, match="no TLS"):
        async with connect(daemon.ready["url"], token=daemon.token):
            pass


@on_both_loops
async def test_a_token_goes_to_no_other_program_that_has_the_port_by_now(
    make_daemon: MakeDaemon, tmp_path: Path
):
    daemon = make_daemon()
    port = daemon.port
    await anyio.to_thread.run_sync(daemon.kill)
    assert (daemon.data_dir / "daemon.json").exists()
    with socket.create_server(("127.0.0.1", port)), pytest.raises(DaemonUnreachable, match="has ended"):
        async with connect_to_daemon(daemon.data_dir):
            pass


@on_both_loops
async def test_a_wrong_token_is_refused_for_good(daemon: Daemon):
    with pytest.raises(AccessRefused, match="401"):
        async with connect(daemon.ready["url"], token=token_of("nobody")):
            pass


@on_both_loops
async def test_nobody_there_is_told_as_such(tmp_path: Path):
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    for opening in (
        connect(f"ws://127.0.0.1:{port}/v1/ws", token="t"),
        connect_unix(tmp_path / "none", token="t"),
        connect_to_daemon(tmp_path),
    ):
        with pytest.raises(DaemonUnreachable):
            async with opening:
                pass


@pytest.mark.rule("AP-005")
@on_both_loops
async def test_a_refusal_is_raised_with_all_that_the_daemon_says_of_it(daemon: Daemon, workspace: str):
    async with connect_to_daemon(daemon.data_dir) as client:
        with pytest.raises(GreenroomError) as refused:
            await client.session_get(workspace_id=workspace, agent_session_id="none")
        assert (refused.value.method, refused.value.code) == ("session/get", "session.not_found")
        assert (refused.value.retryable, refused.value.delivery) == (False, "not_dispatched")
        assert refused.value.retry_after_seconds is None
        with pytest.raises(GreenroomError) as invalid:
            await client.request("session/get", {"workspaceId": workspace, "agentSessionId": "a b"})
        assert invalid.value.code == "request.invalid"
        assert invalid.value.details["path"].endswith("agentSessionId")


@on_both_loops
async def test_a_token_that_may_only_read_is_told_so_with_each_command(daemon: Daemon, workspace: str):
    async with connect(daemon.ready["url"], token=token_of("reader")) as client:
        assert client.hello["scope"] == "read"
        with pytest.raises(GreenroomError, match=r"auth\.forbidden"):
            await client.session_create(
                workspace_id=workspace, agent_target_id="demo", client_submit_id="one"
            )
        assert (await client.session_list(workspace_id=workspace))["items"] == []


@on_both_loops
async def test_requests_beyond_the_bound_wait_for_their_turn(daemon: Daemon, workspace: str):
    answered: list[int] = []

    async def ask(client: greenroom_client.Client, number: int) -> None:
        await client.session_list(workspace_id=workspace)
        answered.append(number)

    async with connect_to_daemon(daemon.data_dir, options=ClientOptions(requests_max=3)) as client:
        async with anyio.create_task_group() as tasks:
            for number in range(400):  # more than the daemon takes at once
                tasks.start_soon(ask, client, number)
    assert sorted(answered) == list(range(400))


@on_both_loops
async def test_a_cancelled_call_forgets_its_reply_and_the_connection_lives(daemon: Daemon, workspace: str):
    async with connect_to_daemon(daemon.data_dir, options=ClientOptions(requests_max=1)) as client:
        hello = client.hello["serverInfo"]["instanceId"]
        for _ in range(5):
            with anyio.move_on_after(0):
                await client.session_list(workspace_id=workspace)
        with anyio.CancelScope() as scope:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(lambda: client.session_list(workspace_id=workspace))
                await anyio.lowlevel.checkpoint()
                scope.cancel()
        assert (await client.session_list(workspace_id=workspace))["items"] == []
        assert client.hello["serverInfo"]["instanceId"] == hello


@on_both_loops
async def test_a_frame_the_daemon_would_hang_up_for_is_not_sent(make_daemon: MakeDaemon):
    daemon = make_daemon({"limits": {"maxFrameBytes": 1_000_000}})
    async with connect_to_daemon(daemon.data_dir) as client:
        with pytest.raises(GreenroomError) as refused:
            await client.session_create(
                workspace_id="w",
                agent_target_id="demo",
                client_submit_id="one",
                initial_content=greenroom_client.prompt("x" * 1_000_000),
            )
        assert (refused.value.code, refused.value.delivery) == ("request.too_large", "not_dispatched")
        assert (await client.session_list(workspace_id="w"))["items"] == []


@on_both_loops
async def test_what_the_body_raises_leaves_as_it_is(daemon: Daemon):
    with pytest.raises(KeyError, match="mine"):
        async with connect_to_daemon(daemon.data_dir) as client, client.subscribe("w"):
            raise KeyError("mine")


@on_both_loops
async def test_a_client_that_was_left_says_so(daemon: Daemon):
    async with connect_to_daemon(daemon.data_dir) as client:
        pass
    assert client.state == "closed"
    with pytest.raises(ConnectionLost, match="left"):
        await client.health_read()
    with pytest.raises(ConnectionLost, match="left"):
        async with client.subscribe("w"):
            pass


@on_both_loops
async def test_a_subscription_that_was_left_says_so(daemon: Daemon, workspace: str):
    async with connect_to_daemon(daemon.data_dir) as client:
        async with client.subscribe(workspace) as events:
            pass
        with pytest.raises(ConnectionLost, match="left"):
            await anext(events)


@pytest.mark.rule("AP-038")
@on_both_loops
async def test_an_approval_is_answered_by_its_whole_identity(daemon: Daemon, workspace: str):
    async with connect_to_daemon(daemon.data_dir) as client:
        created = await client.session_create(
            workspace_id=workspace, agent_target_id="demo", client_submit_id="one"
        )
        asked = 0
        async with greenroom_client.send_and_stream(
            client,
            workspace_id=workspace,
            agent_session_id=created["session"]["agentSessionId"],
            content="[[tool look]] [[plan a;b]] [[ask allow_once,reject_once]] [[say allowed]]",
        ) as turn:
            pieces = [type(piece).__name__ async for piece in answering(client, turn)]
            asked = pieces.count("Asked")
        assert turn.turn["outcome"] == "completed"
        assert asked == 1
        assert {"ToolPiece", "PlanPiece", "Asked", "NoLongerAsked", "TextPiece"} <= set(pieces)


async def answering(client: greenroom_client.Client, turn: greenroom_client.TurnStream):
    """The pieces of a turn, each approval answered with its first option."""
    async for piece in turn:
        yield piece
        if isinstance(piece, greenroom_client.Asked):
            option = piece.interaction["options"][0]["optionId"]
            answered = await greenroom_client.answer_option(client, piece.interaction, option)
            assert answered["status"] == "answered"
