"""`provider/models`: an agent's models, read once for all, and every way in which there are none."""

import pytest

from tests.api_methods.provider_targets import home_of
from tests.doubles.scripted_codex import calls, notes
from tests.end_to_end.client import Client
from tests.end_to_end.daemon import Daemon, poll_until
from tests.end_to_end.fixtures import Connect, MakeDaemon, token_of

METHOD = "provider/models"
NAMES = ["scripted-large", "scripted-small", "scripted-hidden"]


@pytest.mark.rule("PR-035", "PR-037")
async def test_ten_that_ask_at_once_are_answered_by_one_call_that_makes_no_session(
    ask: Connect, provider_daemon: Daemon
) -> None:
    home = home_of(provider_daemon.folder, "many")
    async with ask() as client:
        await client.request("events/subscribe", workspaceId="w", topics=["host.updated"])
        before = len(calls(home, "model/list"))
        sent = [await client.send(METHOD, agentTargetId="many", refresh=True) for _ in range(10)]
        results = [await one.result() for one in sent]
        assert [[model["model"] for model in result["models"]] for result in results] == [NAMES] * 10
        assert len(calls(home, "model/list")) == before + 1
        await client.event("models")
    told = {note["told"].get("method") for note in notes(home) if "told" in note}
    assert not [method for method in told if method and method.startswith(("thread/start", "skills/"))]
    pids = {note["pid"] for note in notes(home)}
    assert poll_until(lambda: pids.isdisjoint(provider_daemon.providers()), 10), "who was asked has ended"


@pytest.mark.rule("RT-055")
async def test_a_model_shows_what_it_takes(asking: Client) -> None:
    result = await asking.request(METHOD, agentTargetId="key")
    assert (result["state"], result["stale"], result["problem"]) == ("complete", False, None)
    large, small, hidden = result["models"]
    assert (large["isDefault"], small["isDefault"], hidden["hidden"]) == (True, False, True)
    assert [effort["value"] for effort in large["reasoningEfforts"]] == ["low", "medium", "high"]
    assert [effort["value"] for effort in small["reasoningEfforts"]] == ["low"]
    assert hidden["reasoningEfforts"] == []
    assert large["defaultReasoningEffort"] == "low"


@pytest.mark.rule("PR-034")
async def test_a_snapshot_is_shown_again_without_asking(ask: Connect, provider_daemon: Daemon) -> None:
    home = home_of(provider_daemon.folder, "none")
    async with ask(token=token_of("reader")) as reader:
        first = await reader.request(METHOD, agentTargetId="none")
        asked = len(notes(home))
        assert await reader.request(METHOD, agentTargetId="none") == first
    assert len(notes(home)) == asked


@pytest.mark.rule("PR-036")
async def test_another_sign_in_drops_the_list_and_is_asked_in_a_process_of_its_own(
    ask: Connect, provider_daemon: Daemon
) -> None:
    home = home_of(provider_daemon.folder, "plus")
    async with ask() as client:
        await client.request(METHOD, agentTargetId="plus")
        asked = len(calls(home, "model/list"))
        (home / "auth.json").write_text('{"OPENAI_API_KEY": "another"}')
        await client.request(METHOD, agentTargetId="plus")
        assert len(calls(home, "model/list")) == asked + 1


async def test_an_agent_that_only_tells_within_a_session_says_so_until_one_has(
    client: Client, workspace: str
) -> None:
    first = await client.request(METHOD, agentTargetId="stiff")
    if first["state"] == "unavailable":
        assert (first["models"], first["readAt"], first["problem"]) == ([], None, None)
    declared = await client.request(METHOD, agentTargetId="demo")
    assert [model["model"] for model in declared["models"]] == ["demo-small", "demo-large"]
    created = await client.request(
        "session/create",
        workspaceId=workspace,
        agentTargetId="logged",
        clientSubmitId="c",
        initialContent=[{"type": "text", "text": "[[say x]]"}],
    )
    await client.subscribe(workspace, afterCommitSeq=0)
    await client.row("turn", turnId=created["turn"]["turnId"], phase="settled")
    learned = await client.request(METHOD, agentTargetId="logged")
    assert [(model["model"], model["isDefault"]) for model in learned["models"]] == [
        ("demo-small", True),
        ("demo-large", False),
    ]


@pytest.mark.rule("PR-003")
async def test_targets_of_one_provider_have_lists_of_their_own(
    make_daemon: MakeDaemon, asking: Client
) -> None:
    assert (await asking.request(METHOD, agentTargetId="key"))["agentTargetId"] == "key"
    assert (await asking.refused(METHOD, agentTargetId="refusing"))["code"] == "provider.rejected"


@pytest.mark.parametrize(
    ("target", "code", "retryable"),
    [
        ("nobody", "target.not_found", False),
        ("off", "target.disabled", False),
        ("gone", "provider.unavailable", True),
        ("dying", "provider.unavailable", True),
        ("refusing", "provider.rejected", False),
        ("silent", "provider.timeout", True),
        ("leaving", "provider.lost", True),
        ("odd", "provider.protocol", False),
    ],
)
async def test_without_a_list_the_reason_is_typed_and_the_next_reader_asks_anew(
    asking: Client, target: str, code: str, retryable: bool
) -> None:
    for _ in range(1 if target == "silent" else 2):
        refused = await asking.refused(METHOD, agentTargetId=target)
        assert (refused["code"], refused["delivery"]) == (code, "not_dispatched")
        assert refused["retryable"] is retryable


async def test_only_an_admin_makes_an_agent_be_asked_again(ask: Connect) -> None:
    for name in ("reader", "worker"):
        async with ask(token=token_of(name)) as limited:
            refused = await limited.refused(METHOD, agentTargetId="key", refresh=True)
            assert (refused["code"], refused["details"]["param"]) == ("auth.forbidden", "refresh")


@pytest.mark.parametrize(
    ("params", "path"),
    [
        ({}, "params.agentTargetId"),
        ({"agentTargetId": 5}, "params.agentTargetId"),
        ({"agentTargetId": "key", "refresh": "yes"}, "params.refresh"),
        ({"agentTargetId": "key", "workspaceId": "w"}, "params.workspaceId"),
        ({"agentTargetId": "key", "provider": "claude"}, "params.provider"),
    ],
)
@pytest.mark.rule("PR-004")
async def test_what_is_wrong_with_it_is_named(asking: Client, params: dict[str, object], path: str) -> None:
    refused = await asking.refused(METHOD, **params)
    assert (refused["code"], refused["details"]["path"]) == ("request.invalid", path)


@pytest.mark.rule("RT-055")
async def test_an_effort_chosen_for_another_model_ends_with_it(asking: Client, workspace: str) -> None:
    await asking.request(METHOD, agentTargetId="key")
    created = await asking.request(
        "session/create",
        workspaceId=workspace,
        agentTargetId="key",
        clientSubmitId="c",
        settings={"model": "scripted-large", "reasoningEffort": "high"},
    )
    key = {"workspaceId": workspace, "agentSessionId": created["session"]["agentSessionId"]}
    changed = await asking.request("session/updateSettings", **key, settings={"model": "scripted-small"})
    assert changed["session"]["settings"] == {"model": "scripted-small"}
