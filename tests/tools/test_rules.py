"""Rule ids in tests and sources can be opened, and uncarried ones are told."""

from pathlib import Path

import pytest

from tools.files import ROOT
from tools.rules import excuses_in, known_ids, main, report

RULES = ("RT-001", "RT-002", "RT-003", "RT-004", "RT-005")


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


def test_a_rule_that_is_reserved_or_superseded_is_told_apart_with_the_reason(small_tree: Path):
    page = small_tree / "docs" / "rules.md"
    page.write_text(
        "## Decisions that override a rule\n\n| rules | superseded by |\n|---|---|\n| RT-005 | contract §1: a | b |\n\n"
        "## Reserved by the contract\n\n| rules | where |\n|---|---|\n| RT-002 to RT-003, FC-01 | §4, `x/y` |\n\n"
        "## Often got wrong\n\n| RT-004 | not a reason |\n\n"
        + "".join(f"| {name} | Thing {name[-1]} | a | C |\n" for name in RULES)
    )
    found = report(small_tree)
    assert found.excused == {
        "RT-002": "reserved: §4, `x/y`",
        "RT-003": "reserved: §4, `x/y`",
        "RT-005": "superseded: contract §1: a | b",
    }
    assert found.uncarried == {"RT-004": "Thing 4"}
    assert found.outdated == ["FC-01"]


def test_three_groups_are_printed_and_nothing_of_them_is_a_mistake(capsys: pytest.CaptureFixture[str]):
    assert main([]) == 0
    printed = capsys.readouterr().out.splitlines()
    found = report(ROOT)
    reserved = printed.index("Reserved by the contract, or superseded:")
    nobody = printed.index("No test carries:") if found.uncarried else len(printed)
    assert len([line for line in printed[reserved:nobody] if line.startswith("  ")]) == len(found.excused)
    assert len([line for line in printed[nobody:] if line.startswith("  ")]) == len(found.uncarried)
    assert printed[-1].endswith(f"{len(found.uncarried)} are neither.")


def test_every_row_of_reserved_rules_names_a_section_and_every_id_can_be_opened():
    known = known_ids(ROOT)
    assert all("§" in reason for reason in excuses_in(ROOT, known).values())
    rules = (ROOT / "docs" / "rules.md").read_text()
    rows = rules.partition("## Reserved by the contract")[2].partition("\n## ")[0].splitlines()
    named = [row for row in rows if row.startswith("| ") and row[2:4].isupper()]
    assert named
    assert all(excuses_in(ROOT, known).get(row[2:].split(",")[0].split()[0]) for row in named)


def test_an_id_that_cannot_be_opened_is_told(small_tree: Path):
    missing = "RT-" + "999"
    (small_tree / "runtime" / "planted.py").write_text(f'"""See {missing} and RT-001."""\n')
    assert report(small_tree).unknown == [
        f"runtime/planted.py:1: {missing} is in neither docs/rules.md nor docs/field-cases.md"
    ]


def test_the_committed_pages_hold_every_rule_and_case():
    known = known_ids(ROOT)
    assert sum(1 for identifier in known if identifier.startswith("FC-")) == 59
    assert sum(1 for identifier in known if not identifier.startswith("FC-")) == 301


def test_every_id_named_in_the_tree_can_be_opened():
    assert report(ROOT).unknown == []
