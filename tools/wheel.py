"""Builds the wheel, installs it in a fresh environment as users do, and runs its command there.

Owns the release check: the wheel holds exactly the three packages, needs nothing but the runtime lock, and its
command answers. Run it as `python -m tools.wheel`.
"""

import subprocess
import sys
import tempfile
import venv
import zipfile
from pathlib import Path

from tools.files import PRODUCT_PACKAGES, ROOT
from tools.generated import KINDS, differences, files_below


def build(folder: Path) -> Path:
    """Builds the wheel with the tools already installed and returns its path."""
    _run([sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(folder), str(ROOT)])
    (wheel,) = folder.glob("*.whl")
    return wheel


def unexpected_names(wheel: Path) -> list[str]:
    """Top-level names in the wheel that are neither our packages nor its metadata."""
    with zipfile.ZipFile(wheel) as archive:
        names = {name.partition("/")[0] for name in archive.namelist()}
    packages = {name for name in names if not name.endswith(".dist-info")}
    return sorted(packages ^ set(PRODUCT_PACKAGES))


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
    """Runs the whole check; 1 with the reason printed when the wheel is not fit."""
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        wheel = build(folder / "dist")
        if names := unexpected_names(wheel):
            print(
                f"{wheel.name}: top-level names differ from {', '.join(PRODUCT_PACKAGES)}: {', '.join(names)}"
            )
            return 1
        commands = install(wheel, folder / "environment")
        _run([str(commands / "greenroom"), "--version"], cwd=folder)
        if KINDS["contract"].available():
            _run([str(commands / "greenroom"), "contract", "--out", str(folder / "contract")], cwd=folder)
            if found := differences(files_below(ROOT / "contract"), files_below(folder / "contract")):
                print("the wheel writes another contract than the committed one: " + "; ".join(found))
                return 1
    return 0


def _run(command: list[str], cwd: Path = ROOT) -> None:
    finished = subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=False)
    if finished.returncode != 0:
        print(f"{' '.join(command)} ended with {finished.returncode}\n{finished.stdout}{finished.stderr}")
        sys.exit(1)


if __name__ == "__main__":
    sys.exit(main())
