"""One `greenroom run` against a scripted daemon."""

from functools import partial

import trio

from runtime.cli.commands import told
from runtime.cli.run_command import RunRequest, run_prompt
from tests.cli.fake_daemon import FakeDaemon, running
from tests.cli.rows import commit, message, session, settled, turn

TARGETS = {
    "items": [{"agentTargetId": "off", "enabled": False}, {"agentTargetId": "demo", "enabled": True}],
    "nextCursor": None,
}
DONE = commit(("message", message("m", "Hello")), ("turn", settled()))


def daemon_with(*events, **answers):
    daemon = FakeDaemon(
        answers={
            "target/list": TARGETS,
            "session/create": {"session": session(), "turn": turn(), "commitSeq": 1},
            "session/send": {"turn": turn(), "commitSeq": 1},
            "session/get": {"session": session(), "commitSeq": 1},
            "session/list": {"items": [], "nextCursor": None, "commitSeq": 1},
            **answers,
        }
    )
    daemon.after = {"session/create": list(events), "session/send": list(events)}
    return daemon


def request(prompt="do it", **more):
    fields = {"target_id": None, "cwd": None, "session_id": None, "workspace_id": "default", **more}
    return RunRequest(prompt, **fields)


async def run(daemon, data_dir, flags, output, asked=None):
    async with running(daemon, data_dir):
        with trio.fail_after(20):
            return await told(partial(run_prompt, asked or request(), flags, output), output)
