"""Rule ids in tests and sources can be opened, and uncarried ones are told."""

from pathlib import Path

import pytest

from tools.files import ROOT
from tools.rules import known_ids, report


@pytest.fixture
def small_tree(tmp_path: Path) -> Path:
    (tmp_path / "docs").mkdir()
    (tmp_path / "tests").mkdir()
    (tmp_path / "runtime").mkdir()
    (tmp_path / "docs" / "rules.md").write_text(
        "| RT-001 | One thing | a | C |\n| RT-002 | Another | b | C |\n"
    )
    (tmp_path / "docs" / "field-cases.md").write_text("### FC-01 It hangs\n")
    (tmp_path / "tests" / "test_one.py").write_text(
        'import pytest\n\n@pytest.mark.rule("RT-001")\n@pytest.mark.case("FC-01")\ndef test_one(): ...\n'
    )
    return tmp_path


def test_an_uncarried_rule_is_told(small_tree: Path):
    found = report(small_tree)
    assert found.uncarried == {"RT-002": "Another"}
    assert found.carried == {"RT-001": ["tests/test_one.py:3"], "FC-01": ["tests/test_one.py:4"]}
    assert found.unknown == []


def test_an_id_that_cannot_be_opened_is_told(small_tree: Path):
    missing = "RT-" + "999"
    (small_tree / "runtime" / "planted.py").write_text(f'"""See {missing} and RT-001."""\n')
    assert report(small_tree).unknown == [
        f"runtime/planted.py:1: {missing} is in neither docs/rules.md nor docs/field-cases.md"
    ]


def test_the_committed_pages_hold_every_rule_and_case():
    known = known_ids(ROOT)
    assert sum(1 for identifier in known if identifier.startswith("FC-")) == 59
    assert sum(1 for identifier in known if not identifier.startswith("FC-")) == 299


def test_every_id_named_in_the_tree_can_be_opened():
    assert report(ROOT).unknown == []
