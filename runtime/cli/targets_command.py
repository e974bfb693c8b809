"""`greenroom targets`: the agents that can be talked to, as the daemon sees them."""

from functools import partial
from typing import Final

from greenroom_client.contract.models import Target
from runtime.cli.commands import all_items, load, perform_async
from runtime.cli.daemon_access import open_daemon
from runtime.cli.output import Output
from runtime.config import Flags

TARGET_COLUMNS: Final = ("TARGET", "PROVIDER", "NAME", "STATE", "VERSION", "SIGN-IN")


def targets_command(flags: Flags, *, as_json: bool) -> int:
    """Lists the targets, the default one first."""
    output = Output(as_json)
    return perform_async(partial(list_targets, flags, output), output)


async def list_targets(flags: Flags, output: Output) -> int:
    """The list within a loop."""
    async with open_daemon(load(flags)) as daemon:
        targets = await all_items(daemon.client, "target/list", {})
    if output.as_json:
        output.document({"items": targets})
    else:
        output.table(TARGET_COLUMNS, [_row(target) for target in targets])
    return 0


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
