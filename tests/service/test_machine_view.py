"""Whether a sign-in lies on this machine, and whether it changed: a mark, and nothing of what it says."""

from pathlib import Path

import pytest

from runtime.providers.catalogue import CatalogueAbilities, CredentialFile, CredentialPlaces
from runtime.providers.launch import ServerAddress
from runtime.service.machine_view import CREDENTIAL_BYTES_MAX, DiskMachineView
from runtime.service.program_files import DiskProgramFiles
from runtime.targets import TargetDefinition
from store.canonical.identifiers import TargetId

ABILITIES = CatalogueAbilities(
    credentials=CredentialPlaces(
        ("AGENT_KEY",), (CredentialFile("AGENT_HOME", ".agent", "auth.json", ("tokens",)),)
    )
)
SIGNED_IN = '{"tokens": {"access": "of-somebody"}}'


def view(folder: Path, salt: bytes = b"s") -> DiskMachineView:
    return DiskMachineView(DiskProgramFiles(folder / "programs.json"), salt)


def target(server: ServerAddress | None = None, **environment: str) -> TargetDefinition:
    return TargetDefinition(TargetId("t"), "p", "T", ("agent",), environment, server=server)


@pytest.mark.rule("PR-026", "PR-048")
def test_a_mark_changes_with_the_sign_in_and_tells_nothing_of_it(tmp_path: Path) -> None:
    seen, definition = view(tmp_path), target(AGENT_HOME=str(tmp_path))
    file = tmp_path / "auth.json"
    assert seen.credentials(definition, ABILITIES) is None
    file.write_text(SIGNED_IN)
    first = seen.credentials(definition, ABILITIES)
    assert first is not None
    assert "somebody" not in first
    assert seen.credentials(definition, ABILITIES) == first
    assert view(tmp_path, b"another").credentials(definition, ABILITIES) != first
    file.write_text(SIGNED_IN.replace("somebody", "another"))
    assert seen.credentials(definition, ABILITIES) not in (None, first)


@pytest.mark.rule("PR-033")
@pytest.mark.parametrize(
    "content",
    [
        "",
        "{",
        "[]",
        "{}",
        '{"tokens": null}',
        "[" * 5000,
        '{"other": 1}',
        '{"tokens": "' + "x" * CREDENTIAL_BYTES_MAX + '"}',
    ],
)
def test_a_file_that_holds_no_sign_in_counts_as_none(tmp_path: Path, content: str) -> None:
    (tmp_path / "auth.json").write_text(content)
    assert view(tmp_path).credentials(target(AGENT_HOME=str(tmp_path)), ABILITIES) is None


def test_it_is_looked_for_below_home_unless_a_variable_names_another_place(tmp_path: Path) -> None:
    (tmp_path / ".agent").mkdir()
    (tmp_path / ".agent" / "auth.json").write_text(SIGNED_IN)
    seen = view(tmp_path)
    assert seen.credentials(target(HOME=str(tmp_path)), ABILITIES) is not None
    assert seen.credentials(target(HOME=str(tmp_path), AGENT_HOME="/nowhere"), ABILITIES) is None
    by_variable = seen.credentials(target(AGENT_HOME="/nowhere", AGENT_KEY="k"), ABILITIES)
    assert by_variable is not None
    assert seen.credentials(target(AGENT_HOME="/nowhere", AGENT_KEY="l"), ABILITIES) != by_variable


def test_of_a_server_that_runs_elsewhere_nothing_is_seen_here(tmp_path: Path) -> None:
    (tmp_path / "auth.json").write_text(SIGNED_IN)
    definition = target(ServerAddress(host="127.0.0.1", port=1), AGENT_HOME=str(tmp_path))
    assert view(tmp_path).credentials(definition, ABILITIES) is None
    assert view(tmp_path).program(definition) is None
