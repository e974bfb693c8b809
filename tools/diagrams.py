"""Draws the state machines of the service as Mermaid diagrams, from their own transition tables.

Owns the form of docs/diagrams/. A machine is a module-level `TransitionTable` (runtime/lifecycle/transitions.py);
the string below it, which says what its events mean, goes with the picture. States without a way out are final.
`make diagrams` writes the result, `make check` compares it.
"""

import ast
import importlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from runtime.lifecycle.transitions import TransitionTable
from tools.files import PRODUCT_PACKAGES, ROOT, tree_files


class Machine(NamedTuple):
    """One transition table, where it stands, and what the source says about its events."""

    table: TransitionTable[Any, Any]
    path: str
    events: str


def diagram_files() -> dict[str, str]:
    """File name to content: one page a machine, and the page that lists them."""
    machines = sorted(machines_below(ROOT), key=lambda machine: machine.table.name)
    if not machines:
        return {}
    pages = {file_name(machine): render(machine) for machine in machines}
    return {"README.md": _index(machines), **pages}


def machines_below(root: Path) -> Iterator[Machine]:
    """Every machine of the product packages; only modules that hold one are imported."""
    for package in PRODUCT_PACKAGES:
        for file in tree_files(root / package):
            if file.suffix == ".py" and (tables := table_names(file.read_text(encoding="utf-8"))):
                path = file.relative_to(root)
                module = importlib.import_module(".".join(path.with_suffix("").parts))
                for name, events in tables.items():
                    yield Machine(vars(module)[name], path.as_posix(), events)


def table_names(source: str) -> dict[str, str]:
    """The names that a module gives to transition tables, each with the string below it."""
    body = ast.parse(source).body
    found = {}
    for statement, following in zip(body, [*body[1:], None], strict=True):
        if isinstance(statement, ast.AnnAssign):
            target: ast.expr = statement.target
        elif isinstance(statement, ast.Assign):
            target = statement.targets[0]
        else:
            continue
        if isinstance(target, ast.Name) and _makes_table(statement.value):
            found[target.id] = _text_of(following)
    return found


def render(machine: Machine) -> str:
    """The Markdown page of one machine."""
    table = machine.table
    arrows: dict[tuple[str, str], list[str]] = {}
    for transition in table.transitions:
        arrows.setdefault((transition.source, transition.target), []).append(transition.event)
    sources = {source for source, _ in arrows}
    return "\n".join(
        [
            f"# {_title(table.name)}",
            "",
            f"Drawn from [`{machine.path}`](../../{machine.path}) by `make diagrams`; do not edit.",
            "",
            "```mermaid",
            "stateDiagram-v2",
            f"    [*] --> {table.initial}",
            *(
                f"    {source} --> {target} : {', '.join(events)}"
                for (source, target), events in arrows.items()
            ),
            *(f"    {state} --> [*]" for state in table.states if state not in sources),
            "```",
            *(["", machine.events] if machine.events else []),
            "",
        ]
    )


def file_name(machine: Machine) -> str:
    """The page's name in docs/diagrams/."""
    return machine.table.name.replace("_", "-").replace(" ", "-") + ".md"


def _index(machines: Sequence[Machine]) -> str:
    return "\n".join(
        [
            "# State machines",
            "",
            "Drawn from the machines' transition tables by `make diagrams`; do not edit.",
            "",
            *(f"- [{_title(one.table.name)}]({file_name(one)}): `{one.path}`" for one in machines),
            "",
        ]
    )


def _title(name: str) -> str:
    return name.replace("_", " ").replace("-", " ").capitalize()


def _makes_table(value: ast.expr | None) -> bool:
    return (
        isinstance(value, ast.Call)
        and isinstance(value.func, ast.Name)
        and value.func.id == "TransitionTable"
    )


def _text_of(statement: ast.stmt | None) -> str:
    if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant):
        value = statement.value.value
        return value.strip() if isinstance(value, str) else ""
    return ""
