"""Checks the news fragments: their names, their content, and that towncrier can draft the changelog.

Owns the naming rule `newsfragments/<name>.<type>.md`; the types stand in `pyproject.toml`. Run it as
`python -m tools.news`.
"""

import re
import subprocess
import sys
import tomllib
from pathlib import Path

from tools.files import ROOT


def fragment_types(root: Path) -> set[str]:
    """The kinds of fragments that the changelog has a heading for."""
    settings = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))
    return {kind["directory"] for kind in settings["tool"]["towncrier"]["type"]}


def fragment_problems(root: Path) -> list[str]:
    """One line for every fragment that would not reach the changelog as meant."""
    name_form = re.compile(r"^[a-z0-9+][a-z0-9-]*\.(" + "|".join(sorted(fragment_types(root))) + r")\.md$")
    problems = []
    for file in sorted((root / "newsfragments").iterdir()):
        if file.name in ("README.md", ".gitignore"):
            continue
        path = f"newsfragments/{file.name}"
        if not name_form.match(file.name):
            problems.append(f"{path}: name it <name>.<{'|'.join(sorted(fragment_types(root)))}>.md")
        elif not file.read_text(encoding="utf-8").strip():
            problems.append(f"{path}: empty; say in a sentence what users notice")
    return problems


def main() -> int:
    """Prints the problems; 1 when there are any."""
    problems = fragment_problems(ROOT)
    for problem in problems:
        print(problem)
    if problems:
        return 1
    command = [sys.executable, "-m", "towncrier", "build", "--draft", "--version", "next"]
    draft = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if draft.returncode != 0:
        print(draft.stdout + draft.stderr)
    return draft.returncode


if __name__ == "__main__":
    sys.exit(main())
