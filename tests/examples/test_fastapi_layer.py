"""The FastAPI layer of the guide, over a real daemon: create, send, stream, approve, and nobody sees another's."""

import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import anyio
import anyio.lowlevel
import httpx
import pytest

from examples.fastapi_layer import app
from tests.end_to_end.daemon import Daemon

Calls = Callable[["Layer"], Awaitable[None]]


class Layer:
    """The layer as one user's browser sees it."""

    def __init__(self, http: httpx.AsyncClient) -> None:
        self.http = http

    async def post(self, path: str, user: str, key: str = "key", **body: Any) -> httpx.Response:
        headers = {"X-User": user, "Idempotency-Key": key}
        return await self.http.post(path, headers=headers, json=body)

    async def get(self, path: str, user: str) -> httpx.Response:
        return await self.http.get(path, headers={"X-User": user})


@asynccontextmanager
async def layer() -> AsyncIterator[Layer]:
    transport = httpx.ASGITransport(app)
    async with (
        app.router.lifespan_context(app),
        httpx.AsyncClient(transport=transport, base_url="http://api") as http,
    ):
        yield Layer(http)


@pytest.fixture
def run(daemon: Daemon, monkeypatch: pytest.MonkeyPatch) -> Callable[[Calls], None]:
    """Runs calls as a server would: under asyncio, with the layer's own life around them."""
    monkeypatch.setenv("GREENROOM_DATA_DIR", str(daemon.data_dir))

    async def body(calls: Calls) -> None:
        with anyio.fail_after(60):
            async with layer() as one:
                await calls(one)

    return lambda calls: anyio.run(body, calls, backend="asyncio")


def events(response: httpx.Response) -> list[tuple[str, Any]]:
    """Name and data of each server-sent event."""
    found = []
    for block in response.text.strip().split("\n\n"):
        name, data = block.split("\n")
        found.append((name.removeprefix("event: "), json.loads(data.removeprefix("data: "))))
    return found


def test_a_prompt_is_streamed_and_its_approval_given_meanwhile(run: Callable[[Calls], None], workspace: str):
    user = f"alice-{workspace}"

    async def calls(layer: Layer) -> None:
        session = (await layer.post("/sessions", user, key="create")).json()["session"]
        sent = await layer.post(
            f"/sessions/{session['agentSessionId']}/prompts",
            user,
            text="[[say before]] [[ask allow_once,reject_once]] [[say after]]",
        )
        turn = sent.json()["turn"]
        path = f"/sessions/{session['agentSessionId']}/turns/{turn['turnId']}"
        async with anyio.create_task_group() as tasks:
            streamed: list[httpx.Response] = []

            async def stream() -> None:
                streamed.append(await layer.get(f"{path}/stream", user))

            tasks.start_soon(stream)
            asked = await first_approval(layer, user)
            answered = await layer.post(
                f"{path}/approvals/{asked['requestId']}", user, option=asked["options"][0]["optionId"]
            )
            assert answered.json()["interaction"]["status"] == "answered"
        names = [name for name, _ in events(streamed[0])]
        text = "".join(data for name, data in events(streamed[0]) if name == "text")
        assert "asked" in names
        assert text.startswith("before")
        assert text.endswith("after")
        assert names[-1] == "end"
        assert events(streamed[0])[-1][1]["outcome"] == "completed"
        # Whoever comes later gets the same from the beginning.
        again = await layer.get(f"{path}/stream", user)
        assert "".join(data for name, data in events(again) if name == "text") == text

    run(calls)


async def first_approval(layer: Layer, user: str) -> Any:
    while True:
        found = (await layer.get("/approvals", user)).json()["items"]
        if found:
            return found[0]
        await anyio.lowlevel.checkpoint()


def test_a_request_repeated_with_its_key_takes_effect_once(run: Callable[[Calls], None], workspace: str):
    user = f"alice-{workspace}"

    async def calls(layer: Layer) -> None:
        first, second = [
            (await layer.post("/sessions", user, key="create")).json()["session"] for _ in range(2)
        ]
        assert first["agentSessionId"] == second["agentSessionId"]
        path = f"/sessions/{first['agentSessionId']}/prompts"
        turns = [(await layer.post(path, user, text="[[hang]]")).json()["turn"]["turnId"] for _ in range(2)]
        assert turns[0] == turns[1]
        busy = await layer.post(path, user, key="another", text="more")
        assert (busy.status_code, busy.json()["code"]) == (409, "session.busy")

    run(calls)


@pytest.mark.rule("AP-020")
def test_nobody_reaches_what_is_another_users(run: Callable[[Calls], None], workspace: str):
    alice, mallory = f"alice-{workspace}", f"mallory-{workspace}"

    async def calls(layer: Layer) -> None:
        session = (await layer.post("/sessions", alice, key="create")).json()["session"]["agentSessionId"]
        sent = await layer.post(f"/sessions/{session}/prompts", alice, text="[[ask allow_once]]")
        path = f"/sessions/{session}/turns/{sent.json()['turn']['turnId']}"
        asked = await first_approval(layer, alice)
        tries = [
            await layer.post(f"/sessions/{session}/prompts", mallory, text="mine now"),
            await layer.get(f"{path}/stream", mallory),
            await layer.post(f"{path}/approvals/{asked['requestId']}", mallory, option="allow-once"),
        ]
        assert [(one.status_code, one.json()["code"]) for one in tries] == [(404, "session.not_found")] * 3
        assert (await layer.get("/approvals", mallory)).json()["items"] == []

    run(calls)
