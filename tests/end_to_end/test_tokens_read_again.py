"""SIGHUP reads the tokens again: a removed one closes its connections, the others notice nothing (`contract §2`)."""

import signal

import pytest

from tests.end_to_end.client import connected
from tests.end_to_end.fixtures import MakeDaemon

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
