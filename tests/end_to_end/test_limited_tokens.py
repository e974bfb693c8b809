"""What a limited token may: its directories, its widest effect, its counts and its rate, judged for every request."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
import trio

from tests.end_to_end.client import Client, Json, Refused, connected
from tests.end_to_end.daemon import Daemon
from tests.end_to_end.fixtures import MakeDaemon, token_of
from tests.end_to_end.plain_http import ask
from tests.end_to_end.talk import answer_params, start, text

CODEX = "codex-like"


def limited(make_daemon: MakeDaemon, folder: Path, **bounds: Any) -> Daemon:
    """A daemon with one more token, `api`, bounded like that; a target whose settings have known effects."""
    token_file = folder / "api.token"
    token_file.write_text(token_of("api"))
    token_file.chmod(0o600)
    token = {"name": "api", "tokenFile": str(token_file), "scope": "control", **bounds}
    target = {"id": CODEX, "provider": "codex", "command": ["no-such-agent-program"]}
    return make_daemon({"targets": [target], "tokens": [token]})


@asynccontextmanager
async def both(daemon: Daemon) -> AsyncIterator[tuple[Client, Client]]:
    """The administrator and the limited client, both following the workspace."""
    async with connected(daemon) as admin, connected(daemon, token=token_of("api")) as api:
        for one in (admin, api):
            await one.subscribe("w")
        yield admin, api


def create_params(submit_id: str, **changes: Any) -> Json:
    return {"workspaceId": "w", "agentTargetId": CODEX, "clientSubmitId": submit_id, **changes}


def send_params(key: Json, submit_id: str, prompt: str = "[[say x]]") -> Json:
    return {**key, "clientSubmitId": submit_id, "content": text(prompt)}


# --- effects --------------------------------------------------------------------------------------------------------


async def test_a_token_limited_to_edits_starts_nothing_wider(make_daemon: MakeDaemon, tmp_path: Path) -> None:
    daemon = limited(make_daemon, tmp_path, maxEffect="edits")
    async with both(daemon) as (admin, api):
        for submit_id, settings in (("a", {}), ("b", {"sandbox": "read-only"}), ("c", {"model": "any"})):
            await api.request("session/create", **create_params(submit_id, settings=settings))
        wide = {"sandbox": "danger-full-access"}
        refused = await api.refused("session/create", **create_params("d", settings=wide))
        assert refused["code"] == "auth.forbidden"
        assert refused["details"] == {
            "limit": "maxEffect",
            "param": "settings",
            "effect": "unrestricted",
            "maxEffect": "edits",
        }
        await admin.request("session/create", **create_params("d", settings=wide))


async def test_a_setting_nobody_knows_the_effect_of_counts_as_unrestricted(
    make_daemon: MakeDaemon, tmp_path: Path
) -> None:
    plain = {"id": "plain", "provider": "acp", "command": ["no-such-agent-program"]}
    daemon = limited(make_daemon, tmp_path, maxEffect="edits")
    daemon.settings = {**daemon.settings, "targets": [plain]}
    await trio.to_thread.run_sync(daemon.restart)
    async with both(daemon) as (_, api):
        for settings in ({}, {"mode": "whatever"}):
            refused = await api.refused(
                "session/create", **create_params("x", agentTargetId="plain", settings=settings)
            )
            assert (refused["code"], refused["details"]["effect"]) == ("auth.forbidden", "unrestricted")


async def test_it_drives_no_session_that_goes_further_and_may_still_read_and_stop_it(
    make_daemon: MakeDaemon, tmp_path: Path
) -> None:
    daemon = limited(make_daemon, tmp_path, maxEffect="read_only")
    async with both(daemon) as (admin, api):
        talk = await start(admin, "w", "[[ask allow_once,reject_once]]")
        asked = await talk.pending()
        for method, params in (
            ("session/send", send_params(talk.key, "s")),
            ("session/resume", talk.key),
            ("turn/guide", {**send_params(talk.key, "g"), "turnId": talk.turn["turnId"]}),
            ("interaction/respond", answer_params(asked)),
        ):
            refused = await api.refused(method, **params)
            assert refused["code"] == "auth.forbidden", method
            assert refused["details"]["limit"] == "maxEffect", method
        assert (await api.request("session/get", **talk.key))["interactions"] == [asked]
        answered = await api.request("interaction/respond", **answer_params(asked, "reject-once"))
        assert answered["interaction"]["status"] == "answered", "who refuses holds an agent back"
        await admin.settled(talk.turn)
        hanging = await talk.send("[[hang]]")
        await api.request("turn/cancel", **talk.key, turnId=hanging["turnId"])
        assert (await admin.settled(hanging))["outcome"] == "canceled"
        await api.request("session/close", **talk.key)


async def test_settings_change_up_to_its_effect_and_always_back(
    make_daemon: MakeDaemon, tmp_path: Path
) -> None:
    daemon = limited(make_daemon, tmp_path, maxEffect="asks")
    async with both(daemon) as (admin, api):
        talk = await start(api, "w", "[[say x]]")
        await api.settled(talk.turn)
        refused = await api.refused("session/updateSettings", **talk.key, settings={"mode": "auto"})
        assert (refused["code"], refused["details"]["effect"]) == ("auth.forbidden", "edits")
        await api.request("session/updateSettings", **talk.key, settings={"model": "demo-large"})
        await admin.request("session/updateSettings", **talk.key, settings={"mode": "auto"})
        refused = await api.refused("session/send", **send_params(talk.key, "s"))
        assert (refused["code"], refused["details"]["param"]) == ("auth.forbidden", "settings")
        await api.request("session/updateSettings", **talk.key, settings={"mode": "ask"})
        assert (await talk.say("[[say y]]"))["outcome"] == "completed"


async def test_an_answer_that_allows_more_than_this_once_is_beyond_it(
    make_daemon: MakeDaemon, tmp_path: Path
) -> None:
    daemon = limited(make_daemon, tmp_path, maxEffect="asks")
    async with both(daemon) as (_, api):
        talk = await start(api, "w", "[[ask allow_once,allow_always,reject_once]] [[say done]]")
        asked = await talk.pending()
        refused = await api.refused("interaction/respond", **answer_params(asked, "allow-always"))
        assert (refused["code"], refused["details"]["param"]) == ("auth.forbidden", "answer")
        assert (await api.request("session/get", **talk.key))["interactions"] == [asked], "it stays pending"
        await talk.answer(asked, "allow-once")
        assert (await api.settled(talk.turn))["outcome"] == "completed"


# --- directories ----------------------------------------------------------------------------------------------------


@pytest.mark.case("FC-36")
async def test_roots_hold_whatever_a_path_looks_like_and_are_judged_again_each_time(
    make_daemon: MakeDaemon, tmp_path: Path
) -> None:
    root, outside = tmp_path / "root", tmp_path / "outside"
    for folder in (root / "real", outside):
        folder.mkdir(parents=True)
    (root / "way-out").symlink_to(outside)
    daemon = limited(make_daemon, tmp_path, roots=[str(root)])
    async with both(daemon) as (admin, api):
        for number, cwd in enumerate(
            (root / "way-out", root / "way-out" / "x", root / ".." / "outside", "/")
        ):
            refused = await api.refused(
                "session/create", **create_params(f"out-{number}", agentTargetId="demo", cwd=str(cwd))
            )
            assert (refused["code"], refused["details"]["limit"]) == ("auth.forbidden", "roots"), cwd
        missing = create_params("missing", agentTargetId="demo", cwd=str(root / "missing"))
        assert (await api.refused("session/create", **missing))["code"] == "session.cwd_missing"
        no_cwd = create_params("default", agentTargetId="demo")
        assert (await api.refused("session/create", **no_cwd))["code"] == "auth.forbidden"

        talk = await start(api, "w", target="demo", cwd=str(root / "real" / ".." / "real"))
        assert (await talk.say("[[say x]]"))["outcome"] == "completed"
        await admin.request("session/close", **talk.key)
        (root / "real").rmdir()
        (root / "real").symlink_to(outside)
        refused = await api.refused("session/send", **send_params(talk.key, "moved"))
        assert (refused["code"], refused["details"]["limit"]) == ("auth.forbidden", "roots")
        foreign = await start(admin, "w", target="demo", cwd=str(outside), clientSubmitId="foreign")
        assert (await api.refused("session/send", **send_params(foreign.key, "f")))[
            "code"
        ] == "auth.forbidden"


async def test_a_session_without_a_directory_of_its_own_is_let_in_where_those_are_roots(
    make_daemon: MakeDaemon, tmp_path: Path
) -> None:
    work_root = tmp_path / "work"
    daemon = limited(make_daemon, tmp_path, roots=[str(work_root)])
    daemon.settings = {**daemon.settings, "workRoot": str(work_root)}
    await trio.to_thread.run_sync(daemon.restart)
    async with both(daemon) as (_, api):
        talk = await start(api, "w", "[[say x]]", target="demo")
        assert Path(talk.created["session"]["cwd"]).is_relative_to(work_root)
        assert (await api.settled(talk.turn))["outcome"] == "completed"


async def test_a_prompt_behind_the_create_it_belongs_to_is_judged_by_what_was_created(
    make_daemon: MakeDaemon, tmp_path: Path
) -> None:
    root = tmp_path / "root"
    root.mkdir()
    daemon = limited(make_daemon, tmp_path, roots=[str(root)])
    async with both(daemon) as (_, api):
        params = create_params("c", agentTargetId="demo", agentSessionId="mine", cwd=str(root))
        creating = await api.send("session/create", **params)
        key = {"workspaceId": "w", "agentSessionId": "mine"}
        sending = await api.send("session/send", **send_params(key, "s"))
        reading = await api.send("session/get", **key)
        await creating.result()
        turn = (await sending.result())["turn"]
        assert [one["turnId"] for one in (await reading.result())["turns"]] == [turn["turnId"]]
        nobody = {"workspaceId": "w", "agentSessionId": "nobody"}
        assert (await api.refused("session/send", **send_params(nobody, "n")))["code"] == "session.not_found"


# --- counts and rates -----------------------------------------------------------------------------------------------


async def test_sessions_and_turns_are_counted_over_the_workspaces_it_may_name(
    make_daemon: MakeDaemon, tmp_path: Path
) -> None:
    daemon = limited(make_daemon, tmp_path, workspaces=["w", "v"], maxSessions=3, maxLiveTurns=2)
    async with both(daemon) as (admin, api):
        await start(admin, "elsewhere", "[[hang]]")
        hanging = [await start(api, "w", "[[hang]]", clientSubmitId=f"t-{number}") for number in range(2)]
        idle = await start(api, "v", clientSubmitId="idle")
        refused = await api.refused("session/create", **create_params("more", agentTargetId="demo"))
        assert (refused["code"], refused["details"]) == ("limit.exceeded", {"limit": "maxSessions"})
        refused = await api.refused("session/send", **send_params(idle.key, "one-too-many"))
        assert (refused["code"], refused["details"]) == ("limit.exceeded", {"limit": "maxLiveTurns"})
        first = hanging[0]
        again = await api.request("session/create", **first.params)
        assert again["turn"]["turnId"] == first.turn["turnId"], "a repeat begins nothing"
        await api.request("turn/cancel", **first.key, turnId=first.turn["turnId"])
        await api.settled(first.turn)
        turn = (await api.request("session/send", **send_params(idle.key, "one-too-many", "[[hang]]")))[
            "turn"
        ]
        repeated = await api.request("session/send", **send_params(idle.key, "one-too-many", "[[hang]]"))
        assert repeated["turn"]["turnId"] == turn["turnId"]
        assert (await admin.request("session/send", **send_params(first.key, "admin")))["turn"]


async def test_pipelined_requests_pass_no_bound_together(make_daemon: MakeDaemon, tmp_path: Path) -> None:
    daemon = limited(make_daemon, tmp_path, maxSessions=5, maxLiveTurns=2)
    async with both(daemon) as (_, api):
        sent = [
            await api.send(
                "session/create",
                **create_params(f"p-{number}", agentTargetId="demo", initialContent=text("[[hang]]")),
            )
            for number in range(10)
        ]
        outcomes = []
        for one in sent:
            try:
                outcomes.append((await one.result())["turn"]["phase"])
            except Refused as refused:
                outcomes.append(refused.code)
        assert outcomes.count("limit.exceeded") == 8
        assert outcomes.count("submitted") == 2


async def test_requests_beyond_the_rate_are_refused_with_when_to_come_again(
    make_daemon: MakeDaemon, tmp_path: Path
) -> None:
    daemon = limited(make_daemon, tmp_path, requestsPerSecond=5)
    async with connected(daemon) as admin, connected(daemon, token=token_of("api")) as api:
        sent = [await api.send("health/read") for _ in range(50)]
        refusals = []
        for one in sent:
            try:
                await one.result()
            except Refused as refused:
                refusals.append(refused.data)
        assert len(refusals) > 20
        for refusal in refusals:
            assert (refusal["code"], refusal["retryable"]) == ("limit.exceeded", True)
            assert refusal["details"] == {"limit": "requestsPerSecond"}
            assert 0 < refusal["retryAfterMs"] <= 200
        await trio.sleep(max(refusal["retryAfterMs"] for refusal in refusals) / 1000)
        assert (await api.request("health/read"))["status"] == "ok"
        for _ in range(50):
            await admin.request("health/read")


async def test_connections_of_a_token_are_bounded_by_themselves(
    make_daemon: MakeDaemon, tmp_path: Path
) -> None:
    daemon = limited(make_daemon, tmp_path, maxConnections=1)
    headers = {"Authorization": f"Bearer {token_of('api')}"}
    async with connected(daemon, token=token_of("api")) as api:
        status, answer, body = await ask(daemon, "/v1/ws", headers=headers)
        assert (status, answer["retry-after"]) == (429, "1")
        assert body == b"too many connections of this token\n"
        async with connected(daemon) as admin:
            assert admin.hello["scope"] == "admin"
        assert (await api.request("health/read"))["status"] == "ok"
    with trio.fail_after(10):
        while (await ask(daemon, "/v1/ws", headers=headers))[0] == 429:
            await trio.sleep(0.05)
