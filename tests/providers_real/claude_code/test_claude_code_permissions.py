"""What a real Claude Code may do: what it asks, how far each answer reaches, and what it asks of a person."""

from pathlib import Path

import pytest

from tests.doubles.model_script import call, script
from tests.doubles.model_server import ModelServer
from tests.end_to_end.client import Client, Json
from tests.end_to_end.talk import Talk, answer_params, start
from tests.providers_real.claude_code.real_claude import (
    PLAN_TOOL,
    QUESTION_TOOL,
    SHELL_TOOL,
    TARGET,
    tool_calls,
)

pytestmark = pytest.mark.real_agent


def making(name: str) -> Json:
    """A call that has to be asked for."""
    return call(SHELL_TOOL, command=f"touch {name}", description="make a file")


async def asks_to_make(client: Client, workspace: str, made: Path) -> tuple[Talk, Json]:
    """A session whose agent asks to make that file, and says more once it was answered."""
    prompt = script(["I will make a file.", making(made.name)], ["So be it."])
    talk = await start(client, workspace, prompt, target=TARGET, cwd=str(made.parent))
    return talk, await talk.pending()


def options(asked: Json) -> dict[str, str]:
    return {option["optionId"]: option["kind"] for option in asked["options"]}


async def test_claude_runs_an_allowed_command_and_its_model_gets_what_it_gave(
    client: Client, workspace: str, model: ModelServer, tmp_path: Path
) -> None:
    made = tmp_path / "allowed.txt"
    talk, asked = await asks_to_make(client, workspace, made)
    assert (asked["kind"], asked["input"]["kind"]) == ("approval", "execute")
    assert asked["input"]["command"] == "touch allowed.txt"
    kinds = options(asked)
    assert (kinds["allow"], kinds["deny"], kinds["deny-and-stop"]) == ("allow_once", "reject_once", "stop")
    assert not made.exists()
    await talk.answer(asked, "allow")
    assert (await client.settled(talk.turn))["outcome"] == "completed"
    assert made.exists()
    (tool,) = tool_calls(await talk.messages())
    assert (tool["name"], tool["kind"], tool["status"]) == (SHELL_TOOL, "execute", "completed")
    assert await talk.texts() == ["I will make a file.", "So be it."]
    assert len(model.asked("allowed.txt")[-1].tool_outputs) == 1
    assert not list(tmp_path.glob(".claude/*")), "nothing was written that nobody chose"


@pytest.mark.rule("RT-020")
async def test_claude_is_told_why_it_was_refused_and_the_turn_goes_on(
    client: Client, workspace: str, model: ModelServer, tmp_path: Path
) -> None:
    made = tmp_path / "refused.txt"
    talk, asked = await asks_to_make(client, workspace, made)
    params = answer_params(asked, "deny")
    params["answer"]["feedback"] = "Use the other folder."
    await client.request("interaction/respond", **params)
    assert (await client.settled(talk.turn))["outcome"] == "completed"
    (tool,) = tool_calls(await talk.messages())
    assert (tool["status"], tool["output"]["text"]) == ("declined", "Use the other folder.")
    assert model.asked("refused.txt")[-1].tool_outputs[0].startswith("Use the other folder.")
    assert not made.exists()


async def test_a_refusal_that_stops_ends_the_turn_of_claude(
    client: Client, workspace: str, model: ModelServer, tmp_path: Path
) -> None:
    made = tmp_path / "stopped.txt"
    talk, asked = await asks_to_make(client, workspace, made)
    await talk.answer(asked, "deny-and-stop")
    turn = await client.settled(talk.turn)
    assert (turn["outcome"], turn["stopReason"], turn["cancelRequestedAt"]) == (
        "canceled",
        "aborted_tools",
        None,
    )
    assert len(model.asked("stopped.txt")) == 1, "the model was not asked to go on"
    assert (await talk.say(script(["Still here."])))["outcome"] == "completed"
    assert not made.exists()


async def test_a_rule_for_the_session_asks_no_second_time_and_writes_no_settings_file(
    client: Client, workspace: str, tmp_path: Path
) -> None:
    made = tmp_path / "twice.txt"
    talk, asked = await asks_to_make(client, workspace, made)
    assert options(asked)["suggestion-0"] == "allow_always"
    assert options(asked)["suggestion-0-session"] == "allow_session"
    await talk.answer(asked, "suggestion-0-session")
    await client.settled(talk.turn)
    made.unlink()
    assert (await talk.say(script([making(made.name)], ["Again."])))["outcome"] == "completed"
    assert made.exists()
    assert {row["requestId"] for row in client.rows("interaction")} == {asked["requestId"]}
    assert not list(tmp_path.glob(".claude/*"))
    other = tmp_path / "other.txt"
    turn = await talk.send(script([making(other.name)], ["Asked again."]))
    again = await client.row("interaction", turnId=turn["turnId"], status="pending")
    assert again["input"]["command"] == "touch other.txt", "the rule is for one command"


@pytest.mark.case("FC-04")
async def test_a_stop_with_an_ask_open_ends_both_and_a_late_answer_is_refused(
    client: Client, workspace: str, tmp_path: Path
) -> None:
    made = tmp_path / "never.txt"
    talk, asked = await asks_to_make(client, workspace, made)
    await client.request("turn/cancel", **talk.key, turnId=talk.turn["turnId"])
    await client.row("interaction", agentSessionId=talk.session_id, status="superseded")
    turn = await client.settled(talk.turn)
    assert turn["outcome"] == "canceled"
    assert turn["cancelConfirmedAt"] is not None
    refusal = await client.refused("interaction/respond", **answer_params(asked, "allow"))
    assert refusal["code"] == "interaction.not_pending"
    (tool,) = tool_calls(await talk.messages())
    assert tool["status"] == "interrupted"
    assert (await talk.say(script(["Still here."])))["outcome"] == "completed"
    assert not made.exists()


async def test_questions_of_claude_are_answered_by_what_was_chosen(
    client: Client, workspace: str, model: ModelServer
) -> None:
    red, blue = ({"label": word, "description": word} for word in ("red", "blue"))
    question = {"question": "Which colour?", "header": "Colour", "options": [red, blue], "multiSelect": False}
    prompt = f"Ask in {workspace}. " + script([call(QUESTION_TOOL, questions=[question])], ["Thanks."])
    talk = await start(client, workspace, prompt, target=TARGET)
    asked = await talk.pending()
    assert asked["kind"] == "question"
    (shown,) = asked["input"]["questions"]
    assert (shown["question"], [option["label"] for option in shown["options"]]) == (
        "Which colour?",
        ["red", "blue"],
    )
    params = answer_params(asked)
    params["answer"] = {"answersByQuestionId": {shown["id"]: "blue"}}
    await client.request("interaction/respond", **params)
    assert (await client.settled(talk.turn))["outcome"] == "completed"
    assert "blue" in model.asked(f"Ask in {workspace}.")[-1].tool_outputs[0]


async def test_the_permission_mode_changes_at_once_and_holds(
    client: Client, workspace: str, tmp_path: Path
) -> None:
    talk = await start(client, workspace, script(["Hello."]), target=TARGET, cwd=str(tmp_path))
    await client.settled(talk.turn)
    edits = {"permissionMode": "acceptEdits"}
    await client.request("session/updateSettings", **talk.key, settings=edits)
    made = tmp_path / "edited.txt"
    writing = call("Write", file_path=str(made), content="hello\n")
    assert (await talk.say(script([writing], ["Written."])))["outcome"] == "completed"
    assert made.read_text() == "hello\n"
    assert client.rows("interaction") == []
    (tool,) = tool_calls(await talk.messages())
    assert (tool["kind"], tool["status"]) == ("edit", "completed")
    session = (await client.request("session/get", **talk.key))["session"]
    assert session["settings"]["permissionMode"] == "acceptEdits"


async def test_leaving_plan_mode_is_put_to_a_person(
    client: Client, workspace: str, model: ModelServer
) -> None:
    prompt = f"Plan {workspace}. " + script([call(PLAN_TOOL)], ["On it."])
    talk = await start(client, workspace, prompt, target=TARGET, settings={"permissionMode": "plan"})
    asked = await talk.pending()
    assert (asked["kind"], asked["input"]["title"]) == ("approval", PLAN_TOOL)
    await talk.answer(asked, "deny")
    assert (await client.settled(talk.turn))["outcome"] == "completed"
    assert len(model.asked(f"Plan {workspace}.")) == 2
    session = (await client.request("session/get", **talk.key))["session"]
    assert session["settings"]["permissionMode"] == "plan"
