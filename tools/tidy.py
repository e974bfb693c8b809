"""The project's own linter: sizes, banned words and names, and who may touch the outside world.

Owns the checks; the rules and their exceptions are data in `tools/house_rules.py`. What ruff, mypy and
import-linter can say is left to them. Run it as `python -m tools.tidy`; it prints one line a finding and
exits 1 when anything is refused.
"""

import ast
import re
import sys
from collections.abc import Iterable, Iterator
from fnmatch import fnmatchcase
from pathlib import Path
from typing import NamedTuple

from tools import house_rules
from tools.files import PRODUCT_PACKAGES, ROOT, read_text, tree_files

_WORDS = re.compile(r"\b(" + "|".join(house_rules.BANNED_WORDS) + r")\b")
_LINK = re.compile(r"\]\(([^)\s]+)\)")
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


class Finding(NamedTuple):
    """One remark on one line; `refused` findings fail the check, the others are warnings."""

    path: str
    line: int
    message: str
    refused: bool = True

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {'' if self.refused else 'warning: '}{self.message}"


def check_tree(root: Path) -> list[Finding]:
    """Everything there is to say about the tree below `root`."""
    findings: list[Finding] = []
    tests: dict[str, str] = {}
    for file in tree_files(root):
        path = file.relative_to(root).as_posix()
        findings += check_name(path)
        text = read_text(file)
        if text is None:
            continue
        findings += check_text(path, text)
        if file.suffix == ".md":
            findings += check_links(root, path, text)
        if file.suffix == ".py":
            findings += check_python(path, text)
            if path.startswith("tests/") and file.name not in ("__init__.py", "conftest.py"):
                if file.name in tests:
                    findings.append(Finding(path, 1, f"test file name used twice (also {tests[file.name]})"))
                tests[file.name] = path
    return findings


def check_name(path: str) -> Iterator[Finding]:
    """Names that are too long to read in a listing."""
    name = path.rpartition("/")[2]
    if len(name) > house_rules.FILE_NAME_CHARACTERS_REFUSED:
        yield Finding(path, 1, f"file name over {house_rules.FILE_NAME_CHARACTERS_REFUSED} characters")
    if len(path) > house_rules.PATH_CHARACTERS_REFUSED:
        yield Finding(path, 1, f"path over {house_rules.PATH_CHARACTERS_REFUSED} characters")


def check_text(path: str, text: str) -> Iterator[Finding]:
    """Words and texts that no file may contain."""
    for number, line in enumerate(text.splitlines(), start=1):
        if path.endswith((".py", ".toml", ".sh", ".sql")) and (word := _WORDS.search(line)):
            yield Finding(path, number, f"banned word {word.group()}: do it, or write an issue")
        for banned, reason in house_rules.BANNED_TEXTS.items():
            if banned in line:
                yield Finding(path, number, f"banned text {banned}: {reason}")


def check_links(root: Path, path: str, text: str) -> Iterator[Finding]:
    """Relative links of a page that lead nowhere."""
    folder = (root / path).parent
    for number, line in enumerate(text.splitlines(), start=1):
        for target in _LINK.findall(line):
            if "://" not in target and not (folder / target.partition("#")[0]).exists():
                yield Finding(path, number, f"link to {target} leads nowhere")


def check_python(path: str, text: str) -> list[Finding]:
    """All checks that need the syntax tree of one Python file."""
    module = ast.parse(text, filename=path)
    findings = list(_check_size(path, text))
    top = path.partition("/")[0]
    if top in (*PRODUCT_PACKAGES, "client", "tools"):
        findings += _check_functions(path, module)
        if module.body and ast.get_docstring(module) is None:
            findings.append(
                Finding(path, 1, "module docstring missing: say what it owns and what it must not own")
            )
    if top in (*PRODUCT_PACKAGES, "client"):
        findings += _check_prints(path, module)
        findings += _check_handlers(path, module)
    if top in PRODUCT_PACKAGES:
        findings += _check_reach(path, module)
    if top == "tests":
        findings += _check_waits(path, module)
    return findings


def _check_size(path: str, text: str) -> Iterator[Finding]:
    lines = text.count("\n")
    if _is_exempt(path, house_rules.GENERATED):
        return
    if lines > house_rules.MODULE_LINES_REFUSED:
        yield Finding(path, 1, f"module of {lines} lines: split it")
    elif lines > house_rules.MODULE_LINES_WARNED:
        yield Finding(path, 1, f"module of {lines} lines: wants a reason or a split", refused=False)


def _check_functions(path: str, module: ast.Module) -> Iterator[Finding]:
    for node in ast.walk(module):
        if isinstance(node, _FUNCTIONS):
            lines = (node.end_lineno or node.lineno) - node.lineno + 1
            if lines > house_rules.FUNCTION_LINES_REFUSED:
                yield Finding(path, node.lineno, f"function {node.name} of {lines} lines: split it")


def _check_prints(path: str, module: ast.Module) -> Iterator[Finding]:
    if _is_exempt(path, house_rules.PRINT_ALLOWED) or _is_exempt(path, house_rules.ADAPTERS):
        return
    for node in ast.walk(module):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "print":
            yield Finding(path, node.lineno, "print in the service: log it")


def _check_handlers(path: str, module: ast.Module) -> Iterator[Finding]:
    if _is_exempt(path, house_rules.BROAD_EXCEPT_ALLOWED):
        return
    for node in ast.walk(module):
        if not isinstance(node, ast.ExceptHandler):
            continue
        caught = _caught_names(node)
        # Undoing something and passing the exception on swallows nothing.
        passed_on = isinstance(node.body[-1], ast.Raise) and node.body[-1].exc is None
        if caught & {"Exception", "BaseException", ""} and not passed_on:
            yield Finding(path, node.lineno, "broad except: only the cell guard may catch everything")


def _caught_names(handler: ast.ExceptHandler) -> set[str]:
    if handler.type is None:
        return {""}
    types = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
    return {_dotted(node) for node in types}


def _check_reach(path: str, module: ast.Module) -> Iterator[Finding]:
    """Imports and calls that reach past the ports."""
    adapter = _is_exempt(path, house_rules.ADAPTERS)
    for node in ast.walk(module):
        for name in _imported_modules(node):
            top = name.partition(".")[0]
            if top in house_rules.BANNED_MODULES and (not adapter or top in house_rules.BANNED_EVERYWHERE):
                yield Finding(path, node.lineno, f"import of {top}: {house_rules.BANNED_MODULES[top]}")  # type: ignore[attr-defined]
        if adapter:
            continue
        for name in _reached_names(node):
            if reason := house_rules.BANNED_ATTRIBUTES.get(name):
                yield Finding(path, node.lineno, f"use of {name}: {reason}")  # type: ignore[attr-defined]
        if isinstance(node, ast.Call):
            yield from _check_call(path, node)


def _check_call(path: str, call: ast.Call) -> Iterator[Finding]:
    if isinstance(call.func, ast.Name) and (reason := house_rules.BANNED_CALLS.get(call.func.id)):
        yield Finding(path, call.lineno, f"call of {call.func.id}(): {reason}")
    if isinstance(call.func, ast.Attribute) and (reason := house_rules.BANNED_METHODS.get(call.func.attr)):
        yield Finding(path, call.lineno, f"call of .{call.func.attr}(): {reason}")


def _check_waits(path: str, module: ast.Module) -> Iterator[Finding]:
    """Tests wait in virtual time: a real sleep is either a race or a waste."""
    if _is_exempt(path, house_rules.REAL_TIME_TESTS) or _uses_virtual_clock(module):
        return
    for function in module.body:
        yield from _check_waits_below(path, function)


def _check_waits_below(path: str, node: ast.AST) -> Iterator[Finding]:
    if isinstance(node, _FUNCTIONS) and _argument_names(node) & house_rules.MOCK_CLOCK_FIXTURES:
        return
    if isinstance(node, ast.Call) and _dotted(node.func) in house_rules.REAL_WAITS:
        duration = node.args[0] if node.args else None
        if not (isinstance(duration, ast.Constant) and duration.value == 0):
            yield Finding(
                path, node.lineno, f"{_dotted(node.func)} without a mock clock: take autojump_clock"
            )
    for child in ast.iter_child_nodes(node):
        yield from _check_waits_below(path, child)


def _uses_virtual_clock(module: ast.Module) -> bool:
    """True for a module that makes its own virtual clock or puts one on every test."""
    for node in ast.walk(module):
        if _dotted(node).rpartition(".")[2] in house_rules.VIRTUAL_CLOCKS:
            return True
        if isinstance(node, ast.Constant) and node.value in house_rules.MOCK_CLOCK_FIXTURES:
            return True
    return False


def _argument_names(function: ast.FunctionDef | ast.AsyncFunctionDef) -> set[str]:
    arguments = function.args
    return {argument.arg for argument in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)}


def _imported_modules(node: ast.AST) -> list[str]:
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    if isinstance(node, ast.ImportFrom) and node.module is not None and node.level == 0:
        return [node.module]
    return []


def _reached_names(node: ast.AST) -> list[str]:
    """What `node` takes from another module: by import or by attribute."""
    if isinstance(node, ast.ImportFrom) and node.module is not None:
        return [f"{node.module}.{alias.name}" for alias in node.names]
    return [_dotted(node)] if isinstance(node, ast.Attribute) else []


def _dotted(node: ast.AST) -> str:
    """`a.b.c` for a plain chain of attributes, else an empty string."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        before = _dotted(node.value)
        return f"{before}.{node.attr}" if before else ""
    return ""


def _is_exempt(path: str, exemptions: Iterable[house_rules.Exemption]) -> bool:
    return any(fnmatchcase(path, exemption.pattern) for exemption in exemptions)


def main() -> int:
    """Checks the tree and prints what it found; 1 when something is refused."""
    findings = check_tree(ROOT)
    for finding in findings:
        print(finding)
    return int(any(finding.refused for finding in findings))


if __name__ == "__main__":
    sys.exit(main())
