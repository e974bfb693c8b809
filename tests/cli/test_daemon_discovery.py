"""Which daemon a command talks to: the one `daemon.json` names while it lives, else one of its own (contract §1)."""

import os
from functools import partial
from pathlib import Path

import pytest
import trio

from runtime.cli.commands import load, told
from runtime.cli.daemon_access import is_alive, open_daemon, read_announcement, running_daemon
from runtime.cli.failures import CommandFailed
from runtime.service import ReadyLine, StartRefused
from tests.cli.fake_daemon import TOKEN, FakeDaemon, announce, running
from tests.cli.streams import quiet_output

NOBODY_PID = 2**22 + 1
"""Beyond the largest process id Linux gives."""


@pytest.fixture
def embedded(monkeypatch, data_dir):
    """Stands in for the service in this process; `embedded.lives` tells how each of its lives ended."""

    class Embedded(FakeDaemon):
        lives: list[str]
        configurations: list[object]
        refusal: StartRefused | None

    daemon = Embedded()
    daemon.lives, daemon.configurations, daemon.refusal = [], [], None

    async def serve(configuration, *, ready, stop):
        daemon.configurations.append(configuration)
        if daemon.refusal is not None:
            raise daemon.refusal
        daemon.lives.append("started")
        async with running(daemon, data_dir):
            ready(ReadyLine(os.getpid(), daemon.url, None, str(data_dir / "token"), str(data_dir)))
            await stop.wait()
        daemon.lives.append("stopped")

    monkeypatch.setattr("runtime.service.serve", serve)
    monkeypatch.setattr("runtime.observability.logging.configure_logging", lambda *_, **__: None)
    return daemon


async def asked(flags, output):
    async def body():
        async with open_daemon(load(flags)) as daemon:
            reply = await daemon.client.request("health/read", {})
            output.document({"embedded": daemon.embedded, **reply})
        return 0

    with trio.fail_after(20):
        return await told(body, output)


async def test_the_running_daemon_is_found_by_its_file(data_dir, flags, embedded):
    daemon, output = FakeDaemon(answers={"health/read": {"status": "ok"}}), quiet_output()
    async with running(daemon, data_dir):
        assert await asked(flags, output) == 0
    assert output.stdout.getvalue() == '{"embedded":false,"status":"ok"}\n'
    assert embedded.lives == []


async def test_without_a_daemon_one_is_embedded_on_a_free_loopback_port(data_dir, flags, embedded):
    output = quiet_output()
    assert await asked(flags, output) == 0
    assert output.stdout.getvalue().startswith('{"embedded":true')
    assert embedded.lives == ["started", "stopped"]
    (configuration,) = embedded.configurations
    assert str(configuration.listen) == "127.0.0.1:0"
    assert configuration.data_dir == data_dir
    assert not configuration.allow_remote


@pytest.mark.parametrize("pid", [NOBODY_PID, os.getpid()], ids=["nobody", "somebody else"])
async def test_the_file_of_a_dead_daemon_is_passed_over(data_dir, flags, embedded, pid):
    """Its process is gone; or its id is another's by now, but nobody listens on its port."""
    with trio.socket.socket() as unused:
        await unused.bind(("127.0.0.1", 0))
        announce(data_dir, f"ws://127.0.0.1:{unused.getsockname()[1]}/v1/ws", pid)
        output = quiet_output()
        assert await asked(flags, output) == 0
    assert output.stdout.getvalue().startswith('{"embedded":true')


def test_the_token_is_read_for_nobody_but_the_announced_process(data_dir, flags):
    announce(data_dir, "ws://127.0.0.1:1/v1/ws", NOBODY_PID)
    (data_dir / "token").unlink()
    assert running_daemon(load(flags)) is None


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b"{}", b'{"pid": "x", "url": 1}', b"\xff"])
def test_a_file_that_is_none_of_ours_is_no_daemon(data_dir, content):
    data_dir.mkdir()
    (data_dir / "daemon.json").write_bytes(content)
    assert read_announcement(data_dir) is None


def test_a_token_that_cannot_be_read_is_told(data_dir, flags):
    announce(data_dir, "ws://127.0.0.1:1/v1/ws", os.getpid())
    (data_dir / "token").unlink()
    with pytest.raises(CommandFailed) as raised:
        running_daemon(load(flags))
    assert raised.value.what == f"token file {data_dir / 'token'}: cannot be read (No such file or directory)"


async def test_a_daemon_that_refuses_the_token_is_not_replaced_by_another(data_dir, flags, embedded):
    daemon, output = FakeDaemon(admits=False), quiet_output()
    async with running(daemon, data_dir):
        assert await asked(flags, output) == 1
    assert output.stderr.getvalue() == (
        f"greenroom: the daemon does not let us in: {daemon.url} answered 401. "
        "Next: check that the token file of the data directory is the daemon's: greenroom doctor\n"
    )
    assert embedded.lives == []


@pytest.mark.case("FC-32")
async def test_an_embedded_daemon_that_must_not_start_ends_with_its_exit_code(flags, embedded):
    embedded.refusal = StartRefused(3, "/data is in use by process 7; stop it, or choose another --data-dir")
    output = quiet_output()
    assert await asked(flags, output) == 3
    assert output.stderr.getvalue() == (
        "greenroom: /data is in use by process 7; stop it, or choose another --data-dir\n"
    )


async def test_a_failure_in_the_middle_still_ends_the_embedded_daemon(data_dir, flags, embedded):
    output = quiet_output()

    async def body():
        async with open_daemon(load(flags)):
            raise CommandFailed("it broke")

    assert await told(body, output) == 1
    assert output.stderr.getvalue() == "greenroom: it broke\n"
    assert embedded.lives == ["started"]


async def test_a_bug_is_raised_not_told(data_dir, flags, embedded):
    async def body():
        async with open_daemon(load(flags)):
            raise ZeroDivisionError

    with pytest.raises(BaseExceptionGroup) as raised:
        await told(body, quiet_output())
    assert raised.group_contains(ZeroDivisionError)


def test_a_process_of_another_user_counts_as_alive(monkeypatch):
    def not_ours(*_):
        raise PermissionError

    assert is_alive(os.getpid())
    assert not is_alive(NOBODY_PID)
    monkeypatch.setattr(os, "kill", not_ours)
    assert is_alive(1)


async def test_a_wrong_configuration_is_exit_code_2(flags, own_home):
    folder = Path(own_home) / ".config" / "greenroom"
    folder.mkdir(parents=True)
    (folder / "config.toml").write_text("colour = 1")
    output = quiet_output()
    assert await asked(flags, output) == 2
    assert output.stderr.getvalue().startswith(f"greenroom: {folder}/config.toml: colour: is unknown;")


async def test_the_token_travels_in_the_head_of_the_request(data_dir, flags):
    """The fake admits nobody else; this shows that white space around the token is no part of it."""
    announce(data_dir, "ws://127.0.0.1:1/v1/ws", os.getpid())
    (data_dir / "token").write_text(f"  {TOKEN}\n\n")
    endpoint = running_daemon(load(flags))
    assert endpoint.token == TOKEN
    assert TOKEN not in repr(endpoint)
    assert partial(repr, endpoint)() == repr(endpoint)
