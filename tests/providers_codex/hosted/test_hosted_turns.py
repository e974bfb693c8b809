"""Turns of a scripted Codex through a real daemon: rare orders, turns it begins itself, late ends, retries, mischief."""

import pytest

from tests.doubles.scripted_codex import scripted_target
from tests.end_to_end.client import Json, connected
from tests.end_to_end.fixtures import MakeDaemon
from tests.end_to_end.talk import text_of
from tests.providers_codex.hosted.stage import Stage

MISCHIEF = [
    "[[garbage {{{]]",
    "[[banner]]",
    "[[badutf8]]",
    "[[unknown-id]]",
    "[[stray]]",
    "[[twice]]",
    "[[config-warning unrecognized key]]",
    "[[bytes]]",
    "[[bigline 6000000]] [[tool more]]",
    "[[stderr 300000]]",
]


def tool(messages: list[Json]) -> Json:
    (found,) = [row["toolCall"] for row in messages if row["toolCall"] is not None]
    return found


@pytest.mark.rule("RT-002")
async def test_a_turn_that_begins_before_its_prompt_is_answered_is_the_prompts(stage: Stage) -> None:
    talk, turn = await stage.settled("[[early]] [[say one]]")
    assert (turn["outcome"], turn["origin"]) == ("completed", "user_prompt")
    assert await talk.texts() == ["one"]
    assert len(stage.client.rows("turn", phase="settled")) == 1


@pytest.mark.rule("PR-010")
async def test_a_notice_of_a_thread_that_has_no_name_yet_disturbs_nothing(stage: Stage) -> None:
    _, turn = await stage.settled("[[say one]]", settings={"model": "[[early]]"})
    assert turn["outcome"] == "completed"


@pytest.mark.rule("RT-003")
@pytest.mark.parametrize(("word", "count"), [("[[goal 3]]", 3), ("[[review]]", 1)])
async def test_turns_that_codex_begins_by_itself_are_its_own(stage: Stage, word: str, count: int) -> None:
    talk, first = await stage.settled(f"{word} [[say mine]]")
    assert first["origin"] == "user_prompt"
    await stage.client.wait(
        lambda: len(stage.client.rows("turn", origin="provider", phase="settled")) == count, "its own turns"
    )
    turns = (await stage.client.request("turn/list", **talk.key))["items"][::-1]
    assert [turn["origin"] for turn in turns] == ["user_prompt"] + ["provider"] * count
    assert {turn["outcome"] for turn in turns} == {"completed"}
    texts = await talk.texts()
    assert texts == ["mine"] + [f"{word[2:].split()[0].rstrip(']')} of my own"] * count
    assert (await talk.say("[[say next]]"))["outcome"] == "completed"


@pytest.mark.rule("RT-003", "ST-006")
async def test_a_command_that_ends_after_its_turn_is_told_in_it_and_opens_nothing(stage: Stage) -> None:
    talk, turn = await stage.settled("[[background 400]] [[say left it]]")
    assert turn["outcome"] == "completed"
    following = await talk.send("[[sleep 800]] [[say next]]")
    await stage.client.row("message", kind="tool_call", turnId=turn["turnId"], status="completed")
    call = tool(await talk.messages())
    assert (call["status"], call["output"]["text"], call["output"]["exitCode"]) == (
        "completed",
        "begun\nended\n",
        0,
    )
    assert (await stage.client.request("turn/get", **talk.key, turnId=turn["turnId"]))["turn"] == turn
    assert (await stage.client.settled(following))["outcome"] == "completed"


@pytest.mark.rule("RT-003")
async def test_what_codex_leaves_out_of_the_stream_stands_in_the_end(stage: Stage) -> None:
    talk, _ = await stage.settled("[[output 5 delay=5]] [[say done]]")
    assert tool(await talk.messages())["output"]["text"] == "".join(f"line {number}\n" for number in range(5))


async def test_a_retry_of_the_model_is_told_once_and_half_a_text_stays_half(stage: Stage) -> None:
    talk, turn = await stage.settled("[[say half]] [[retry 3]] [[say whole]]")
    assert turn["outcome"] == "completed"
    rows = [row for row in await talk.messages() if row["role"] != "user"]
    assert [(row["kind"], row["status"], text_of(row)) for row in rows if row["kind"] == "text"] == [
        ("text", "interrupted", "half"),
        ("text", "completed", "whole"),
    ]
    codes = [block["code"] for row in rows for block in row["content"] if "code" in block]
    assert codes == ["provider.retrying"]


@pytest.mark.case("FC-11")
async def test_an_unknown_word_for_the_end_is_kept_and_is_no_success(stage: Stage) -> None:
    _, turn = await stage.settled("[[say x]] [[stop reluctantly]]")
    assert (turn["outcome"], turn["stopReason"]) == ("failed", "reluctantly")
    assert turn["error"]["code"] == "provider.stopped"


@pytest.mark.case("FC-08", "FC-24", "FC-32")
@pytest.mark.parametrize("mischief", MISCHIEF)
async def test_what_is_no_frame_of_this_turn_leaves_it_alone(stage: Stage, mischief: str) -> None:
    beside = await stage.talk("[[stream 60 delay=5]] [[say beside]]")
    talk, turn = await stage.settled(f"{mischief} [[say mine]]")
    assert (turn["outcome"], turn["error"]) == ("completed", None)
    assert "".join(await talk.texts()).endswith("mine")
    assert "stray" not in str(await talk.texts())
    settled = await stage.client.settled(beside.turn)
    assert settled["outcome"] == "completed"
    assert (await beside.texts())[-1].endswith("beside")
    assert len(stage.client.rows("turn", phase="settled")) == 2


@pytest.mark.case("FC-07", "FC-24")
async def test_a_thread_that_codex_lets_go_of_in_a_turn_fails_it_and_is_loaded_again(stage: Stage) -> None:
    talk, turn = await stage.settled("[[unload]] [[say never told]]")
    assert (turn["outcome"], turn["error"]["code"]) == ("failed", "provider.lost")
    assert (await talk.say("[[recall]]"))["outcome"] == "completed"


@pytest.mark.case("FC-01")
@pytest.mark.rule("RT-003")
@pytest.mark.parametrize("silence", ["[[silent-end]]", "[[silent-start]]"])
async def test_a_word_of_codex_that_never_comes_is_asked_for_and_nothing_is_sent_again(
    make_daemon: MakeDaemon, tmp_path_factory: pytest.TempPathFactory, silence: str
) -> None:
    home = tmp_path_factory.mktemp("codex")
    daemon = make_daemon({"targets": [scripted_target(home)], "limits": {"turnReconcileSeconds": 0.5}})
    async with connected(daemon) as client:
        await client.subscribe("w")
        stage = Stage(client, "w", home)
        talk, turn = await stage.settled(f"[[say all of it]] {silence}")
        assert (turn["outcome"], turn["delivery"], turn["error"]) == ("completed", "accepted", None)
        assert await talk.texts() == ["all of it"]
        assert (await talk.say("[[say next]]"))["outcome"] == "completed"
        assert len(await stage.calls(talk, "turn/start")) == 2
