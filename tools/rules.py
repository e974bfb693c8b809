"""Compares the rules and field cases in docs/ with the ids that tests and sources name.

Owns the reading of `docs/rules.md`, `docs/field-cases.md` and of the `rule` and `case` markers. Run it as
`python -m tools.rules`: it prints which ids no test carries and which named ids cannot be opened, and exits 1
for the latter only, since an uncarried rule is work to do while a dangling id is a mistake.
"""

import ast
import re
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from tools.files import PRODUCT_PACKAGES, ROOT, read_text, tree_files

_RULE_ROW = re.compile(r"^\| ((?:RT|ST|PR|AP|RP)-\d{3}) \| ([^|]+) \|", re.MULTILINE)
_CASE_TITLE = re.compile(r"^### (FC-\d{2}) (.+)$", re.MULTILINE)
_NAMED_ID = re.compile(r"\b(?:RT|ST|PR|AP|RP|EN|UI|SC|FC)-\d{2,3}\b")
_MARKERS = {"rule", "case"}


class Report(NamedTuple):
    """What `tools.rules` found out."""

    known: dict[str, str]
    carried: dict[str, list[str]]
    unknown: list[str]

    @property
    def uncarried(self) -> dict[str, str]:
        """Known ids, with their titles, that no test is marked with."""
        return {
            identifier: title for identifier, title in self.known.items() if identifier not in self.carried
        }


def report(root: Path) -> Report:
    """Reads the tree below `root`."""
    known = known_ids(root)
    carried: dict[str, list[str]] = {}
    unknown: list[str] = []
    for file in tree_files(root):
        path = file.relative_to(root).as_posix()
        if file.suffix != ".py" or path.partition("/")[0] not in (*PRODUCT_PACKAGES, "client", "tests"):
            continue
        text = read_text(file) or ""
        unknown += _dangling(path, text, known)
        if path.startswith("tests/"):
            for identifier, line in marked_ids(text):
                carried.setdefault(identifier, []).append(f"{path}:{line}")
    return Report(known, carried, unknown)


def known_ids(root: Path) -> dict[str, str]:
    """Every id that can be opened, with the rule or the case's title."""
    rules = (root / "docs" / "rules.md").read_text(encoding="utf-8")
    cases = (root / "docs" / "field-cases.md").read_text(encoding="utf-8")
    return dict(_RULE_ROW.findall(rules)) | dict(_CASE_TITLE.findall(cases))


def marked_ids(text: str) -> Iterator[tuple[str, int]]:
    """The ids in `pytest.mark.rule(...)` and `pytest.mark.case(...)`, with their lines."""
    for node in ast.walk(ast.parse(text)):
        if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)):
            continue
        holder = node.func.value
        if node.func.attr in _MARKERS and isinstance(holder, ast.Attribute) and holder.attr == "mark":
            for argument in node.args:
                if isinstance(argument, ast.Constant) and isinstance(argument.value, str):
                    yield argument.value, argument.lineno


def _dangling(path: str, text: str, known: dict[str, str]) -> list[str]:
    return [
        f"{path}:{number}: {identifier} is in neither docs/rules.md nor docs/field-cases.md"
        for number, line in enumerate(text.splitlines(), start=1)
        for identifier in _NAMED_ID.findall(line)
        if identifier not in known
    ]


def _lines(found: Report) -> Iterable[str]:
    if found.uncarried:
        yield "No test carries:"
    for identifier, title in found.uncarried.items():
        yield f"  {identifier}  {title if len(title) <= 110 else title[:107] + '...'}"
    carried = len(found.known) - len(found.uncarried)
    yield f"{carried} of {len(found.known)} rules and field cases are carried by a test."


def main(arguments: list[str]) -> int:
    """Prints the report; `--unknown-only` leaves the uncarried ids out. 1 when an id cannot be opened."""
    found = report(ROOT)
    if "--unknown-only" not in arguments:
        for line in _lines(found):
            print(line)
    for line in found.unknown:
        print(line)
    return int(bool(found.unknown))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
