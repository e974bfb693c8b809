"""The house rules hold on the tree, and a deliberate violation of each kind is refused."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tools import tidy
from tools.files import PRODUCT_PACKAGES, ROOT
from tools.generated import KINDS, files_below
from tools.generated import main as compare_generated

BANNED_WORD = "TO" + "DO"
BANNED_HOST = "https://registry." + "npmjs" + ".org"


def messages(path: str, source: str) -> list[str]:
    found = [*tidy.check_text(path, source), *tidy.check_python(path, source)]
    return [finding.message for finding in found if finding.refused]


def test_the_tree_is_tidy():
    refused = [str(finding) for finding in tidy.check_tree(ROOT) if finding.refused]
    assert refused == []


@pytest.mark.parametrize(
    ("violation", "message"),
    [
        (f"count = 1  # {BANNED_WORD}: count again\n", "banned word"),
        (f'address = "{BANNED_HOST}"\n', "banned text"),
        ("import random\n", "import of random"),
        ("from subprocess import run\n", "import of subprocess"),
        ("import os.path\n", "import of os"),
        ("import asyncio\n", "import of asyncio"),
        ("import datetime\nnow = datetime.datetime.now()\n", "use of datetime.datetime.now"),
        ("from trio import to_thread\n", "use of trio.to_thread"),
        ("text = open('name').read()\n", "call of open()"),
        ("def read(path):\n    return path.read_text()\n", "call of .read_text()"),
        ("print('hello')\n", "print in the service"),
        ("try:\n    pass\nexcept Exception:\n    pass\n", "broad except"),
        ("try:\n    pass\nexcept (ValueError, BaseException):\n    pass\n", "broad except"),
        ("try:\n    pass\nexcept:\n    pass\n", "broad except"),
    ],
)
def test_product_code_may_not(violation: str, message: str):
    source = '"""A module of the product."""\n' + violation
    assert any(message in found for found in messages("runtime/lifecycle/planted.py", source))


def test_product_code_without_a_docstring_is_refused():
    assert any("docstring" in found for found in messages("store/planted.py", "count = 1\n"))


def test_an_over_long_function_is_refused():
    long_function = '"""A module."""\n\n\ndef work():\n' + "    step = 1\n" * 70
    assert any("71 lines" in found for found in messages("supervisor/planted.py", long_function))
    assert not any("lines" in found for found in messages("tests/planted.py", long_function))


def test_an_over_long_module_is_refused_and_a_long_one_is_warned_about():
    long_module = '"""A module."""\n' + "count = 1\n" * 800
    assert any("split it" in found for found in messages("runtime/planted.py", long_module))
    findings = tidy.check_python("runtime/planted.py", '"""A module."""\n' + "count = 1\n" * 401)
    assert [finding.refused for finding in findings] == [False]


def test_an_adapter_may_reach_the_operating_system_but_never_asyncio():
    source = '"""An adapter."""\nimport os\nimport time\n'
    assert messages("runtime/system_ports.py", source) == []
    assert messages("runtime/system_ports.py", source + "import asyncio\n") != []


def test_a_handler_that_passes_the_exception_on_is_no_broad_except():
    source = '"""A module."""\ntry:\n    pass\nexcept BaseException:\n    undo = 1\n    raise\n'
    assert messages("runtime/planted.py", source) == []


@pytest.mark.parametrize(
    ("source", "refused"),
    [
        ("async def test_a():\n    await trio.sleep(1)\n", True),
        ("async def helper():\n    time.sleep(0.1)\n", True),
        ("async def test_a(autojump_clock):\n    await trio.sleep(1)\n", False),
        ("async def test_a():\n    await trio.sleep(0)\n", False),
        ("clock = trio.testing.MockClock()\nasync def test_a():\n    await trio.sleep(1)\n", False),
        ("pytestmark = usefixtures('autojump_clock')\nasync def test_a():\n    await trio.sleep(1)\n", False),
    ],
)
def test_tests_wait_in_virtual_time(source: str, refused: bool):
    assert bool(messages("tests/lifecycle/test_planted.py", source)) == refused
    assert messages("tests/end_to_end/test_planted.py", source) == []


def test_a_file_name_too_long_for_a_listing_is_refused():
    assert list(tidy.check_name("tests/" + "a" * 60 + ".py"))
    assert not list(tidy.check_name("tests/test_short.py"))


def test_a_link_that_leads_nowhere_is_refused(tmp_path: Path):
    (tmp_path / "page.md").write_text(
        "[here](page.md#part), [there](https://example.org/), [gone](gone.md)\n"
    )
    assert [finding.message for finding in tidy.check_tree(tmp_path)] == ["link to gone.md leads nowhere"]


def test_two_test_files_of_one_name_are_refused(tmp_path: Path):
    for folder in ("one", "two"):
        (tmp_path / "tests" / folder).mkdir(parents=True)
        (tmp_path / "tests" / folder / "test_same.py").write_text("")
    assert any("used twice" in finding.message for finding in tidy.check_tree(tmp_path))


@pytest.fixture
def copied_packages(tmp_path: Path) -> Path:
    for package in PRODUCT_PACKAGES:
        shutil.copytree(ROOT / package, tmp_path / package, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copyfile(ROOT / "pyproject.toml", tmp_path / "pyproject.toml")
    return tmp_path


def lint_imports(folder: Path) -> subprocess.CompletedProcess[str]:
    command = [str(Path(sys.executable).parent / "lint-imports"), "--no-cache"]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=60, check=False)


def test_the_layers_hold_and_an_import_across_them_is_refused(copied_packages: Path):
    kept = lint_imports(copied_packages)
    assert kept.returncode == 0, kept.stdout
    (copied_packages / "supervisor" / "planted.py").write_text('"""Planted."""\nimport store.port\n')
    (copied_packages / "store" / "canonical" / "planted.py").write_text('"""Planted."""\nimport trio\n')
    broken = lint_imports(copied_packages)
    assert broken.returncode == 1
    assert "supervisor.planted -> store.port" in broken.stdout
    assert "store.canonical.planted -> trio" in broken.stdout


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_a_stale_generated_file_is_refused(kind: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    if not files_below(KINDS[kind].folder):
        pytest.skip(f"no {kind} yet")
    copied = tmp_path / kind
    shutil.copytree(KINDS[kind].folder, copied)
    assert compare_generated([kind, "--folder", str(copied)]) == 0
    stale = next(file for file in sorted(copied.rglob("*")) if file.is_file())
    stale.write_text(stale.read_text() + "\n")
    assert compare_generated([kind, "--folder", str(copied)]) == 1
    assert f"{stale.relative_to(copied)}: stale" in capsys.readouterr().out
