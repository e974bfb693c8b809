"""Plain HTTP on the one port: health without a token, and who is let in to the WebSocket."""

import json
from typing import Any

import pytest

from tests.end_to_end.daemon import Daemon
from tests.end_to_end.fixtures import UPGRADE, token_of
from tests.end_to_end.plain_http import ask


def bearer(token: str) -> dict[str, str]:
    return {**UPGRADE, "Authorization": f"Bearer {token}"}


async def test_health_needs_no_token(daemon: Daemon) -> None:
    status, _, body = await ask(daemon, "/healthz")
    assert (status, body) == (200, b"ok\n")
    status, _, body = await ask(daemon, "/healthz", "HEAD")
    assert (status, body) == (200, b"")


async def test_a_right_token_is_let_in_and_the_protocol_selected(daemon: Daemon) -> None:
    for headers in (
        bearer(daemon.token),
        bearer(token_of("reader")),
        {**UPGRADE, "Sec-WebSocket-Protocol": f"greenroom.v1, greenroom.v1.bearer.{daemon.token}"},
        {**bearer(daemon.token), "Sec-WebSocket-Protocol": "other, greenroom.v1"},
    ):
        status, answer, _ = await ask(daemon, "/v1/ws", headers=headers)
        assert status == 101
        offered = "Sec-WebSocket-Protocol" in headers
        assert answer.get("Sec-WebSocket-Protocol") == ("greenroom.v1" if offered else None)
        assert "Sec-WebSocket-Extensions" not in answer, "no compression"
        assert daemon.token not in str(answer), "a token is never echoed"


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"Authorization": "Bearer wrong"},
        {"Authorization": "Bearer "},
        {"Authorization": "Basic dXNlcjpwYXNz"},
        {"Sec-WebSocket-Protocol": "greenroom.v1"},
        {"Sec-WebSocket-Protocol": "greenroom.v1, greenroom.v1.bearer.wrong"},
    ],
)
async def test_without_a_right_token_nobody_is_let_in(daemon: Daemon, headers: dict[str, str]) -> None:
    status, answer, body = await ask(daemon, "/v1/ws", headers={**UPGRADE, **headers})
    assert status == 401
    assert answer["WWW-Authenticate"] == "Bearer"
    assert daemon.token.encode() not in body


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "http://evil.example"},
        {"Origin": "null"},
        {"Origin": "http://127.0.0.1:1"},
        {"Host": "evil.example"},
        {"Host": "127.0.0.1.evil.example"},
    ],
)
async def test_a_foreign_page_or_name_is_turned_away_with_a_right_token(
    daemon: Daemon, headers: dict[str, str]
) -> None:
    for path in ("/v1/ws", "/healthz"):
        status, _, _ = await ask(daemon, path, headers={**bearer(daemon.token), **headers})
        assert status == 403


async def test_our_own_page_is_let_in(daemon: Daemon) -> None:
    for name in ("127.0.0.1", "localhost"):
        host = f"{name}:{daemon.port}"
        headers = {**bearer(daemon.token), "Origin": f"http://{host}", "Host": host}
        assert (await ask(daemon, "/v1/ws", headers=headers))[0] == 101


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", "/nothing/here", 404),
        ("GET", "/v1", 404),
        ("POST", "/healthz", 405),
        ("DELETE", "/healthz", 405),
        ("POST", "/v1/ws", 405),
        ("GET", "/healthz?verbose=1", 200),
    ],
)
async def test_other_paths_and_verbs(daemon: Daemon, method: str, path: str, status: int) -> None:
    assert (await ask(daemon, path, method))[0] == status


async def test_a_request_without_upgrade_is_told_to_upgrade(daemon: Daemon) -> None:
    status, answer, _ = await ask(daemon, "/v1/ws", headers={"Authorization": f"Bearer {daemon.token}"})
    assert (status, answer["Upgrade"]) == (426, "websocket")


async def test_the_ready_line_is_repeated_for_others_to_find(daemon: Daemon) -> None:
    announcement = daemon.data_dir / "daemon.json"
    assert json.loads(announcement.read_text()) == daemon.ready
    assert announcement.stat().st_mode & 0o777 == 0o600
    token_file: Any = daemon.data_dir / "token"
    assert token_file.stat().st_mode & 0o777 == 0o600
    assert set(daemon.ready) == {"event", "pid", "url", "console", "tokenFile", "dataDir"}
    assert daemon.ready["event"] == "ready"
    assert daemon.ready["pid"] == daemon.pid
