"""Diagrams say what the transition tables say."""

from runtime.lifecycle.transitions import Transition, TransitionTable
from tools.diagrams import Machine, render, table_names
from tools.generated import differences, files_below, write

TABLE: TransitionTable[str, str] = TransitionTable(
    "lamp_switch",
    "off",
    (
        Transition("off", "pressed", "on"),
        Transition("off", "woken", "on"),
        Transition("on", "pressed", "off"),
        Transition("on", "failed", "broken"),
    ),
)


def test_a_machine_is_drawn_with_its_first_and_final_states():
    page = render(Machine(TABLE, "runtime/lamp.py", "`pressed` = by a person."))
    assert page.startswith("# Lamp switch\n")
    assert "[*] --> off\n" in page
    assert "off --> on : pressed, woken\n" in page
    assert "on --> broken : failed\n" in page
    assert "broken --> [*]\n" in page
    assert page.endswith("`pressed` = by a person.\n")


def test_tables_are_found_by_their_type_with_the_text_below_them():
    source = (
        "ONE = TransitionTable('one', 'a', ())\n'What one means.'\n"
        "TWO: TransitionTable[str, str] = TransitionTable('two', 'a', ())\nOTHER = tuple(())\n"
    )
    assert table_names(source) == {"ONE": "What one means.", "TWO": ""}


def test_written_files_equal_what_was_generated(tmp_path):
    (tmp_path / "old.md").write_text("old")
    write(tmp_path, {"new/page.md": "new"})
    assert files_below(tmp_path) == {"new/page.md": "new"}


def test_each_kind_of_difference_is_named():
    found = differences(
        {"same": "1", "changed": "1", "extra": "1"}, {"same": "1", "changed": "2", "new": "1"}
    )
    assert found == ["new: missing", "extra: nothing generates it", "changed: stale"]
