"""What is decided about a session's own checkout: its names, its reuse, and the reason in git's words."""

import subprocess
from typing import get_args

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from runtime.operations import worktree_plan as plan
from store.canonical.identifiers import SessionId, SessionKey, WorkspaceId
from store.canonical.worktree import Worktree

identifiers = st.text("AZaz09._:-", min_size=1, max_size=12)
keys = st.builds(
    lambda workspace, session: SessionKey(WorkspaceId(workspace), SessionId(session)),
    identifiers,
    identifiers,
)
WANTED = Worktree(
    workspace_id=WorkspaceId("w"),
    agent_session_id=SessionId("a"),
    repository="/r",
    relative_path="inner",
    path="/trees/w/a",
    branch="greenroom/w/a",
    base_commit="c1",
    store_id="s",
    created_at=1,
)


@given(keys, keys)
def test_two_sessions_never_have_one_branch(one: SessionKey, other: SessionKey) -> None:
    assert (plan.branch_of(one) == plan.branch_of(other)) == (one == other)


def test_git_takes_every_branch_name() -> None:
    awkward = [
        "a:b",
        ".",
        "..",
        "...",
        "a..b",
        "x.",
        ".x",
        "x.lock",
        "x.lock.lock",
        "-",
        "@",
        "lock",
        ".lock",
    ]
    for name in awkward:
        branch = plan.branch_of(SessionKey(WorkspaceId(name), SessionId(name)))
        done = subprocess.run(("git", "check-ref-format", "--branch", branch), capture_output=True)
        assert done.returncode == 0, branch


@pytest.mark.rule("RT-062")
def test_the_directory_is_the_projects_own_place_in_the_checkout() -> None:
    assert plan.directory_in(WANTED) == "/trees/w/a/inner"
    assert plan.directory_in(attrs.evolve(WANTED, relative_path="")) == "/trees/w/a"


@pytest.mark.rule("RT-061")
@pytest.mark.parametrize(
    ("changes", "decided"),
    [
        ({}, "make again"),
        ({"base_commit": "c0", "created_at": 0}, "make again"),
        ({"repository": "/other"}, "mismatch"),
        ({"relative_path": ""}, "mismatch"),
        ({"path": "/elsewhere/w/a"}, "mismatch"),
        ({"purged": True}, "kept"),
        ({"purged": True, "kept_because": "changes"}, "kept"),
    ],
)
def test_what_an_earlier_create_left_is_used_for_the_same_place_alone(
    changes: dict[str, object], decided: str
) -> None:
    assert plan.decide(attrs.evolve(WANTED, **changes), WANTED) == decided


def test_without_a_record_it_is_made() -> None:
    assert plan.decide(None, WANTED) == "make"


def test_only_what_nobody_can_have_worked_in_is_discarded() -> None:
    assert plan.may_discard(WANTED, "s")
    assert not plan.may_discard(WANTED, "restored since")
    assert not plan.may_discard(attrs.evolve(WANTED, purged=True), "s")


@pytest.mark.parametrize(
    ("said", "reason"),
    [
        ("fatal: detected dubious ownership in repository at '/r'", "foreign_owner"),
        ("fatal: not a git repository (or any of the parent directories): .git", "not_a_repository"),
        ("fatal: this operation must be run in a work tree", "bare_repository"),
        ("fatal: a branch named 'greenroom/w/a' already exists", "branch_taken"),
        ("fatal: cannot lock ref 'refs/heads/greenroom/w/a': 'refs/heads/greenroom' exists", "branch_taken"),
        ("fatal: No space left on device", "git_failed"),
        ("", "git_failed"),
    ],
)
def test_the_reason_is_in_gits_own_words(said: str, reason: str) -> None:
    assert plan.reason_in(said) == reason


def test_every_reason_has_advice_without_a_path() -> None:
    assert set(get_args(plan.Reason)) == plan.ADVICE.keys()
    for reason in get_args(plan.Reason):
        details = plan.refusal(reason).details
        assert (details["reason"], details["advice"]) == (reason, plan.ADVICE[reason])
        assert "/" not in plan.ADVICE[reason]
