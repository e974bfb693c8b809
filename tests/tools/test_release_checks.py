"""What would spoil a release is refused: a fragment that gets lost, a wheel that ships more than the program."""

import shutil
import zipfile
from pathlib import Path

import pytest

from tools.files import ROOT, SHIPPED_PACKAGES
from tools.news import fragment_problems
from tools.wheel import unexpected_names


@pytest.fixture
def fragments(tmp_path: Path) -> Path:
    shutil.copyfile(ROOT / "pyproject.toml", tmp_path / "pyproject.toml")
    (tmp_path / "newsfragments").mkdir()
    (tmp_path / "newsfragments" / "README.md").write_text("How to name one.")
    return tmp_path


@pytest.mark.parametrize(
    ("name", "text", "fine"),
    [
        ("cancel-before-start.bugfix.md", "A cancel works.", True),
        ("cancel-before-start.bugfix.md", " \n", False),
        ("cancel-before-start.md", "A cancel works.", False),
        ("cancel.fix.md", "A cancel works.", False),
        ("Cancel_It.bugfix.md", "A cancel works.", False),
        ("cancel.bugfix.rst", "A cancel works.", False),
    ],
)
def test_a_fragment_that_would_not_reach_the_changelog_is_refused(
    fragments: Path, name: str, text: str, fine: bool
):
    (fragments / "newsfragments" / name).write_text(text)
    problems = fragment_problems(fragments)
    assert (problems == []) == fine
    assert all(name in problem for problem in problems)


@pytest.mark.parametrize(
    ("names", "unexpected"),
    [
        (SHIPPED_PACKAGES, []),
        ((*SHIPPED_PACKAGES, "tests"), ["tests"]),
        (("runtime", "store", "greenroom_client"), ["supervisor"]),
    ],
)
def test_a_wheel_ships_exactly_the_packages_of_the_program(
    tmp_path: Path, names: tuple[str, ...], unexpected: list[str]
):
    wheel = tmp_path / "greenroom-0-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        for name in names:
            archive.writestr(f"{name}/__init__.py", "")
        archive.writestr("greenroom-0.dist-info/METADATA", "")
    assert unexpected_names(wheel) == unexpected
