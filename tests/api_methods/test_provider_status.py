"""`provider/status`: how a program and a sign-in stand, from typed facts; an agent that cannot be asked changes nothing of it."""

import json

import pytest

from runtime.simulation.scripted_codex.self_description import SECRETS
from tests.api_methods.provider_targets import home_of
from tests.doubles.scripted_codex import calls
from tests.end_to_end.client import Client, Json
from tests.end_to_end.daemon import Daemon
from tests.end_to_end.fixtures import Connect, token_of

METHOD = "provider/status"


async def turn(client: Client, workspace: str, target: str, number: int, prompt: str) -> Json:
    created = await client.request(
        "session/create",
        workspaceId=workspace,
        agentTargetId=target,
        clientSubmitId=f"c{number}",
        initialContent=[{"type": "text", "text": prompt}],
    )
    return await client.row("turn", turnId=created["turn"]["turnId"], phase="settled")


@pytest.mark.rule("PR-026")
@pytest.mark.parametrize(
    ("target", "auth", "account"),
    [("none", "required", "none"), ("key", "configured", "key")],
)
async def test_what_the_agent_says_of_its_account_is_all_that_is_shown(
    asking: Client, target: str, auth: str, account: str
) -> None:
    status = await asking.request(METHOD, agentTargetId=target)
    assert (status["auth"], status["account"], status["problem"]) == (auth, account, None)
    assert status["program"]["found"] is True
    assert status["program"]["version"]
    listed = {item["agentTargetId"]: item for item in (await asking.request("target/list"))["items"]}
    assert listed[target]["auth"] == auth


@pytest.mark.rule("PR-027", "PR-028")
async def test_turns_decide_and_a_new_sign_in_begins_anew(
    asking: Client, workspace: str, provider_daemon: Daemon
) -> None:
    await asking.subscribe(workspace)
    await asking.request("events/subscribe", workspaceId=workspace, topics=["host.updated"])
    auth_file = home_of(provider_daemon.folder, "again") / "auth.json"
    auth_file.write_text('{"OPENAI_API_KEY": "first"}')

    async def shown() -> str:
        return str((await asking.request(METHOD, agentTargetId="again"))["auth"])

    assert await shown() == "configured"
    assert (await turn(asking, workspace, "again", 1, "[[say x]]"))["outcome"] == "completed"
    assert await shown() == "authenticated"
    await asking.event("status")
    assert (await turn(asking, workspace, "again", 2, "[[fail usageLimitExceeded no]]"))[
        "outcome"
    ] == "failed"
    assert await shown() == "authenticated", "an empty account is signed in"
    await turn(asking, workspace, "again", 3, "[[fail unauthorized no]]")
    assert await shown() == "required"
    refreshed = await asking.request(METHOD, agentTargetId="again", refresh=True)
    assert (refreshed["auth"], refreshed["account"]) == ("required", "key"), "what lies here proves less"
    auth_file.write_text('{"OPENAI_API_KEY": "second"}')
    assert await shown() == "configured"


@pytest.mark.rule("AP-034", "RT-041")
async def test_a_second_read_asks_nobody_and_a_refresh_asks_once(
    asking: Client, provider_daemon: Daemon
) -> None:
    home = home_of(provider_daemon.folder, "key")
    await asking.request(METHOD, agentTargetId="key")
    asked = calls(home, "account/read")
    assert all(params == {"refreshToken": False} for params in asked), "no token is ever renewed"
    await asking.request(METHOD, agentTargetId="key")
    assert len(calls(home, "account/read")) == len(asked)
    await asking.request(METHOD, agentTargetId="key", refresh=True)
    assert len(calls(home, "account/read")) == len(asked) + 1


@pytest.mark.rule("PR-030")
async def test_no_read_changes_a_byte_of_the_sign_in(asking: Client, provider_daemon: Daemon) -> None:
    auth_file = home_of(provider_daemon.folder, "plus") / "auth.json"
    auth_file.write_text('{"tokens": {"refresh_token": "kept"}}')
    before = auth_file.read_bytes(), auth_file.stat().st_mtime_ns
    for what in ("status", "models", "skills", "usage"):
        await asking.request(f"provider/{what}", agentTargetId="plus", refresh=True)
    assert (auth_file.read_bytes(), auth_file.stat().st_mtime_ns) == before


@pytest.mark.rule("PR-048")
async def test_no_account_and_no_place_is_named_anywhere(asking: Client, provider_daemon: Daemon) -> None:
    results = [
        await asking.request(f"provider/{what}", agentTargetId="plus")
        for what in ("status", "models", "skills", "usage")
    ]
    told = json.dumps(results) + provider_daemon.log_file.read_text()
    assert not [secret for secret in SECRETS if secret in told]


@pytest.mark.rule("PR-031", "AP-035")
@pytest.mark.parametrize(("target", "found"), [("gone", False), ("dying", True)])
async def test_a_program_that_cannot_be_asked_is_shown_with_the_reason(
    asking: Client, target: str, found: bool
) -> None:
    status = await asking.request(METHOD, agentTargetId=target)
    assert (status["program"]["found"], status["auth"], status["account"]) == (found, "unknown", None)
    assert status["problem"] == ({"code": "provider.unavailable", "retryable": True} if found else None)


async def test_of_an_agent_that_tells_nothing_only_the_program_is_known(client: Client) -> None:
    status = await client.request(METHOD, agentTargetId="missing")
    assert status["program"] == {"found": False, "version": None}
    assert (status["auth"], status["readAt"], status["problem"]) == ("unknown", None, None)


@pytest.mark.parametrize(("target", "code"), [("nobody", "target.not_found"), ("off", "target.disabled")])
@pytest.mark.rule("PR-005")
async def test_a_target_that_cannot_serve_is_refused(asking: Client, target: str, code: str) -> None:
    assert (await asking.refused(METHOD, agentTargetId=target))["code"] == code


async def test_reading_needs_no_more_than_reading_and_refreshing_an_admin(ask: Connect) -> None:
    async with ask(token=token_of("reader")) as reader:
        assert (await reader.request(METHOD, agentTargetId="key"))["account"] == "key"
        refused = await reader.refused(METHOD, agentTargetId="key", refresh=True)
        assert refused["code"] == "auth.forbidden"


async def test_what_is_wrong_with_it_is_named(asking: Client) -> None:
    refused = await asking.refused(METHOD, agentTargetId="")
    assert (refused["code"], refused["details"]["path"]) == ("request.invalid", "params.agentTargetId")
