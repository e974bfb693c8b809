"""Commands run in this process against the daemon of the end-to-end tests: exit code, stdout, stderr."""

import json
from collections.abc import Callable
from typing import Any, TypeAlias

import attrs
import pytest

from runtime.cli import main


@attrs.frozen
class Ended:
    """How a command ended."""

    code: int
    out: str
    err: str

    @property
    def value(self) -> Any:
        """The one JSON value it wrote."""
        (line,) = self.out.splitlines()
        return json.loads(line)

    @property
    def error(self) -> dict[str, Any]:
        """What it wrote of its failure as JSON."""
        return json.loads(self.err)["error"]


Do: TypeAlias = Callable[..., Ended]


def doing(
    data_dir: str, workspace: str, capsys: pytest.CaptureFixture[str], workspace_free: bool = False
) -> Do:
    """Runs commands with the daemon and the workspace of the test."""

    def do(*words: str) -> Ended:
        place = ("--data-dir", data_dir) + (() if workspace_free else ("--workspace", workspace))
        code = main([*words, *place])
        captured = capsys.readouterr()
        return Ended(code, captured.out, captured.err)

    return do


def begun(do: Do, prompt: str = "hello") -> str:
    """The id of a new session whose first turn has ended."""
    before = {one["agentSessionId"] for one in do("sessions", "--json").value["items"]}
    assert do("run", prompt, "--target", "demo").code == 0
    (new,) = {one["agentSessionId"] for one in do("sessions", "--json").value["items"]} - before
    return new
