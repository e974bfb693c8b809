"""Builds the web console, compares it with what the package ships, and runs its tests.

Owns the steps: `check` (types, and the committed build is what the sources give), `write` (put the build into the
package), `test` (the pure parts, in node) and `browser` (the page in a real browser, against a real daemon). The
tools come from console/package-lock.json into `.cache`. Run it as `python -m tools.console check`.
"""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

from tools.files import ROOT
from tools.generated import differences, files_below, write
from tools.npm_packages import PackagesNotInstalled, install_packages

SOURCE = ROOT / "console"
INSTALLED = ROOT / ".cache" / "console"
SHIPPED = ROOT / "runtime" / "api" / "console"
_COPIED = ("index.html", "console.css", "icon.svg")
_BUNDLED_PACKAGES = ("marked", "preact")
_BUNDLE = ("--bundle", "--charset=utf8", "--log-level=warning", "--preserve-symlinks")
_PAGE = ("--format=esm", "--target=es2023", "--jsx=automatic", "--jsx-import-source=preact")
_BROWSER_PACKAGE = "chromium"


class StepFailed(Exception):
    """A step that is red; what it printed says why, or the message does."""


def install() -> None:
    """Installs the pinned tools, and links them to where they are looked up from."""
    install_packages(SOURCE, INSTALLED, "the console is built and tested with packages of npm's")
    link = SOURCE / "node_modules"
    if not (link.is_symlink() and link.resolve() == (INSTALLED / "node_modules").resolve()):
        link.unlink(missing_ok=True)
        link.symlink_to(os.path.relpath(INSTALLED / "node_modules", SOURCE))


def build() -> dict[str, str]:
    """File name to content of the console as it is served: readable, and the same bytes from the same sources."""
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        _tool("esbuild", "src/main.tsx", *_BUNDLE, *_PAGE, f"--outfile={folder / 'console.js'}")
        for name in _COPIED:
            shutil.copyfile(SOURCE / "src" / name, folder / name)
        (folder / "licenses.txt").write_text(_licenses(), encoding="utf-8")
        return files_below(folder)


def _licenses() -> str:
    """What the bundled packages ask to be kept with them."""
    parts = []
    for name in _BUNDLED_PACKAGES:
        (license_file,) = (INSTALLED / "node_modules" / name).glob("LICENSE*")
        parts.append(f"{name}\n\n{license_file.read_text(encoding='utf-8').strip()}\n")
    return "\n\n".join(parts)


def check() -> None:
    """The sources fit the contract's types, and the package ships what they give."""
    _tool("tsc", "--project", ".")
    if found := differences(files_below(SHIPPED), build()):
        lines = [f"runtime/api/console/{line}" for line in found]
        raise StepFailed("\n".join([*lines, "Run `make console` and commit what it writes."]))


def write_build() -> None:
    """Puts the build into the package."""
    write(SHIPPED, build())


def run_tests() -> None:
    """The store and the other pure parts, in node."""
    _node_tests(SOURCE / "tests", {})


def run_browser_tests() -> None:
    """The page in a real browser, driven as a person would, against real daemons with the demo agent."""
    _node_tests(
        SOURCE / "browser",
        {"GREENROOM_PYTHON": sys.executable, "GREENROOM_BROWSER": browser(), "GREENROOM_ROOT": str(ROOT)},
    )


def browser() -> str:
    """The path of a Chromium; as root on Debian it is installed where there is none."""
    found = _found_browser()
    if found is None and os.geteuid() == 0 and (apt := shutil.which("apt-get")):
        unattended = {"DEBIAN_FRONTEND": "noninteractive"}
        _run([apt, "update", "-qq"], ROOT, unattended)
        _run([apt, "install", "-y", "-qq", "--no-install-recommends", _BROWSER_PACKAGE], ROOT, unattended)
        found = _found_browser()
    if found is None:
        raise StepFailed("no Chromium on PATH: install it (on Debian: apt-get install chromium)")
    return found


def _found_browser() -> str | None:
    return shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")


def _node_tests(folder: Path, environment: dict[str, str]) -> None:
    node = shutil.which("node")
    if node is None:
        raise StepFailed("node is not on PATH; it comes with npm")
    # Below the installed packages, so that what is left out of the bundle is found from there.
    built = INSTALLED / "built" / folder.name
    shutil.rmtree(built, ignore_errors=True)
    tests = [str(file.relative_to(SOURCE)) for file in sorted(folder.glob("*.test.ts*"))]
    options = (*_BUNDLE, *_PAGE, "--platform=node", "--external:playwright-core", "--out-extension:.js=.mjs")
    _tool("esbuild", *tests, *options, f"--outdir={built}")
    files = [str(file) for file in sorted(built.glob("*.mjs"))]
    _run([node, "--test", "--test-reporter=spec", *files], SOURCE, environment)


def _tool(name: str, *arguments: str) -> None:
    _run([str(INSTALLED / "node_modules" / ".bin" / name), *arguments], SOURCE, {})


def _run(command: list[str], folder: Path, environment: dict[str, str]) -> None:
    ended = subprocess.run(
        command, cwd=folder, env={**os.environ, **environment}, stdin=subprocess.DEVNULL, check=False
    )
    if ended.returncode != 0:
        raise StepFailed(f"{Path(command[0]).name} ended with {ended.returncode}")


STEPS: dict[str, Callable[[], None]] = {
    "check": check,
    "write": write_build,
    "test": run_tests,
    "browser": run_browser_tests,
}


def main(arguments: Sequence[str]) -> int:
    """Runs the steps named; 1 with the reason on stderr at the first that is red."""
    parser = argparse.ArgumentParser(prog="python -m tools.console")
    parser.add_argument("steps", nargs="+", choices=sorted(STEPS))
    try:
        install()
        for step in parser.parse_args(arguments).steps:
            STEPS[step]()
    except (PackagesNotInstalled, StepFailed) as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
