"""The scripted app-server as a program that a daemon runs as its `codex`, and the target that names it.

Owns the pipes and the home on disk: rollouts, who writes to which, and a log of every line it was told. What was asked
of it survives whatever becomes of the process. Run by its path.
"""

import json
import os
import sys
from pathlib import Path
from typing import Any, cast

from runtime.providers.demo.actions import Action, ScriptedAgent, Write
from runtime.providers.demo.process import AgentLoop
from runtime.simulation.scripted_codex.rollouts import Record
from runtime.simulation.scripted_codex.self_description import Account
from runtime.simulation.scripted_codex.server import CodexSettings, ScriptedCodex
from runtime.simulation.scripted_codex.thread import VERSION

TARGET = "codex"
LOG = "notes.jsonl"


class FileRollouts:
    """Rollouts in a folder, one file each. Who writes to a thread is a process id, which is good while that lives."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder / "sessions"
        self._folder.mkdir(parents=True, exist_ok=True)

    def load(self, thread_id: str) -> Record | None:
        try:
            record: Record = json.loads((self._folder / f"{thread_id}.json").read_text())
        except FileNotFoundError:
            return None
        return record

    def save(self, thread_id: str, record: Record) -> None:
        new = self._folder / f"{thread_id}.{os.getpid()}.new"
        new.write_text(json.dumps(record))
        new.replace(self._folder / f"{thread_id}.json")

    def claim(self, thread_id: str, owner: str) -> bool:
        file = self._writer(thread_id)
        holder = int(file.read_text()) if file.exists() else 0
        if holder not in (0, os.getpid()) and Path(f"/proc/{holder}").exists():
            return False
        file.write_text(str(os.getpid()))
        return True

    def release(self, thread_id: str, owner: str) -> None:
        self._writer(thread_id).unlink(missing_ok=True)

    def release_all(self, owner: str) -> None:
        """The system does that: the id of a process that is gone holds nothing."""

    def _writer(self, thread_id: str) -> Path:
        return self._folder / f"{thread_id}.writer"


class Noted:
    """The agent, with a note of every line it was told and every request it made, written before anything else."""

    def __init__(self, agent: ScriptedAgent, file: Path) -> None:
        self._agent = agent
        self._file = file

    def receive(self, line: bytes, now: float) -> list[Action]:
        self._note("told", line)
        return self._seen(self._agent.receive(line, now))

    def wake(self, now: float) -> list[Action]:
        return self._seen(self._agent.wake(now))

    def end_of_input(self, now: float) -> list[Action]:
        return self._agent.end_of_input(now)

    def ended(self) -> None:
        self._agent.ended()

    def _seen(self, actions: list[Action]) -> list[Action]:
        for action in actions:
            if isinstance(action, Write) and b'"method"' in action.data and b'"id": ' in action.data:
                self._note("asked", action.data)
        return actions

    def _note(self, what: str, line: bytes) -> None:
        try:
            message = json.loads(line)
        except ValueError:
            return
        if what == "told" or ("id" in message and "method" in message):
            with self._file.open("a") as file:
                file.write(json.dumps({"pid": os.getpid(), what: message}) + "\n")


def scripted_target(folder: Path, identifier: str = TARGET, **environment: str) -> dict[str, Any]:
    """A `[[targets]]` entry. `environment`: SCRIPTED_CONFIG_WARNING, SCRIPTED_WORDS, SCRIPTED_UNLOAD_SECONDS,
    SCRIPTED_ACCOUNT (none, apiKey, chatgpt), SCRIPTED_CATALOGUE (told, refuses, silent, leaves, odd)."""
    folder.mkdir(parents=True, exist_ok=True)
    return {
        "id": identifier,
        "provider": "codex",
        "command": [sys.executable, str(Path(__file__).resolve()), "app-server"],
        "env": {"CODEX_HOME": str(folder), **environment},
    }


# --- what it was asked, for tests -----------------------------------------------------------------------------------


def notes(folder: Path) -> list[dict[str, Any]]:
    """Every whole note of all processes on this home, in order."""
    file = folder / LOG
    data = file.read_bytes() if file.exists() else b""
    return [json.loads(line) for line in data.rpartition(b"\n")[0].splitlines()]


def calls(folder: Path, method: str, thread_id: str | None = None) -> list[dict[str, Any]]:
    """The params of the requests of one method, of one thread if it is named."""
    told = [note["told"] for note in notes(folder) if note.get("told", {}).get("method") == method]
    params = [message["params"] for message in told]
    return [each for each in params if thread_id is None or each.get("threadId") == thread_id]


def replies(folder: Path, thread_id: str) -> list[list[dict[str, Any]]]:
    """For each request of that thread, in order: every answer it got."""
    noted = notes(folder)
    asked = [
        (note["pid"], note["asked"]["id"])
        for note in noted
        if note.get("asked", {}).get("params", {}).get("threadId") == thread_id
    ]
    answers = [
        (note["pid"], note["told"]) for note in noted if "method" not in note.get("told", {"method": 1})
    ]
    return [
        [answer for pid, answer in answers if (pid, answer.get("id")) == (asker, number)]
        for asker, number in asked
    ]


def main() -> None:
    """Say what it is where it is asked for that alone; else run until stdin ends."""
    if "--version" in sys.argv:
        print(f"codex-cli {VERSION}")
        return
    if "generate-json-schema" in sys.argv:
        sys.exit(1)
    environment = os.environ
    home = Path(environment["CODEX_HOME"])
    settings = CodexSettings(
        identity=f"{os.getpid():x}-{os.urandom(3).hex()}",
        secret=environment.get("SCRIPTED_WORDS", ""),
        config_warning=environment.get("SCRIPTED_CONFIG_WARNING", ""),
        unload_seconds=float(environment.get("SCRIPTED_UNLOAD_SECONDS", "60")),
        account=cast("Account", environment.get("SCRIPTED_ACCOUNT", "none")),
        catalogue=cast("Any", environment.get("SCRIPTED_CATALOGUE", "told")),
    )
    AgentLoop(Noted(ScriptedCodex(settings, FileRollouts(home)), home / LOG)).run()


if __name__ == "__main__":
    main()
