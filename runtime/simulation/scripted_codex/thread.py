"""One thread of the scripted app-server: its settings, its turns as they are kept, and how answers show it.

Owns data alone. Which turn plays in it, and who hears of it, is the server's and the turn's.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import attrs

from runtime.simulation.scripted_codex.rollouts import Record
from runtime.simulation.scripted_codex.texts import Frame

if TYPE_CHECKING:
    from runtime.simulation.scripted_codex.turn import Turn

VERSION: Final = "0.171.0"
MODEL: Final = "gpt-5.5"
SANDBOXES: Final = {
    "read-only": "readOnly",
    "workspace-write": "workspaceWrite",
    "danger-full-access": "dangerFullAccess",
}
_POLICY: Final = "on-request"
_SANDBOX: Final = "read-only"


@attrs.frozen(kw_only=True)
class ThreadSettings:
    """What holds in a thread, in Codex's words."""

    cwd: str = "/"
    model: str = MODEL
    approval_policy: str = _POLICY
    sandbox: str = _SANDBOX
    effort: str | None = None


@attrs.define(eq=False)
class Thread:
    """A thread that this process holds."""

    thread_id: str
    settings: ThreadSettings
    ephemeral: bool = False
    forked_from: str | None = None
    name: str | None = None
    turns: list[Frame] = attrs.field(factory=list)
    """As they are kept, oldest first."""
    injected: bool = False
    """Whether anything was put into it without a turn."""
    subscribed: bool = True
    turn: Turn | None = None
    """The one that plays."""
    commands: dict[str, tuple[Turn, Frame]] = attrs.field(factory=dict)
    """Commands that run, by their process ids, with the turn and the item of each."""
    begun_in: Turn | None = None
    """The turn of another thread in which it was begun as a sub-agent; its path is its name."""
    own_turns: list[tuple[str, int]] = attrs.field(factory=list)
    """Turns that the server will begin by itself: `goal` or `review`, and how many milliseconds each lasts."""

    @property
    def materialized(self) -> bool:
        """Whether there is anything of it to be kept."""
        return not self.ephemeral and bool(self.turns or self.injected)

    @property
    def status(self) -> Frame:
        """Idle, or active with what it waits for."""
        if self.turn is None:
            return {"type": "idle"}
        return {"type": "active", "activeFlags": ["waitingOnApproval"] if self.turn.asks else []}

    def view(self) -> Frame:
        """The thread as answers and notifications show it."""
        return {
            "id": self.thread_id,
            "sessionId": self.thread_id,
            "forkedFromId": self.forked_from,
            "parentThreadId": None,
            "preview": "",
            "ephemeral": self.ephemeral,
            "historyMode": "paginated",
            "status": self.status,
            "path": None if self.ephemeral else f"/codex-home/sessions/rollout-{self.thread_id}.jsonl",
            "cwd": self.settings.cwd,
            "cliVersion": VERSION,
            "name": self.name,
            "turns": [],
        }

    def opened(self) -> Frame:
        """The result of `thread/start`, `thread/resume` and `thread/fork`."""
        held = self.settings
        return {
            "thread": self.view(),
            "model": held.model,
            "modelProvider": "scripted",
            "cwd": held.cwd,
            "approvalPolicy": held.approval_policy,
            "approvalsReviewer": "user",
            "sandbox": {"type": SANDBOXES.get(held.sandbox, held.sandbox)},
            "reasoningEffort": held.effort,
        }

    def record(self) -> Record:
        """What is kept of it."""
        return {"settings": attrs.asdict(self.settings), "name": self.name, "turns": self.turns}


def from_record(thread_id: str, record: Record) -> Thread:
    """A kept thread, loaded. A turn that was running when its process ended counts as interrupted."""
    turns = [
        turn | {"status": "interrupted"} if turn["status"] == "inProgress" else turn
        for turn in record["turns"]
    ]
    return Thread(thread_id, ThreadSettings(**record["settings"]), name=record["name"], turns=turns)


def asked_settings(params: Frame, held: ThreadSettings | None, resumes: bool) -> ThreadSettings:
    """The settings that a request leads to.

    What it does not say is taken over unevenly, as the real app-server does: a sandbox that lets write is lost, and a
    fork loses model and effort too.
    """
    was = held or ThreadSettings()
    kept_sandbox = was.sandbox if was.sandbox != "workspace-write" else _SANDBOX
    config = params.get("config")
    effort = config.get("model_reasoning_effort") if isinstance(config, dict) else None
    return ThreadSettings(
        cwd=_text(params, "cwd", was.cwd),
        model=_text(params, "model", was.model if resumes else MODEL),
        approval_policy=_text(params, "approvalPolicy", was.approval_policy),
        sandbox=_text(params, "sandbox", kept_sandbox),
        effort=effort if effort is not None or not resumes else was.effort,
    )


def _text(params: Frame, name: str, default: str) -> str:
    value: Any = params.get(name)
    return value if isinstance(value, str) else default
