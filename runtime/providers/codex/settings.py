"""A thread's settings on the Codex wire: what is sent each time it opens, and whether the answer may be trusted.

Codex gives settings back unevenly when it loads a thread: a sandbox it lost comes from its configuration file, and may
be wider than the one that held before. So nothing is left to inheritance: directory, sandbox and approval policy go
with every start and resume, and an answer that allows more than was asked fails the attempt.
"""

import posixpath
from typing import Final

import attrs

from runtime.providers.codex.failures import provider_error
from runtime.providers.jsonrpc.members import Members, object_of, text_of
from runtime.providers.port import PlanEnd, SettingChoice, SettingDescription
from store.canonical.common import Json, Settings, SettingValue, TurnError

APPROVAL_POLICIES: Final = (
    SettingChoice("untrusted", "Ask before every command that is not known to be harmless", "asks"),
    SettingChoice("on-request", "Ask when the sandbox is in the way"),
    SettingChoice("never", "Never ask"),
)
SANDBOXES: Final = (
    SettingChoice("read-only", "Read files only", "read_only"),
    SettingChoice("workspace-write", "Write in the working directory", "edits"),
    SettingChoice("danger-full-access", "No sandbox", "unrestricted"),
)
"""Both from the narrowest to the widest."""

COLLABORATION_MODES: Final = (
    SettingChoice("default", "Work"),
    SettingChoice("plan", "Plan only, and ask before carrying it out"),
)
DEFAULT_COLLABORATION_MODE: Final = "default"
PLANNING: Final = "plan"
CARRY_OUT: Final = "Implement the plan."

DEFAULT_APPROVAL_POLICY: Final = "on-request"
DEFAULT_SANDBOX: Final = "workspace-write"

DESCRIPTIONS: Final = (
    SettingDescription("model", "next_turn"),
    SettingDescription("reasoningEffort", "next_turn"),
    SettingDescription("approvalPolicy", "next_turn", APPROVAL_POLICIES, DEFAULT_APPROVAL_POLICY),
    SettingDescription("sandbox", "next_turn", SANDBOXES, DEFAULT_SANDBOX),
    SettingDescription(
        "collaborationMode",
        "next_turn",
        COLLABORATION_MODES,
        DEFAULT_COLLABORATION_MODE,
        plan_end=PlanEnd(DEFAULT_COLLABORATION_MODE, CARRY_OUT),
    ),
)

_POLICY_RANKS: Final = {"untrusted": 0, "on-request": 1, "on-failure": 2, "never": 3}
_SANDBOX_NAMES: Final = {
    "readOnly": "read-only",
    "workspaceWrite": "workspace-write",
    "dangerFullAccess": "danger-full-access",
    "externalSandbox": "danger-full-access",
}
_SANDBOX_TYPES: Final = {
    "read-only": "readOnly",
    "workspace-write": "workspaceWrite",
    "danger-full-access": "dangerFullAccess",
}
_SANDBOX_RANKS: Final = {"read-only": 0, "workspace-write": 1, "danger-full-access": 2}
_REVIEWER: Final = "user"
_MODES: Final = frozenset(choice.value for choice in COLLABORATION_MODES)


@attrs.frozen
class ThreadSettings:
    """What holds for one thread. `model` and `effort` are null where the configuration of Codex decides."""

    approval_policy: str = DEFAULT_APPROVAL_POLICY
    sandbox: str = DEFAULT_SANDBOX
    model: str | None = None
    effort: str | None = None
    mode: str = DEFAULT_COLLABORATION_MODE

    def told(self) -> Settings:
        """The same by the keys used outside."""
        settings: dict[str, SettingValue] = {
            "approvalPolicy": self.approval_policy,
            "sandbox": self.sandbox,
        }
        if self.model is not None:
            settings["model"] = self.model
        if self.effort is not None:
            settings["reasoningEffort"] = self.effort
        if self.mode != DEFAULT_COLLABORATION_MODE:
            settings["collaborationMode"] = self.mode
        return settings


def wanted_settings(settings: Settings) -> ThreadSettings | TurnError:
    """The settings of a session; an error for a value that Codex would not know."""
    policy = settings.get("approvalPolicy", DEFAULT_APPROVAL_POLICY)
    sandbox = settings.get("sandbox", DEFAULT_SANDBOX)
    model, effort = settings.get("model"), settings.get("reasoningEffort")
    if not isinstance(policy, str) or policy not in {choice.value for choice in APPROVAL_POLICIES}:
        return provider_error("settings.invalid")
    if not isinstance(sandbox, str) or sandbox not in _SANDBOX_RANKS:
        return provider_error("settings.invalid")
    if isinstance(model, bool) or isinstance(effort, bool):
        return provider_error("settings.invalid")
    mode = settings.get("collaborationMode", DEFAULT_COLLABORATION_MODE)
    if not isinstance(mode, str) or mode not in _MODES:
        return provider_error("settings.invalid")
    return ThreadSettings(policy, sandbox, model, effort, mode)


def open_params(cwd: str, wanted: ThreadSettings, thread_id: str | None) -> Json:
    """Params of `thread/start`, and of `thread/resume` when there is a thread.

    The effort has no member of its own here; as an override of the configuration it holds from the first turn on.
    """
    params: dict[str, Json] = {} if thread_id is None else {"threadId": thread_id, "excludeTurns": True}
    params |= {
        "cwd": cwd,
        "approvalPolicy": wanted.approval_policy,
        "approvalsReviewer": _REVIEWER,
        "sandbox": wanted.sandbox,
    }
    if wanted.model is not None:
        params["model"] = wanted.model
    if wanted.effort is not None:
        params["config"] = {"model_reasoning_effort": wanted.effort}
    return params


def turn_params(held: ThreadSettings, wanted: ThreadSettings) -> dict[str, Json]:
    """Members of `turn/start` for what a turn changes; Codex keeps it for the turns after (PR-012).

    A model or an effort that nobody chose is left as it is: Codex has no word for its own choice here.
    """
    params: dict[str, Json] = {}
    if wanted.approval_policy != held.approval_policy:
        params["approvalPolicy"] = wanted.approval_policy
    if wanted.sandbox != held.sandbox:
        params["sandboxPolicy"] = {"type": _SANDBOX_TYPES[wanted.sandbox]}
    if wanted.model is not None and wanted.model != held.model:
        params["model"] = wanted.model
    if wanted.effort is not None and wanted.effort != held.effort:
        params["effort"] = wanted.effort
    if wanted.mode != held.mode:
        # The mode comes with a model and an effort of its own: those that hold anyway. Its rules are Codex's own.
        params["collaborationMode"] = {
            "mode": wanted.mode,
            "settings": {
                "model": wanted.model or held.model,
                "reasoning_effort": wanted.effort or held.effort,
                "developer_instructions": None,
            },
        }
    return params


def after_turn(held: ThreadSettings, wanted: ThreadSettings) -> ThreadSettings:
    """What holds once Codex took a prompt with these."""
    model, effort = wanted.model or held.model, wanted.effort or held.effort
    return attrs.evolve(wanted, model=model, effort=effort)


def narrower(one: ThreadSettings, other: ThreadSettings) -> ThreadSettings:
    """The first, but allowing no more than the second."""
    policies = sorted((one.approval_policy, other.approval_policy), key=_POLICY_RANKS.__getitem__)
    sandboxes = sorted((one.sandbox, other.sandbox), key=_SANDBOX_RANKS.__getitem__)
    return attrs.evolve(one, approval_policy=policies[0], sandbox=sandboxes[0])


def read_settings(members: Members, held: ThreadSettings) -> ThreadSettings:
    """What `thread/settings/updated` says; what it leaves out or says in unknown words stays."""
    policy = text_of(members.get("approvalPolicy"))
    sandbox = _SANDBOX_NAMES.get(text_of(object_of(members.get("sandboxPolicy")).get("type")) or "")
    return ThreadSettings(
        policy if policy in _POLICY_RANKS else held.approval_policy,
        sandbox or held.sandbox,
        text_of(members.get("model")) or held.model,
        text_of(members.get("effort")) or held.effort,
        _mode_in(members) or held.mode,
    )


def verified_settings(members: Members, cwd: str, wanted: ThreadSettings) -> ThreadSettings | TurnError:
    """What holds according to the answer, or why going on with it would be another thing than was asked.

    Narrower is taken and reported: an administrator's requirements do that. Wider, or a word nobody knows, is not.
    """
    policy = members.get("approvalPolicy")
    sandbox = _SANDBOX_NAMES.get(text_of(object_of(members.get("sandbox")).get("type")) or "")
    if not isinstance(policy, str) or policy not in _POLICY_RANKS or sandbox is None:
        return _wider("The answer of Codex does not say what it would allow itself.")
    if _POLICY_RANKS[policy] > _POLICY_RANKS[wanted.approval_policy]:
        return _wider("Codex would ask less often than was chosen.")
    if _SANDBOX_RANKS[sandbox] > _SANDBOX_RANKS[wanted.sandbox]:
        return _wider("Codex would work in a wider sandbox than was chosen.")
    if members.get("approvalsReviewer", _REVIEWER) != _REVIEWER:
        return _wider("Codex would not put its questions to a person.")
    if posixpath.normpath(text_of(members.get("cwd")) or ".") != posixpath.normpath(cwd):
        return _wider("Codex would work in another directory.")
    model, effort = text_of(members.get("model")), text_of(members.get("reasoningEffort"))
    if wanted.model is not None and model != wanted.model:
        return provider_error("provider.model_unavailable")
    if wanted.effort is not None and effort != wanted.effort:
        return provider_error("settings.invalid")
    return ThreadSettings(policy, sandbox, model, effort, _mode_in(members) or DEFAULT_COLLABORATION_MODE)


def _mode_in(members: Members) -> str | None:
    mode = text_of(object_of(members.get("collaborationMode")).get("mode"))
    return mode if mode in _MODES else None


def _wider(text: str) -> TurnError:
    return provider_error("settings.invalid", text)
