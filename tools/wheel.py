"""Builds both wheels, installs each in a fresh environment as users do, and tries it there.

Owns the release check: the program's wheel holds exactly its packages, needs nothing but the runtime lock, and its
command answers; the client's wheel holds one package, needs nothing but that lock either, and imports nothing of
ours besides. Run it as `python -m tools.wheel`.
"""

import subprocess
import sys
import tempfile
import venv
import zipfile
from collections.abc import Collection
from pathlib import Path

from tools.files import CLIENT_FOLDER, CLIENT_PACKAGE, ROOT, SHIPPED_PACKAGES
from tools.generated import KINDS, differences, files_below


def build(folder: Path, source: Path = ROOT) -> Path:
    """Builds a wheel with the tools already installed and returns its path."""
    _run([sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(folder), str(source)])
    (wheel,) = folder.glob("*.whl")
    return wheel


def unexpected_names(wheel: Path, expected: Collection[str] = SHIPPED_PACKAGES) -> list[str]:
    """Top-level names in the wheel that differ from the packages it should hold beside its metadata."""
    with zipfile.ZipFile(wheel) as archive:
        names = {name.partition("/")[0] for name in archive.namelist()}
    packages = {name for name in names if not name.endswith(".dist-info")}
    return sorted(packages ^ set(expected))


def missing_console_files(wheel: Path) -> list[str]:
    """Files of the web console that did not come into the wheel."""
    shipped = ROOT / "runtime" / "api" / "console"
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
    wanted = [file.relative_to(ROOT).as_posix() for file in shipped.iterdir()]
    return sorted(name for name in [*wanted, "runtime/api/console/index.html"] if name not in names)


def install(wheel: Path, folder: Path) -> Path:
    """A fresh environment with the runtime lock and the wheel; returns its folder of commands."""
    venv.create(folder, with_pip=False)
    # The pip of this environment fills the other one: a second pip would cost seconds and add nothing.
    pip = [sys.executable, "-m", "pip", "--python", str(folder / "bin" / "python"), "install", "--quiet"]
    pip += ["--disable-pip-version-check", "--no-input"]
    _run([*pip, "--require-hashes", "-r", str(ROOT / "requirements" / "runtime.lock")])
    _run([*pip, "--no-deps", "--no-index", str(wheel)])
    return folder / "bin"


def main() -> int:
    """Runs the whole check; 1 with the reason printed when a wheel is not fit."""
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        return try_program(folder / "program") or try_client(folder / "client")


def try_program(folder: Path) -> int:
    """The program: its command answers and writes the contract that is committed."""
    wheel = build(folder / "dist")
    if _has_unexpected(wheel, SHIPPED_PACKAGES):
        return 1
    if missing := missing_console_files(wheel):
        print(f"{wheel.name}: without {', '.join(missing)}")
        return 1
    commands = install(wheel, folder / "environment")
    _run([str(commands / "greenroom"), "--version"], cwd=folder)
    if KINDS["contract"].available():
        _run([str(commands / "greenroom"), "contract", "--out", str(folder / "contract")], cwd=folder)
        if found := differences(files_below(ROOT / "contract"), files_below(folder / "contract")):
            print("the wheel writes another contract than the committed one: " + "; ".join(found))
            return 1
    return 0


def try_client(folder: Path) -> int:
    """The client: it imports by itself, typed, in an environment without the program."""
    wheel = build(folder / "dist", CLIENT_FOLDER)
    if _has_unexpected(wheel, (CLIENT_PACKAGE,)):
        return 1
    commands = install(wheel, folder / "environment")
    checks = f"import importlib.resources as r, {CLIENT_PACKAGE} as c; assert r.files(c).joinpath('py.typed').is_file()"
    _run([str(commands / "python"), "-I", "-W", "error", "-c", checks], cwd=folder)
    return 0


def _has_unexpected(wheel: Path, expected: Collection[str]) -> bool:
    names = unexpected_names(wheel, expected)
    if names:
        print(f"{wheel.name}: top-level names differ from {', '.join(expected)}: {', '.join(names)}")
    return bool(names)


def _run(command: list[str], cwd: Path = ROOT) -> None:
    finished = subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=False)
    if finished.returncode != 0:
        print(f"{' '.join(command)} ended with {finished.returncode}\n{finished.stdout}{finished.stderr}")
        sys.exit(1)


if __name__ == "__main__":
    sys.exit(main())
