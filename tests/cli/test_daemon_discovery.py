"""Which daemon a command talks to: the one `daemon.json` names while it lives, else one of its own (contract §1)."""

import os
from contextlib import asynccontextmanager
from pathlib import Path

import attrs
import pytest
import trio

from greenroom_client import Announcement
from runtime.cli.commands import load, told
from runtime.cli.daemon_access import RUNNING, open_daemon, read_announcement
from runtime.cli.failures import CommandFailed
from runtime.service import StartRefused
from tests.cli.fake_daemon import TOKEN, FakeDaemon, announce, running
from tests.cli.streams import quiet_output

NOBODY_PID = 2**22 + 1
"""Beyond the largest process id Linux gives."""
NO_ACCESS = (
    "Next: run it as the user who runs the daemon, or name another --data-dir; greenroom doctor tells more"
)


@pytest.fixture
def embedded(monkeypatch):
    """Stands in for the controller in this process; `embedded.lives` tells how each of its lives ended."""

    @attrs.define
    class Embedded:
        lives: list[str] = attrs.field(factory=list)
        configurations: list[object] = attrs.field(factory=list)
        refusal: StartRefused | None = None

        @asynccontextmanager
        async def embed(self, configuration):
            self.configurations.append(configuration)
            if self.refusal is not None:
                raise self.refusal
            self.lives.append("started")
            yield self
            self.lives.append("stopped")

        @asynccontextmanager
        async def connect(self, options):
            yield Answering()

    class Answering:
        async def request(self, method, params):
            return {"status": "ok"}

    daemon = Embedded()
    monkeypatch.setattr("runtime.service.embedding.embed", daemon.embed)
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


async def test_without_a_daemon_one_is_embedded(data_dir, flags, embedded):
    output = quiet_output()
    assert await asked(flags, output) == 0
    assert output.stdout.getvalue().startswith('{"embedded":true')
    assert embedded.lives == ["started", "stopped"]
    (configuration,) = embedded.configurations
    assert configuration.data_dir == data_dir
    assert not configuration.enable_faults


@pytest.mark.parametrize("pid", [NOBODY_PID, os.getpid()], ids=["nobody", "somebody else"])
async def test_the_file_of_a_dead_daemon_is_passed_over(data_dir, flags, embedded, pid):
    """Its process is gone; or its id is another's by now, but nobody listens on its port."""
    with trio.socket.socket() as unused:
        await unused.bind(("127.0.0.1", 0))
        announce(data_dir, f"ws://127.0.0.1:{unused.getsockname()[1]}/v1/ws", pid)
        output = quiet_output()
        assert await asked(flags, output) == 0
    assert output.stdout.getvalue().startswith('{"embedded":true')


async def test_a_command_about_what_runs_now_embeds_nothing(data_dir, flags, embedded):
    async def body():
        async with open_daemon(load(flags), RUNNING):
            raise AssertionError("there is no daemon")

    output = quiet_output()
    assert await told(body, output) == 1
    assert output.stderr.getvalue() == (
        f"greenroom: no daemon runs on {data_dir}. Next: start it: greenroom serve --data-dir {data_dir}\n"
    )
    assert embedded.lives == []


async def test_the_token_is_read_for_nobody_but_the_announced_process(data_dir, flags, embedded):
    announce(data_dir, "ws://127.0.0.1:1/v1/ws", NOBODY_PID)
    (data_dir / "token").unlink()
    assert await asked(flags, quiet_output()) == 0
    assert embedded.lives == ["started", "stopped"]


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b"{}", b'{"pid": "x", "url": 1}', b"\xff"])
def test_a_file_that_is_none_of_ours_is_no_daemon(data_dir, content):
    data_dir.mkdir()
    (data_dir / "daemon.json").write_bytes(content)
    assert read_announcement(data_dir) is None


async def test_a_token_that_cannot_be_read_is_told(data_dir, flags, embedded):
    announce(data_dir, "ws://127.0.0.1:1/v1/ws", os.getpid())
    (data_dir / "token").unlink()
    output = quiet_output()
    assert await asked(flags, output) == 1
    assert output.stderr.getvalue() == (
        f"greenroom: the daemon does not let us in: token file {data_dir / 'token'}: cannot be read (No such file or "
        f"directory). {NO_ACCESS}\n"
    )
    assert embedded.lives == []


async def test_a_daemon_that_refuses_the_token_is_not_replaced_by_another(data_dir, flags, embedded):
    daemon, output = FakeDaemon(admits=False), quiet_output()
    async with running(daemon, data_dir):
        assert await asked(flags, output) == 1
    where = daemon.url.removeprefix("ws://").partition("/")[0]
    assert output.stderr.getvalue() == (
        f"greenroom: the daemon does not let us in: {where} answered 401: it does not know the token. {NO_ACCESS}\n"
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

    with pytest.raises(ZeroDivisionError):
        await told(body, quiet_output())


def test_a_process_of_another_user_counts_as_alive(monkeypatch):
    def not_ours(*_):
        raise PermissionError

    def announced(pid):
        return Announcement(pid, "ws://127.0.0.1:1/v1/ws", "token")

    assert announced(os.getpid()).alive
    assert not announced(NOBODY_PID).alive
    monkeypatch.setattr(os, "kill", not_ours)
    assert announced(1).alive


async def test_a_wrong_configuration_is_exit_code_2(flags, own_home):
    folder = Path(own_home) / ".config" / "greenroom"
    folder.mkdir(parents=True)
    (folder / "config.toml").write_text("colour = 1")
    output = quiet_output()
    assert await asked(flags, output) == 2
    assert output.stderr.getvalue().startswith(f"greenroom: {folder}/config.toml: colour: is unknown;")


async def test_white_space_around_the_token_is_no_part_of_it(data_dir, flags, embedded):
    """The fake admits nobody else."""
    daemon, output = FakeDaemon(answers={"health/read": {"status": "ok"}}), quiet_output()
    async with running(daemon, data_dir):
        (data_dir / "token").write_text(f"  {TOKEN}\n\n")
        assert await asked(flags, output) == 0
    assert embedded.lives == []
