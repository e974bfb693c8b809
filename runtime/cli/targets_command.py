"""`greenroom targets`: the agents that can be talked to, as the daemon sees them, and what they tell of themselves.

The list itself asks no agent. What one cannot tell stands beside what the others did: it ends the command no more than a
target that is not found.
"""

from collections.abc import Iterator
from functools import partial
from typing import Any, Final

from greenroom_client import Client, GreenroomError
from greenroom_client.contract.models import Target
from runtime.cli.commands import all_items, load, perform_async
from runtime.cli.daemon_access import open_daemon
from runtime.cli.output import Output
from runtime.config import Flags

TARGET_COLUMNS: Final = ("TARGET", "PROVIDER", "NAME", "STATE", "VERSION", "SIGN-IN")
MODEL_COLUMNS: Final = ("TARGET", "MODEL", "NAME", "EFFORTS")


def targets_command(flags: Flags, *, check: bool, models: bool, as_json: bool) -> int:
    """Lists the targets, the default one first; with `models`, what each offers in place of that."""
    output = Output(as_json)
    return perform_async(partial(list_targets, flags, check, models, output), output)


async def list_targets(flags: Flags, check: bool, models: bool, output: Output) -> int:
    """The list within a loop."""
    async with open_daemon(load(flags)) as daemon:
        if check:
            await _ask_all(daemon.client, "provider/status", output)
        offered = await _ask_all(daemon.client, "provider/models", output) if models else {}
        targets = await all_items(daemon.client, "target/list", {})
    if output.as_json:
        output.document({"items": targets, **({"models": offered} if models else {})})
    elif models:
        output.table(
            MODEL_COLUMNS, [row for name, told in offered.items() for row in _model_rows(name, told)]
        )
    else:
        output.table(TARGET_COLUMNS, [_row(target) for target in targets])
    return 0


async def _ask_all(client: Client, method: str, output: Output) -> dict[str, Any]:
    """What each enabled target that is there answers, one after the other."""
    told: dict[str, Any] = {}
    for target in await all_items(client, "target/list", {}):
        name = target["agentTargetId"]
        if not (target["enabled"] and target["program"]["found"]):
            continue
        try:
            told[name] = await client.request(method, {"agentTargetId": name})
        except GreenroomError as refused:
            output.hint(f"{name}: {refused.code}")
        else:
            problem = told[name]["problem"]
            if problem is not None:
                output.hint(f"{name}: {problem['code']}; what is shown was known before")
    return told


def _model_rows(name: str, told: Any) -> Iterator[tuple[str, ...]]:
    for model in told["models"]:
        if not model["hidden"]:
            efforts = ", ".join(effort["value"] for effort in model["reasoningEfforts"] or ())
            default = " (default)" if model["isDefault"] else ""
            yield name, model["model"], f"{model['label']}{default}", efforts


def _row(target: Target) -> tuple[str, ...]:
    program = target["program"]
    state = "ready" if program["found"] else "not found"
    return (
        target["agentTargetId"],
        target["provider"],
        target["name"],
        state if target["enabled"] else "disabled",
        program["version"] or "",
        target["auth"],
    )
