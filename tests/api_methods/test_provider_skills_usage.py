"""`provider/skills` and `provider/usage`: what prompts can call for, what is left; and what cannot be told."""

import pytest

from tests.end_to_end.client import Client
from tests.end_to_end.fixtures import Connect, token_of


@pytest.mark.rule("PR-038")
async def test_skills_come_with_the_word_by_which_a_prompt_calls_for_them(
    asking: Client, client: Client
) -> None:
    result = await asking.request("provider/skills", agentTargetId="key")
    assert (result["state"], result["trigger"]) == ("complete", "$")
    assert result["skills"] == [
        {"name": "plant-trees", "description": "Plants trees.", "source": "user", "enabled": True}
    ]
    other = await client.request("provider/skills", agentTargetId="missing")
    assert (other["state"], other["trigger"], other["skills"]) == ("unavailable", "/", [])


@pytest.mark.rule("PR-046", "PR-047")
@pytest.mark.parametrize(
    ("target", "state", "reason"),
    [("none", "unavailable", "auth_required"), ("key", "not_applicable", None), ("plus", "complete", None)],
)
async def test_usage_that_cannot_be_told_is_told_as_that(
    asking: Client, target: str, state: str, reason: str | None
) -> None:
    result = await asking.request("provider/usage", agentTargetId=target)
    assert (result["state"], result["reason"], result["problem"]) == (state, reason, None)
    assert bool(result["limits"]) == (state == "complete")


@pytest.mark.rule("PR-026", "PR-044")
async def test_an_answer_that_only_an_account_gets_proves_it(asking: Client) -> None:
    result = await asking.request("provider/usage", agentTargetId="plus", refresh=True)
    assert result["limits"] == [
        {
            "name": "scripted primary",
            "usedPercent": 40.0,
            "windowMinutes": 300,
            "resetsAt": 1_900_000_000_000,
        }
    ]
    assert (await asking.request("provider/status", agentTargetId="plus"))["auth"] == "authenticated"


@pytest.mark.rule("PR-047")
async def test_an_agent_without_such_figures_is_no_failure(client: Client) -> None:
    result = await client.request("provider/usage", agentTargetId="logged")
    assert (result["state"], result["reason"], result["limits"]) == ("unavailable", "unsupported", [])


@pytest.mark.parametrize("method", ["provider/skills", "provider/usage"])
@pytest.mark.parametrize(
    ("target", "code"),
    [
        ("nobody", "target.not_found"),
        ("off", "target.disabled"),
        ("gone", "provider.unavailable"),
        ("dying", "provider.unavailable"),
    ],
)
async def test_what_cannot_be_asked_is_refused(asking: Client, method: str, target: str, code: str) -> None:
    assert (await asking.refused(method, agentTargetId=target))["code"] == code


@pytest.mark.parametrize("method", ["provider/skills", "provider/usage"])
async def test_only_an_admin_refreshes_and_what_is_wrong_is_named(ask: Connect, method: str) -> None:
    async with ask(token=token_of("reader")) as reader:
        assert (await reader.refused(method, agentTargetId="key", refresh=True))["code"] == "auth.forbidden"
        refused = await reader.refused(method, agentTargetId="key", other=1)
        assert (refused["code"], refused["details"]["path"]) == ("request.invalid", "params.other")
