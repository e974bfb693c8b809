"""`metrics/read` and `GET /metrics`: the figures of the service, for an administrator's machines."""

import re
from collections.abc import Mapping

import pytest

from tests.end_to_end.client import Client, Json, connected
from tests.end_to_end.daemon import Daemon
from tests.end_to_end.fixtures import Connect, MakeDaemon, token_of
from tests.end_to_end.plain_http import ask
from tests.end_to_end.talk import start

SAMPLE = re.compile(r"([a-z_]+)(?:\{(.*)\})? (-?[0-9.e+-]+|nan|inf)")
PRESENT = """
sessions turns_settled_total provider_processes commit_seconds writer_queue deltas_total stream_gaps_total
client_deltas_dropped_total store_bytes sweeper_pending loop_lag_seconds resident_memory_bytes open_files_max
subscriptions admission_waiting http_connections
"""


async def figures(client: Client) -> dict[str, float]:
    """Every sample by its name and labels."""
    families = (await client.request("metrics/read"))["families"]
    return {_name(sample): sample["value"] for family in families for sample in family["samples"]}


async def scrape(daemon: Daemon, token: str) -> tuple[int, Mapping[str, str], bytes]:
    return await ask(daemon, "/metrics", headers={"Authorization": f"Bearer {token}"})


def _name(sample: Json) -> str:
    labels = ",".join(f"{key}={value}" for key, value in sample["labels"].items())
    return sample["name"].removeprefix("greenroom_") + (f"{{{labels}}}" if labels else "")


async def test_each_name_is_there_once_whatever_has_happened(client: Client) -> None:
    families = (await client.request("metrics/read"))["families"]
    names = [family["name"] for family in families]
    assert len(names) == len(set(names))
    assert {f"greenroom_{name}" for name in PRESENT.split()} <= set(names)
    for family in families:
        assert family["name"].endswith("_total") == (family["type"] == "counter"), family["name"]
        assert all(sample["name"].startswith(family["name"]) for sample in family["samples"])


async def test_figures_follow_what_goes_on(make_daemon: MakeDaemon) -> None:
    daemon = make_daemon()
    async with connected(daemon) as client:
        await client.subscribe("w")
        before = await figures(client)
        talk = await start(client, "w", "[[stream 20 size=50]] [[ask]]")
        asked = await talk.pending()
        during = await figures(client)
        assert (during["turns_unsettled"], during["provider_processes{state=ready}"]) == (1, 1)
        assert (during["sessions"], during["session_cells"], during["clients"]) == (1, 1, 1)
        assert during["deltas_total"] > before["deltas_total"]
        assert during["client_messages_total{kind=optimistic}"] >= during["deltas_total"]
        assert during["commit_seconds_count"] > before["commit_seconds_count"]
        assert during["commit_seconds_bucket{le=+Inf}"] == during["commit_seconds_count"]
        assert during["resident_memory_bytes"] > 1_000_000
        assert 3 < during["open_files"] < during["open_files_max"]
        await talk.answer(asked)
        await client.settled(talk.turn)
        refused = await talk.send("[[stop words]]")
        await client.settled(refused)
        after = await figures(client)
        assert (after["turns_unsettled"], after["turns_submitted_total"]) == (0, 2)
        ends = (after["turns_settled_total{outcome=completed}"], after["turns_settled_total{outcome=failed}"])
        assert ends == (1, 1)
    async with connected(daemon) as later:
        past = await figures(later)
        assert (
            past["client_messages_total{kind=optimistic}"] >= after["client_messages_total{kind=optimistic}"]
        )
        assert past["clients"] == 1


async def test_the_page_for_scrapers_says_the_same_in_text(daemon: Daemon, client: Client) -> None:
    status, headers, body = await scrape(daemon, daemon.token)
    assert (status, headers["content-type"]) == (200, "text/plain; version=0.0.4; charset=utf-8")
    lines = body.decode().splitlines()
    kinds = dict(line.split()[2:4] for line in lines if line.startswith("# TYPE "))
    families = (await client.request("metrics/read"))["families"]
    assert kinds == {family["name"]: family["type"] for family in families}
    for line in lines:
        assert line.startswith("# ") or SAMPLE.fullmatch(line), line
    assert any(line.startswith('greenroom_store_bytes{part="database"} ') for line in lines)


@pytest.mark.parametrize("name", ["reader", "worker", "tenant"])
async def test_only_an_administrator_may_read_them(daemon: Daemon, connect: Connect, name: str) -> None:
    async with connect(token=token_of(name)) as other:
        assert (await other.refused("metrics/read"))["code"] == "auth.forbidden"
    assert (await scrape(daemon, token_of(name)))[0] == 403
    assert (await ask(daemon, "/metrics"))[0] == 401


async def test_it_takes_no_params(client: Client, workspace: str) -> None:
    refused = await client.refused("metrics/read", workspaceId=workspace)
    assert (refused["code"], refused["details"]["path"]) == ("request.invalid", "params.workspaceId")
