"""What the agent asks, in words; what a typed line answers; how a refusal is chosen."""

import pytest

from runtime.cli.questions import (
    chosen_option,
    described,
    offered,
    question_answer,
    question_lines,
    refusing_answer,
)
from tests.cli.rows import approval, question


def asked(**more):
    return question(more)["input"]["questions"][0]


def test_an_approval_says_what_would_be_done_and_what_is_offered():
    interaction = approval()
    interaction["input"] |= {
        "cwd": "/w",
        "changes": [{"path": "a.txt", "kind": "update"}],
        "reason": "to clean up",
    }
    assert list(described(interaction)) == [
        "The agent asks for permission: execute: rm -r build",
        "  command: rm -r build",
        "  cwd: /w",
        "  reason: to clean up",
        "  update: a.txt",
    ]
    assert list(offered(interaction)) == ["  1) allow once", "  2) reject once"]


def test_a_plan_is_shown_whole():
    assert list(described(approval(kind="plan", input={"markdown": "a\nb"})))[1:] == ["  a", "  b"]
    entries = {"entries": [{"text": "look", "status": "pending"}]}
    assert list(described(approval(kind="plan", input=entries)))[1:] == ["  - look"]


@pytest.mark.parametrize("line", ["2", " 2 ", "reject once", "REJECT ONCE", "id-reject_once"])
def test_an_option_is_chosen_by_number_label_or_id(line):
    assert chosen_option(line, approval()["options"]) == {"optionId": "id-reject_once"}


@pytest.mark.parametrize("line", ["", "0", "3", "-1", "yes", "reject"])
def test_anything_else_chooses_nothing(line):
    assert chosen_option(line, approval()["options"]) is None


@pytest.mark.parametrize(
    ("options", "chosen"),
    [
        (("allow_once", "reject_always", "stop", "reject_once"), "id-reject_once"),
        (("allow_once", "reject_always", "stop"), "id-stop"),
        (("allow_once", "reject_always"), "id-reject_always"),
    ],
)
def test_the_mildest_refusal_offered_is_taken(options, chosen):
    assert refusing_answer(approval(options=options)) == {"optionId": chosen}


def test_nothing_is_ever_allowed_where_no_refusal_is_offered():
    assert refusing_answer(approval(options=("allow_once", "allow_always", "other"))) is None


def test_questions_list_their_options():
    one = asked(header="Colour", options=[{"label": "Red", "description": "warm"}, {"label": "Blue"}])
    assert list(question_lines(one)) == ["  Colour: Which?", "    1) Red: warm", "    2) Blue"]


@pytest.mark.parametrize(
    ("line", "more", "answer"),
    [
        ("1", {}, "Red"),
        ("blue", {}, "Blue"),
        ("", {}, None),
        ("green", {}, None),
        ("green", {"freeText": True}, "green"),
        ("", {"freeText": True}, None),
        ("1, blue", {"multiSelect": True}, ["Red", "Blue"]),
        ("1, green", {"multiSelect": True}, None),
        ("green", {"multiSelect": True, "freeText": True}, ["green"]),
        ("anything", {"options": None}, "anything"),
    ],
)
def test_a_line_answers_a_question_or_does_not(line, more, answer):
    one = asked(**{"options": [{"label": "Red"}, {"label": "Blue"}], **more})
    assert question_answer(line, one) == answer
