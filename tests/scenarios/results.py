"""What the scenarios found out about each target, as it is committed: a run either agrees with it or is red.

Owns `results.json`, from which `tools.provider_table` makes the table of docs/providers.md. `WRITE_RESULTS=1` in the
environment of a run writes what it finds instead.
"""

import json
import os
from pathlib import Path
from typing import Any

FILE = Path(__file__).with_name("results.json")
WRITING = os.environ.get("WRITE_RESULTS") == "1"


def read_results() -> dict[str, dict[str, Any]]:
    """Target to what was found of it."""
    found: dict[str, dict[str, Any]] = json.loads(FILE.read_text()) if FILE.exists() else {}
    return found


def shows(target: str, what: str, value: Any) -> None:
    """One of them was found to be so."""
    committed = read_results()
    if WRITING:
        committed.setdefault(target, {})[what] = value
        FILE.write_text(json.dumps(committed, indent=2, sort_keys=True, ensure_ascii=False) + "\n")
        return
    known = committed.get(target, {}).get(what)
    assert known == value, f"{target}: {what} is {value!r}, and {known!r} is committed (make providers)"
