"""Checkouts of sessions when the daemon is killed on the way, and when git is not there or does not do as it should."""

import os
import shutil
from pathlib import Path
from typing import Any

import pytest
import trio

from runtime.failpoints import POINTS
from tests.doubles.repositories import Repository
from tests.end_to_end.client import Client, Json, connected
from tests.end_to_end.daemon import PATH, Daemon
from tests.end_to_end.fixtures import MakeDaemon
from tests.end_to_end.talk import DEMO, start

MAKING = ["worktree.marker.before", "worktree.marker.after", "worktree.checkout.after"]
REMOVING = ["worktree.removal.before", "worktree.removal.after"]


def params_of(repository: Repository, **changes: Any) -> Json:
    return {
        "workspaceId": "w",
        "agentTargetId": DEMO,
        "agentSessionId": "mine",
        "clientSubmitId": "once",
        "isolation": {"type": "worktree"},
        "railPlacement": {"type": "project", "version": 1, "path": str(repository.path)},
        **changes,
    }


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    return Repository.made(tmp_path / "repository")


async def left_in_the_end(repository: Repository, checkouts: int = 0) -> None:
    """Until the repository has so many checkouts beside itself, and as many branches: those go last."""
    with trio.fail_after(15):
        while (len(repository.checkouts), len(repository.branches)) != (checkouts + 1, checkouts + 1):
            await trio.sleep(0.05)


async def killed_at(daemon: Daemon, client: Client, point: str, method: str, params: Json) -> None:
    """The daemon dies at this point on the way of a command, and is started again."""
    await client.request("fault/inject", name=point, action="kill")
    await client.send(method, **params)
    daemon.reap()
    daemon.start()


@pytest.mark.rule("RT-061")
async def test_a_kill_while_a_checkout_is_made_leaves_nothing_and_the_same_create_makes_it(
    make_daemon: MakeDaemon, repository: Repository
) -> None:
    daemon = make_daemon(options=("--enable-faults",))
    for made, point in enumerate(MAKING):
        params = params_of(repository, clientSubmitId=point, agentSessionId=point)
        async with connected(daemon) as client:
            await killed_at(daemon, client, point, "session/create", params)
        await left_in_the_end(repository, made)
        async with connected(daemon) as client:
            created = await client.request("session/create", **params)
            assert Path(created["session"]["cwd"], "top.txt").read_text() == "top"
            listed = await client.request("session/list", workspaceId="w")
            assert len(listed["items"]) == made + 1
    assert len(repository.checkouts) == len(MAKING) + 1


async def test_a_kill_while_a_checkout_is_taken_away_is_made_up_for(
    make_daemon: MakeDaemon, repository: Repository
) -> None:
    daemon = make_daemon(options=("--enable-faults",))
    for point in REMOVING:
        async with connected(daemon) as client:
            await client.request("session/create", **params_of(repository))
            named = {"workspaceId": "w", "agentSessionIds": ["mine"]}
            await client.request("session/delete", **named)
            await killed_at(daemon, client, point, "session/purge", named)
        await left_in_the_end(repository)


def test_every_failpoint_of_checkouts_is_tried() -> None:
    assert {point.name for point in POINTS if point.name.startswith("worktree.")} == {*MAKING, *REMOVING}


async def test_a_session_that_was_there_keeps_its_checkout_over_a_kill(
    make_daemon: MakeDaemon, repository: Repository
) -> None:
    daemon = make_daemon()
    async with connected(daemon) as client:
        created = await client.request("session/create", **params_of(repository))
    (Path(created["session"]["cwd"]) / "work.txt").write_text("in the middle")
    daemon.kill()
    daemon.start()
    async with connected(daemon) as client:
        again = await client.request("session/create", **params_of(repository))
        assert again["session"]["isolation"] == created["session"]["isolation"]
        key = {"workspaceId": "w", "agentSessionId": "mine"}
        await client.subscribe("w")
        sent = await client.request(
            "session/send",
            **key,
            clientSubmitId="send",
            content=[{"type": "text", "text": "[[say hello]]"}],
        )
        assert (await client.settled(sent["turn"]))["outcome"] == "completed"
    assert (Path(created["session"]["cwd"]) / "work.txt").read_text() == "in the middle"


async def test_what_was_kept_goes_once_it_is_safe(make_daemon: MakeDaemon, repository: Repository) -> None:
    daemon = make_daemon()
    async with connected(daemon) as client:
        created = await client.request("session/create", **params_of(repository))
        checkout = Repository(Path(created["session"]["isolation"]["path"]))
        checkout.write("work.txt", "x")
        named = {"workspaceId": "w", "agentSessionIds": ["mine"]}
        await client.request("session/delete", **named)
        [kept] = (await client.request("session/purge", **named))["keptWorktrees"]
        assert kept["because"] == "changes"
    checkout.commit("safe now")
    daemon.restart()
    with trio.fail_after(15):
        while checkout.path.exists():
            await trio.sleep(0.05)
    assert kept["branch"] in repository.branches


async def test_a_repository_that_is_gone_leaves_its_checkout(
    make_daemon: MakeDaemon, repository: Repository
) -> None:
    daemon = make_daemon()
    async with connected(daemon) as client:
        created = await client.request("session/create", **params_of(repository))
        shutil.rmtree(repository.path)
        named = {"workspaceId": "w", "agentSessionIds": ["mine"]}
        await client.request("session/delete", **named)
        [kept] = (await client.request("session/purge", **named))["keptWorktrees"]
    assert kept["because"] == "repository_missing"
    assert Path(created["session"]["cwd"], "top.txt").exists()


async def test_there_are_no_more_checkouts_than_allowed_and_none_on_a_full_disk(
    make_daemon: MakeDaemon, repository: Repository
) -> None:
    daemon = make_daemon({"limits": {"maxWorktrees": 1}})
    async with connected(daemon) as client:
        await client.request("session/create", **params_of(repository))
        second = params_of(repository, agentSessionId="second", clientSubmitId="second")
        refused = await client.refused("session/create", **second)
        assert (refused["code"], refused["details"]) == ("limit.exceeded", {"limit": "maxWorktrees"})
        plain = {**second, "isolation": None}
        assert (await client.request("session/create", **plain))["session"]["isolation"] is None
    daemon.stop()
    daemon.settings = {"limits": {"worktreeFreeBytes": 1 << 52}}
    daemon.start()
    async with connected(daemon) as client:
        third = params_of(repository, agentSessionId="third", clientSubmitId="third")
        refused = await client.refused("session/create", **third)
        assert (refused["code"], refused["details"]) == ("limit.exceeded", {"limit": "worktreeFreeBytes"})


# --- a git that is not as it should be --------------------------------------------------------------------------------


def git_that(folder: Path, does: str) -> str:
    """A PATH whose `git` does this first."""
    real = shutil.which("git")
    folder.mkdir()
    program = folder / "git"
    program.write_text(f'#!/bin/sh\n{does}\nexec {real} "$@"\n')
    program.chmod(0o755)
    return f"{folder}:{PATH}"


async def refused_with(daemon: Daemon, repository: Repository) -> Json:
    async with connected(daemon) as client:
        refused = await client.refused("session/create", **params_of(repository))
        assert (await client.request("session/list", workspaceId="w"))["items"] == []
        assert (await start(client, "w")).session_id
    assert repository.checkouts == [str(repository.path)]
    return refused


async def test_without_git_everything_else_works(
    make_daemon: MakeDaemon, repository: Repository, tmp_path: Path
) -> None:
    (tmp_path / "empty").mkdir()
    daemon = make_daemon(environment={"PATH": str(tmp_path / "empty")})
    refused = await refused_with(daemon, repository)
    assert (refused["code"], refused["details"]["reason"]) == ("isolation.refused", "git_missing")


async def test_a_repository_of_another_user_is_not_touched(
    make_daemon: MakeDaemon, repository: Repository, tmp_path: Path
) -> None:
    path = git_that(tmp_path / "bin", "export GIT_TEST_ASSUME_DIFFERENT_OWNER=1")
    refused = await refused_with(make_daemon(environment={"PATH": path}), repository)
    assert (refused["code"], refused["details"]["reason"]) == ("isolation.refused", "foreign_owner")


async def test_a_git_that_hangs_is_ended_in_time_and_what_it_began_is_taken_away(
    make_daemon: MakeDaemon, repository: Repository, tmp_path: Path
) -> None:
    hangs = f'case "$*" in *"worktree add"*) {shutil.which("git")} "$@"; exec sleep 1000;; esac'
    path = git_that(tmp_path / "bin", hangs)
    daemon = make_daemon({"limits": {"worktreeTimeoutSeconds": 1}}, environment={"PATH": path})
    async with connected(daemon) as client:
        refused = await client.refused("session/create", **params_of(repository))
        assert (refused["code"], refused["delivery"]) == ("provider.timeout", "not_dispatched")
    await left_in_the_end(repository)


async def test_what_git_says_goes_to_the_log_without_secrets_and_to_no_client(
    make_daemon: MakeDaemon, repository: Repository, tmp_path: Path
) -> None:
    complains = (
        'case "$*" in *"worktree add"*) echo first >&2; '
        "echo fatal: https://me:hunter2hunter2@example.org >&2; exit 1;; esac"
    )
    daemon = make_daemon(environment={"PATH": git_that(tmp_path / "bin", complains)})
    async with connected(daemon) as client:
        refused = await client.refused("session/create", **params_of(repository))
    assert refused["details"]["reason"] == "git_failed"
    assert "example.org" not in str(refused)
    [line] = [one for one in daemon.log_lines() if one.get("event") == "git would not"]
    assert line["said"] == "fatal: https://[redacted]@example.org"


async def test_no_variable_of_git_leads_it_elsewhere(
    make_daemon: MakeDaemon, repository: Repository, tmp_path: Path
) -> None:
    other = Repository.made(tmp_path / "other")
    leads = {
        "GIT_DIR": str(other.path / ".git"),
        "GIT_WORK_TREE": str(other.path),
        "GIT_CEILING_DIRECTORIES": "/",
    }
    daemon = make_daemon(environment=leads)
    async with connected(daemon) as client:
        created = await client.request("session/create", **params_of(repository))
    assert created["session"]["isolation"]["baseCommit"] == repository.head
    assert (len(repository.checkouts), other.checkouts) == (2, [str(other.path)])
    assert os.path.isdir(created["session"]["cwd"])
