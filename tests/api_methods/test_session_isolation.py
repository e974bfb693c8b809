"""`session/create` with a project and with a checkout of its own: real repositories, the real git."""

import os
from pathlib import Path
from typing import Any

import pytest

from tests.doubles.repositories import Repository, git
from tests.end_to_end.client import Client, Json
from tests.end_to_end.daemon import Daemon
from tests.end_to_end.fixtures import Connect, token_of
from tests.end_to_end.isolation import WORKTREE, isolated, project, refused_isolation
from tests.end_to_end.talk import DEMO, start


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    return Repository.made(tmp_path / "a repository, größer")


# --- projects -------------------------------------------------------------------------------------------------------


@pytest.mark.rule("ST-034")
async def test_a_session_of_a_project_works_in_it_and_keeps_its_place(
    client: Client, workspace: str, tmp_path: Path
) -> None:
    talk = await start(client, workspace, "[[say hello]]", railPlacement=project(f"{tmp_path}/./"))
    session = talk.created["session"]
    assert (session["cwd"], session["railSectionKey"]) == (str(tmp_path), f"project:{tmp_path}")
    assert session["isolation"] is None
    await client.settled(talk.turn)
    await client.request("session/rename", **talk.key, title="Elsewhere")
    rows = client.rows("session", agentSessionId=talk.session_id)
    assert {row["railSectionKey"] for row in rows} == {f"project:{tmp_path}"}


@pytest.mark.rule("ST-034")
async def test_a_directory_of_its_own_does_not_move_it_out_of_its_project(
    client: Client, workspace: str, tmp_path: Path
) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    talk = await start(client, workspace, railPlacement=project(tmp_path), cwd=str(elsewhere))
    session = talk.created["session"]
    assert (session["cwd"], session["railSectionKey"]) == (str(elsewhere), f"project:{tmp_path}")


@pytest.mark.rule("ST-035")
async def test_a_repeated_create_has_to_name_the_same_place(
    client: Client, workspace: str, tmp_path: Path
) -> None:
    params = {"workspaceId": workspace, "agentTargetId": DEMO, "clientSubmitId": "once"}
    one = await client.request("session/create", **params, railPlacement=project(tmp_path))
    again = await client.request("session/create", **params, railPlacement=project(tmp_path))
    assert again["session"] == one["session"]
    other = await client.refused("session/create", **params, railPlacement=project(tmp_path.parent))
    assert other["code"] == "submit.conflict"


@pytest.mark.rule("AP-008")
@pytest.mark.parametrize(
    ("placement", "code"),
    [
        ({"type": "project", "version": 1, "path": ""}, "request.invalid"),
        ({"type": "project", "version": 1, "path": "relative"}, "request.invalid"),
        ({"type": "project", "version": 2, "path": "/"}, "request.invalid"),
        ({"type": "project", "version": 1}, "request.invalid"),
        ({"type": "project", "version": 1, "path": "/no/such/project"}, "session.cwd_missing"),
    ],
)
async def test_a_place_that_is_none_is_refused_before_anything_exists(
    client: Client, workspace: str, placement: Json, code: str, daemon: Daemon
) -> None:
    before = daemon.providers()
    params = {"workspaceId": workspace, "agentTargetId": DEMO, "clientSubmitId": "once"}
    refused = await client.refused("session/create", **params, railPlacement=placement)
    assert (refused["code"], refused["delivery"]) == (code, "not_dispatched")
    assert (await client.request("session/list", workspaceId=workspace))["items"] == []
    assert daemon.providers() == before


# --- checkouts ------------------------------------------------------------------------------------------------------


@pytest.mark.rule("RT-058", "RT-062", "RT-063")
async def test_its_agent_works_on_a_branch_of_its_own_in_the_same_place_below_the_top(
    client: Client, workspace: str, repository: Repository, daemon: Daemon
) -> None:
    before = set(daemon.providers())
    inner = repository.path / "inner" / "project"
    talk = await start(client, workspace, "[[say hello]]", target="logged", **isolated(inner))
    session = talk.created["session"]
    isolation = session["isolation"]
    assert isolation == {
        "type": "worktree",
        "path": str(daemon.home / "greenroom" / "_worktrees" / workspace / talk.session_id),
        "branch": f"greenroom/{workspace}/{talk.session_id}",
        "baseCommit": repository.head,
    }
    assert session["cwd"] == f"{isolation['path']}/inner/project"
    assert session["railSectionKey"] == f"project:{inner}"
    assert (Path(session["cwd"]) / "file.txt").read_text() == "below"
    assert git(Path(session["cwd"]), "branch", "--show-current") == isolation["branch"]
    await client.settled(talk.turn)
    [process] = set(daemon.providers()) - before
    assert os.readlink(f"/proc/{process}/cwd") == session["cwd"]
    rows = client.rows("session", agentSessionId=talk.session_id)
    assert [row["isolation"] for row in rows] == [isolation] * len(rows)


@pytest.mark.rule("RT-061")
async def test_a_repeated_create_has_the_one_checkout_and_another_place_is_a_conflict(
    client: Client, workspace: str, repository: Repository
) -> None:
    params = {"workspaceId": workspace, "agentTargetId": DEMO, "clientSubmitId": "once"}
    one = await client.request("session/create", **params, **isolated(repository.path))
    again = await client.request("session/create", **params, **isolated(repository.path))
    assert again["session"] == one["session"]
    assert len(repository.checkouts) == 2
    other = await client.refused("session/create", **params, **isolated(repository.path / "inner"))
    assert other["code"] == "submit.conflict"
    assert len(repository.checkouts) == 2


async def test_sessions_of_one_repository_do_not_see_each_others_files(
    client: Client, workspace: str, repository: Repository
) -> None:
    one, other = [
        await start(client, workspace, clientSubmitId=name, **isolated(repository.path))
        for name in ("one", "other")
    ]
    (Path(one.created["session"]["cwd"]) / "mine.txt").write_text("x")
    assert not (Path(other.created["session"]["cwd"]) / "mine.txt").exists()
    assert not (repository.path / "mine.txt").exists()


async def test_it_begins_at_what_is_checked_out_even_beside_every_branch(
    client: Client, workspace: str, repository: Repository
) -> None:
    first = repository.head
    repository.write("top.txt", "changed")
    repository.commit("second")
    git(repository.path, "checkout", "--quiet", "--detach", first)
    talk = await start(client, workspace, **isolated(repository.path))
    assert talk.created["session"]["isolation"]["baseCommit"] == first
    assert (Path(talk.created["session"]["cwd"]) / "top.txt").read_text() == "top"


async def test_no_hook_of_the_repository_runs(
    client: Client, workspace: str, repository: Repository, tmp_path: Path
) -> None:
    hook = repository.path / ".git" / "hooks" / "post-checkout"
    hook.write_text(f"#!/bin/sh\ntouch '{tmp_path}/ran'\n")
    hook.chmod(0o755)
    await start(client, workspace, **isolated(repository.path))
    assert not (tmp_path / "ran").exists()


async def test_ids_that_git_takes_in_no_name_have_branches_all_the_same(
    client: Client, workspace: str, repository: Repository
) -> None:
    for identifier in ("a:b", "..", ".hidden.lock", "x.", "a..b"):
        talk = await start(
            client,
            workspace,
            agentSessionId=identifier,
            clientSubmitId=f"of {identifier}",
            **isolated(repository.path),
        )
        assert talk.created["session"]["isolation"]["branch"] in repository.branches
    assert len(repository.checkouts) == 6


# --- refusals -------------------------------------------------------------------------------------------------------


@pytest.mark.rule("RT-060")
@pytest.mark.parametrize("placement", [None, {"type": "conversations", "version": 1}])
async def test_without_a_project_there_is_no_checkout(
    client: Client, workspace: str, repository: Repository, placement: Json | None
) -> None:
    params = {"workspaceId": workspace, "agentTargetId": DEMO, "clientSubmitId": "once"}
    refused = await client.refused(
        "session/create",
        **params,
        cwd=str(repository.path),
        isolation=WORKTREE,
        railPlacement=placement,
    )
    assert (refused["code"], refused["details"]["path"]) == ("request.invalid", "params.railPlacement")
    assert repository.checkouts == [str(repository.path)]


def plain(folder: Path) -> Path:
    (folder / "plain").mkdir()
    return folder / "plain"


def bare(folder: Path) -> Path:
    (folder / "bare").mkdir()
    git(folder / "bare", "init", "--quiet", "--bare")
    return folder / "bare"


def unborn(folder: Path) -> Path:
    return Repository.made(folder / "unborn", commit=False).path


def with_submodule(folder: Path) -> Path:
    inner, outer = Repository.made(folder / "inner"), Repository.made(folder / "outer")
    git(outer.path, "submodule", "--quiet", "add", str(inner.path), "module")
    outer.commit("a module")
    return outer.path


def not_committed(folder: Path) -> Path:
    repository = Repository.made(folder / "repository")
    repository.write("new/file.txt", "x")
    return repository.path / "new"


def with_our_name_as_a_branch(folder: Path) -> Path:
    repository = Repository.made(folder / "repository")
    git(repository.path, "branch", "greenroom")
    return repository.path


@pytest.mark.parametrize(
    ("make", "reason"),
    [
        (plain, "not_a_repository"),
        (bare, "bare_repository"),
        (unborn, "unborn_branch"),
        (with_submodule, "submodules"),
        (not_committed, "project_not_committed"),
        (with_our_name_as_a_branch, "branch_taken"),
    ],
)
async def test_what_has_no_checkout_says_why_and_what_to_do(
    client: Client, workspace: str, tmp_path: Path, make: Any, reason: str
) -> None:
    path = make(tmp_path)
    refused = await refused_isolation(client, workspace, path)
    assert (refused["code"], refused["retryable"]) == ("isolation.refused", False)
    assert (refused["details"]["param"], refused["details"]["reason"]) == ("isolation", reason)
    assert refused["details"]["advice"]
    assert str(tmp_path) not in str(refused)


async def test_a_directory_outside_of_the_project_is_refused(
    client: Client, workspace: str, repository: Repository, tmp_path: Path
) -> None:
    refused = await refused_isolation(client, workspace, repository.path, cwd=str(tmp_path))
    assert (refused["code"], refused["details"]["path"]) == ("request.invalid", "params.cwd")


@pytest.mark.rule("RT-058")
async def test_what_the_target_does_not_take_is_refused_before_a_checkout_is_made(
    client: Client, workspace: str, repository: Repository
) -> None:
    refused = await refused_isolation(client, workspace, repository.path, settings={"colour": "red"})
    assert refused["code"] == "settings.invalid"
    assert repository.checkouts == [str(repository.path)]
    assert repository.branches == ["main"]


async def test_what_lies_in_its_place_is_left_alone(
    client: Client, workspace: str, repository: Repository, daemon: Daemon
) -> None:
    place = daemon.home / "greenroom" / "_worktrees" / workspace / "mine"
    place.mkdir(parents=True)
    (place / "somebody's.txt").write_text("x")
    refused = await refused_isolation(client, workspace, repository.path, agentSessionId="mine")
    assert refused["details"]["reason"] == "path_taken"
    assert (place / "somebody's.txt").read_text() == "x"


async def test_a_token_with_roots_works_in_checkouts_of_what_is_below_them_alone(
    client: Client, connect: Connect, workspace: str, repository: Repository, daemon: Daemon
) -> None:
    allowed = Repository.made(daemon.folder / "root" / workspace)
    async with connect(token=token_of("rooted")) as rooted:
        refused = await rooted.refused(
            "session/create",
            workspaceId=workspace,
            agentTargetId=DEMO,
            clientSubmitId="outside",
            **isolated(repository.path),
        )
        assert refused["code"] == "auth.forbidden"
        talk = await start(rooted, workspace, **isolated(allowed.path))
        await rooted.subscribe(workspace)
        assert (await talk.say("[[say hello]]"))["outcome"] == "completed"
