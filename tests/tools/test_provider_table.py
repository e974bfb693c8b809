"""The table of providers: whole, and red when it is not what is declared and was seen."""

from pathlib import Path

import pytest

from tests.scenarios.kinds import KINDS
from tests.scenarios.results import read_results
from tools import provider_table


def test_every_agent_has_every_result() -> None:
    seen = read_results()
    assert {kind.values[0].name for kind in KINDS} == set(seen)  # type: ignore[union-attr]
    shown = {agent.name for agent in provider_table.AGENTS}
    assert shown == set(seen) - {"scripted Codex"}
    page = provider_table.page()
    for what in seen["demo"]:
        assert all(what in found for found in seen.values()), what
    assert all(f"[{name}](" in page for name in shown)


def test_a_stale_page_is_told_and_written_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(provider_table, "ROOT", tmp_path)
    monkeypatch.setattr(provider_table, "PAGE", tmp_path / "providers.md")
    assert provider_table.main([]) == 1
    assert "make providers" in capsys.readouterr().err
    assert provider_table.main(["--write"]) == 0
    assert provider_table.main([]) == 0
