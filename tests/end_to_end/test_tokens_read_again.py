"""SIGHUP reads the tokens again: a removed one closes its connections, the others notice nothing (`contract §2`)."""

import signal

import pytest
import trio

from tests.end_to_end.client import connected
from tests.end_to_end.fixtures import MakeDaemon, token_of
from tests.end_to_end.plain_http import ask

CLOSE_REVOKED = 1008


@pytest.mark.case("FC-36")
async def test_a_rotated_token_closes_its_connections_and_the_new_one_is_taken(
    make_daemon: MakeDaemon, tmp_path
):
    token_file = tmp_path / "api.token"
    token_file.write_text("b2xkLXRva2Vu")
    token_file.chmod(0o600)
    settings = {"tokens": [{"name": "api", "tokenFile": str(token_file), "scope": "control"}]}
    daemon = make_daemon(settings=settings)
    async with connected(daemon) as admin, connected(daemon, token="b2xkLXRva2Vu") as api:
        token_file.write_text("bmV3LXRva2Vu")
        daemon.signal(signal.SIGHUP)
        assert (await api.end())[0] == CLOSE_REVOKED
        async with connected(daemon, token="bmV3LXRva2Vu") as renewed:
            assert renewed.hello["scope"] == "control"
        token_file.chmod(0o644)
        daemon.signal(signal.SIGHUP)
        assert (await admin.request("health/read"))["status"] == "ok"


@pytest.mark.case("FC-36")
async def test_a_token_that_allows_something_else_now_is_closed_and_comes_back_with_what_holds(
    make_daemon: MakeDaemon, tmp_path
):
    token_file = tmp_path / "api.token"
    token_file.write_text(token_of("api"))
    token_file.chmod(0o600)
    token = {"name": "api", "tokenFile": str(token_file), "scope": "control"}
    daemon = make_daemon({"tokens": [token]})
    daemon.settings = {"tokens": [{**token, "workspaces": ["v"], "requestsPerSecond": 1}]}
    daemon.write_settings()
    async with connected(daemon) as admin, connected(daemon, token=token_of("api")) as api:
        await api.request("session/list", workspaceId="w")
        daemon.signal(signal.SIGHUP)
        assert await api.end() == (CLOSE_REVOKED, "token revoked")
        async with connected(daemon, token=token_of("api")) as again:
            refused = await again.refused("session/list", workspaceId="w")
            assert refused["details"]["limit"] == "requestsPerSecond", "initialize was one request"
            with trio.fail_after(10):
                while refused["code"] == "limit.exceeded":
                    await trio.sleep(refused["retryAfterMs"] / 1000)
                    refused = await again.refused("session/list", workspaceId="w")
            assert refused["code"] == "auth.forbidden"
        daemon.settings = {}
        daemon.write_settings()
        daemon.signal(signal.SIGHUP)
        with trio.fail_after(10):
            while (await ask(daemon, "/v1/ws", headers=bearer("api")))[0] != 401:
                await trio.sleep(0.05)
        assert (await admin.request("health/read"))["status"] == "ok"
        assert admin.closed is None


def bearer(name: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token_of(name)}"}
