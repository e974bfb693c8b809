"""The key of a session's place in lists by project: made once, from what was given."""

import pytest

from runtime.operations.placement import project_of, project_path, section_key


@pytest.mark.rule("ST-034")
@pytest.mark.parametrize(
    ("given", "path"),
    [
        ("/a/b", "/a/b"),
        ("/a/b/", "/a/b"),
        ("//a//b", "/a/b"),
        ("/a/./x/../b", "/a/b"),
        ("/", "/"),
        ("/ä b ", "/ä b "),
    ],
)
def test_two_spellings_of_a_path_are_one_project(given: str, path: str) -> None:
    assert project_path(given) == path
    assert project_of(section_key(path)) == path


def test_a_conversation_has_no_key_and_a_strange_key_no_project() -> None:
    assert section_key(None) is None
    assert project_of(None) is None
    assert project_of("something:else") is None
