"""What becomes of a session's checkout when the session is purged: clean ones go, work stays and is told of."""

import subprocess
from pathlib import Path

import pytest
import trio

from tests.doubles.repositories import Repository, git
from tests.end_to_end.client import Client, Json
from tests.end_to_end.isolation import isolated, refused_isolation
from tests.end_to_end.talk import Talk, start


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    return Repository.made(tmp_path / "a repository, größer")


async def purged(client: Client, talk: Talk) -> Json:
    """Delete and purge it; the reply."""
    named = {"workspaceId": talk.key["workspaceId"], "agentSessionIds": [talk.session_id]}
    await client.request("session/delete", **named)
    assert Path(talk.created["session"]["cwd"]).is_dir(), "what is deleted can be restored"
    return await client.request("session/purge", **named)


async def alone_in_the_end(repository: Repository) -> None:
    """Until the repository has no checkout but itself."""
    with trio.fail_after(10):
        while len(repository.checkouts) > 1:
            await trio.sleep(0.05)


async def test_a_purge_takes_a_clean_checkout_with_it_and_frees_the_id(
    client: Client, workspace: str, repository: Repository
) -> None:
    (repository.path / ".git" / "info" / "exclude").write_text("*.o\n")
    talk = await start(client, workspace, agentSessionId="mine", **isolated(repository.path))
    path = Path(talk.created["session"]["isolation"]["path"])
    (path / "built.o").write_text("ignored by git")
    assert (await purged(client, talk))["keptWorktrees"] == []
    await alone_in_the_end(repository)
    assert not path.exists()
    with trio.fail_after(10):
        while repository.branches != ["main"]:
            await trio.sleep(0.05)
    again = await start(
        client, workspace, agentSessionId="mine", clientSubmitId="again", **isolated(repository.path)
    )
    assert again.created["session"]["isolation"]["path"] == str(path)


async def test_a_purge_leaves_the_branch_that_has_commits_of_its_own(
    client: Client, workspace: str, repository: Repository
) -> None:
    talk = await start(client, workspace, **isolated(repository.path))
    isolation = talk.created["session"]["isolation"]
    checkout = Repository(Path(isolation["path"]))
    checkout.write("work.txt", "done")
    commit = checkout.commit("work")
    assert (await purged(client, talk))["keptWorktrees"] == []
    await alone_in_the_end(repository)
    assert git(repository.path, "rev-parse", isolation["branch"]) == commit


@pytest.mark.parametrize("because", ["changes", "commits"])
async def test_a_purge_keeps_a_checkout_with_work_that_is_nowhere_else_and_says_so(
    client: Client, workspace: str, repository: Repository, because: str
) -> None:
    talk = await start(client, workspace, agentSessionId="mine", **isolated(repository.path))
    isolation = talk.created["session"]["isolation"]
    checkout = Repository(Path(isolation["path"]))
    if because == "commits":
        git(checkout.path, "checkout", "--quiet", "--detach")
    checkout.write("work.txt", "not safe yet")
    if because == "commits":
        checkout.commit("on no branch")
    reply = await purged(client, talk)
    assert reply["keptWorktrees"] == [
        {
            "workspaceId": workspace,
            "agentSessionId": "mine",
            "path": isolation["path"],
            "branch": isolation["branch"],
            "because": because,
        }
    ]
    refused = await refused_isolation(client, workspace, repository.path, agentSessionId="mine")
    assert refused["details"]["reason"] == "kept"
    assert (checkout.path / "work.txt").read_text() == "not safe yet"
    assert len(repository.checkouts) == 2


async def test_metrics_count_checkouts(client: Client, workspace: str, repository: Repository) -> None:
    before = await checkouts_counted(client)
    await start(client, workspace, **isolated(repository.path))
    assert await checkouts_counted(client) == before + 1


async def checkouts_counted(client: Client) -> int:
    families = (await client.request("metrics/read"))["families"]
    [family] = [one for one in families if one["name"].endswith("checkouts")]
    return int(sum(sample["value"] for sample in family["samples"]))


def test_git_is_on_this_machine() -> None:
    assert subprocess.run(("git", "--version"), check=True, capture_output=True).stdout
