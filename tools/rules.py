"""Compares the rules and field cases in docs/ with the ids that tests and sources name.

Owns the reading of `docs/rules.md`, `docs/field-cases.md` and of the `rule` and `case` markers. Run it as
`python -m tools.rules`: it prints which ids a test carries, which the contract reserves or another rule supersedes, and
which nobody carries, and which named ids cannot be opened. It exits 1 for the latter only, since an uncarried rule is work
to do while a dangling id is a mistake.
"""

import ast
import re
import sys
from collections.abc import Collection, Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from tools.files import PRODUCT_PACKAGES, ROOT, read_text, tree_files

_RULE_ROW = re.compile(r"^\| ((?:RT|ST|PR|AP|RP)-\d{3}) \| ([^|]+) \|", re.MULTILINE)
_CASE_TITLE = re.compile(r"^### (FC-\d{2}) (.+)$", re.MULTILINE)
_NAMED_ID = re.compile(r"\b(?:RT|ST|PR|AP|RP|EN|UI|SC|FC)-\d{2,3}\b")
LINE_CHARACTERS = 110
_MARKERS = {"rule", "case"}
_EXCUSES = {"## Decisions that override a rule": "superseded", "## Reserved by the contract": "reserved"}
"""Sections of docs/rules.md whose tables say why no test carries a rule, and in a word what they say of it."""
_EXCUSE_ROW = re.compile(r"^\| ((?:(?:RT|ST|PR|AP|RP|FC)-\d{2,3}(?:, | to )?)+) \| (.+) \|$", re.MULTILINE)
_RANGE = re.compile(r"([A-Z]{2})-(\d+)(?: to [A-Z]{2}-(\d+))?")


class Report(NamedTuple):
    """What `tools.rules` found out."""

    known: dict[str, str]
    carried: dict[str, list[str]]
    unknown: list[str]
    excuses: dict[str, str]
    """Why no test has to carry a rule: `reserved: ...` or `superseded: ...`."""

    @property
    def uncarried(self) -> dict[str, str]:
        """Known ids, with their titles, that no test is marked with and nothing excuses."""
        return {
            identifier: title
            for identifier, title in self.known.items()
            if identifier not in self.carried and identifier not in self.excuses
        }

    @property
    def excused(self) -> dict[str, str]:
        """Known ids, with the reason, that no test is marked with and none has to be."""
        return {
            identifier: self.excuses[identifier]
            for identifier in self.known
            if identifier in self.excuses and identifier not in self.carried
        }

    @property
    def outdated(self) -> list[str]:
        """Ids that are said to be reserved and that a test carries all the same: the table is behind."""
        return [
            identifier
            for identifier, reason in self.excuses.items()
            if reason.startswith("reserved") and identifier in self.carried
        ]


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
    return Report(known, carried, unknown, excuses_in(root, known))


def known_ids(root: Path) -> dict[str, str]:
    """Every id that can be opened, with the rule or the case's title."""
    rules = (root / "docs" / "rules.md").read_text(encoding="utf-8")
    cases = (root / "docs" / "field-cases.md").read_text(encoding="utf-8")
    return dict(_RULE_ROW.findall(rules)) | dict(_CASE_TITLE.findall(cases))


def excuses_in(root: Path, known: Collection[str]) -> dict[str, str]:
    """Why rules need no test, by id, as the tables of docs/rules.md say; of a range, those that there are."""
    text = (root / "docs" / "rules.md").read_text(encoding="utf-8")
    excuses: dict[str, str] = {}
    for heading, word in _EXCUSES.items():
        _, _, rest = text.partition(f"{heading}\n")
        for ids, reason in _EXCUSE_ROW.findall(rest.partition("\n## ")[0]):
            excuses |= dict.fromkeys((one for one in _named(ids) if one in known), f"{word}: {reason}")
    return excuses


def _named(ids: str) -> Iterator[str]:
    for family, first, last in _RANGE.findall(ids):
        for number in range(int(first), int(last or first) + 1):
            yield f"{family}-{number:0{len(first)}}"


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
    if found.excused:
        yield "Reserved by the contract, or superseded:"
    for identifier, reason in found.excused.items():
        yield f"  {identifier}  {_cut(reason)}"
    if found.uncarried:
        yield "No test carries:"
    for identifier, title in found.uncarried.items():
        yield f"  {identifier}  {_cut(title)}"
    for identifier in found.outdated:
        yield f"{identifier} is carried by a test and stands among the reserved rules of docs/rules.md: take it out there"
    carried = len(found.known) - len(found.uncarried) - len(found.excused)
    yield (
        f"{carried} of {len(found.known)} rules and field cases are carried by a test, "
        f"{len(found.excused)} are reserved or superseded, {len(found.uncarried)} are neither."
    )


def _cut(text: str) -> str:
    return text if len(text) <= LINE_CHARACTERS else f"{text[: LINE_CHARACTERS - 3]}..."


def main(arguments: list[str]) -> int:
    """Prints the report; `--unknown-only` leaves all else out. 1 when an id cannot be opened."""
    found = report(ROOT)
    if "--unknown-only" not in arguments:
        for line in _lines(found):
            print(line)
    for line in found.unknown:
        print(line)
    return int(bool(found.unknown))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
