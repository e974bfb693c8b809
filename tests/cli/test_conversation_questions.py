"""What is typed while an agent asks, as an answer: options, reasons for a refusal, questions one after the other."""

import attrs
import pytest

from runtime.cli.chat.asking import Asking
from runtime.cli.chat.paper import Paper
from tests.cli.rows import approval, question
from tests.cli.streams import quiet_output


@attrs.define
class Keys:
    """What the keyboard was told."""

    options: int = 0
    secret: bool = False

    def asking(self, options, *, secret=False):
        self.options, self.secret = options, secret

    def unfinished(self, text):
        assert text == ""


@pytest.fixture
def keys():
    return Keys()


@pytest.fixture
def asking(keys):
    return Asking(Paper(quiet_output(), keys, whole_lines=False), keys)


def said(asking):
    return asking.paper.output.stdout.getvalue()


def test_an_option_is_chosen_by_number_or_by_label(asking, keys):
    asking.asked(approval())
    assert keys.options == 2
    assert "2) reject once" in said(asking)
    assert asking.take("7") is None
    assert "Answer with a number from 1 to 2" in said(asking)
    assert asking.take("1") == {"optionId": "id-allow_once"}
    assert asking.take("allow once") == {"optionId": "id-allow_once"}


def test_a_refusal_asks_why_and_takes_nothing_for_an_answer(asking, keys):
    asking.asked(approval())
    assert asking.take("2") is None
    assert keys.options == 0
    assert asking.take("use make clean") == {
        "optionId": "id-reject_once",
        "feedback": "use make clean",
    }
    assert asking.take("2") is None
    assert asking.take("") == {"optionId": "id-reject_once"}
    assert asking.take("2 use make clean")["feedback"] == "use make clean"


def test_questions_are_asked_one_after_the_other(asking, keys):
    asking.asked(
        question(
            {"options": [{"label": "Red"}, {"label": "Blue"}]},
            {"id": "q2", "question": "Password?", "freeText": True, "secret": True},
        )
    )
    assert (keys.options, keys.secret) == (2, False)
    assert asking.take("nonsense") is None
    assert asking.take("2") is None
    assert (keys.options, keys.secret) == (0, True)
    assert asking.take("hush") == {"answersByQuestionId": {"q": "Blue", "q2": "hush"}}


def test_what_was_answered_elsewhere_gives_way_to_the_next(asking, keys):
    asking.asked(approval("r1"))
    asking.asked(approval("r2", ("allow_once", "allow_session", "reject_once")))
    asking.withdrawn(("s1", "t1", "r1"))
    assert asking.current["requestId"] == "r2"
    assert keys.options == 3
    asking.withdrawn(("s1", "t1", "r2"))
    assert asking.current is None
    assert keys.options == 0
