"""What the scripted app-server tells beside its threads: an account, models, skills, the usage left.

Owns the answers alone. They are the real one's in their shapes, with the members that must never reach a client filled in.
"""

from typing import Any, Literal, TypeAlias

Account: TypeAlias = Literal["none", "apiKey", "chatgpt"]
SECRETS = ("someone@example.test", "account-5a17", "/codex-home/skills")
"""Of an account and of this machine: what nobody may be told."""


def account_told(account: Account) -> dict[str, Any]:
    """`account/read`."""
    whose: dict[str, Any] | None = None if account == "none" else {"type": account}
    if account == "chatgpt":
        whose = {"type": "chatgpt", "email": SECRETS[0], "planType": "plus"}
    return {"account": whose, "userId": SECRETS[1], "requiresOpenaiAuth": True}


def models_told() -> dict[str, Any]:
    """`model/list`, one page."""
    efforts = [
        {"reasoningEffort": effort, "description": f"{effort} effort"} for effort in ("low", "medium", "high")
    ]
    return {
        "data": [
            _model("scripted-large", efforts, is_default=True),
            _model("scripted-small", efforts[:1]),
            _model("scripted-hidden", [], hidden=True),
        ],
        "nextCursor": None,
    }


def skills_told() -> dict[str, Any]:
    """`skills/list`, of one directory."""
    skill = {
        "name": "plant-trees",
        "description": "Plants trees.",
        "path": f"{SECRETS[2]}/plant-trees/SKILL.md",
        "scope": "user",
        "enabled": True,
    }
    return {"data": [{"cwd": "/", "skills": [skill], "errors": []}]}


def usage_told() -> dict[str, Any]:
    """`account/rateLimits/read` of a subscription."""
    primary = {"usedPercent": 40, "windowDurationMins": 300, "resetsAt": 1_900_000_000}
    return {"rateLimits": {"limitId": "scripted", "primary": primary, "secondary": None, "planType": "plus"}}


def _model(
    name: str, efforts: list[dict[str, str]], *, is_default: bool = False, hidden: bool = False
) -> dict[str, Any]:
    return {
        "id": name,
        "model": name,
        "displayName": name.title(),
        "description": f"The model {name}.",
        "isDefault": is_default,
        "hidden": hidden,
        "supportedReasoningEfforts": efforts,
        "defaultReasoningEffort": "low",
    }
