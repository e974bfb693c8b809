"""Writes the generated files of the repository, or says how the committed ones differ.

Owns the list of what is generated: `contract` (from the models in runtime/wire, by `greenroom contract`), `client`
(from the committed contract/, by `tools.client_models`) and `diagrams` (from the transition tables, by
`tools.diagrams`). Run it as `python -m tools.generated contract`,
with `--write` to write and `--folder` to look at another folder than the committed one.
"""

import argparse
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NamedTuple

from tools.client_models import client_files
from tools.diagrams import diagram_files
from tools.files import ROOT, tree_files


class Kind(NamedTuple):
    """One folder of generated files and what makes them."""

    folder: Path
    generate: Callable[[], dict[str, str]]
    available: Callable[[], bool]
    target: str
    """Of `make`, which writes it."""


def contract_files() -> dict[str, str]:
    """File name to content of the outer contract, as the installed command writes it."""
    with tempfile.TemporaryDirectory() as folder:
        command = [str(Path(sys.executable).parent / "greenroom"), "contract", "--out", folder]
        subprocess.run(command, check=True, cwd=ROOT, stdout=subprocess.DEVNULL)
        return files_below(Path(folder))


def files_below(folder: Path) -> dict[str, str]:
    """Relative path to content of every file below `folder`."""
    if not folder.is_dir():
        return {}
    return {
        file.relative_to(folder).as_posix(): file.read_text(encoding="utf-8") for file in tree_files(folder)
    }


def differences(committed: Mapping[str, str], generated: Mapping[str, str]) -> list[str]:
    """One line for every file that is missing, superfluous or different."""
    return [
        *(f"{name}: missing" for name in sorted(generated.keys() - committed.keys())),
        *(f"{name}: nothing generates it" for name in sorted(committed.keys() - generated.keys())),
        *(
            f"{name}: stale"
            for name in sorted(generated)
            if committed.get(name, generated[name]) != generated[name]
        ),
    ]


def write(folder: Path, files: Mapping[str, str]) -> None:
    """Makes `folder` hold exactly `files`."""
    for name in files_below(folder).keys() - files.keys():
        (folder / name).unlink()
    for name, text in files.items():
        target = folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, encoding="utf-8")


def has_wire_models() -> bool:
    """Whether there are models to write a contract from."""
    return any((ROOT / "runtime" / "wire").glob("*.py"))


KINDS = {
    "client": Kind(ROOT / "client" / "greenroom_client" / "contract", client_files, lambda: True, "contract"),
    "contract": Kind(ROOT / "contract", contract_files, has_wire_models, "contract"),
    "diagrams": Kind(ROOT / "docs" / "diagrams", diagram_files, lambda: True, "diagrams"),
}


def main(arguments: list[str]) -> int:
    """Writes or compares one kind; 1 when the committed files differ."""
    parser = argparse.ArgumentParser(prog="python -m tools.generated")
    parser.add_argument("kind", choices=sorted(KINDS))
    parser.add_argument("--write", action="store_true", help="write the files instead of comparing them")
    parser.add_argument("--folder", type=Path, help="another folder than the committed one")
    options = parser.parse_args(arguments)
    kind = KINDS[options.kind]
    folder = options.folder or kind.folder
    if not kind.available():
        print(f"{options.kind}: nothing to generate yet")
        return 0
    generated = kind.generate()
    if options.write:
        write(folder, generated)
        return 0
    found = differences(files_below(folder), generated)
    for line in found:
        print(f"{options.kind}/{line}")
    if found:
        print(f"Run `make {kind.target}` and commit what it writes.")
    return int(bool(found))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
