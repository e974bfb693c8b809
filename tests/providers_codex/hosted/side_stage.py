"""What tests of hosted Sides say: a Side of a session, its turns, and what was told of it."""

import time
from typing import Any

import attrs

from tests.end_to_end.client import Client, Json
from tests.end_to_end.talk import Talk
from tests.providers_codex.hosted.stage import Stage

SIDES = "agent.side.updated"


@attrs.define(eq=False)
class SideStage:
    """A stage whose client follows Sides too."""

    stage: Stage
    count: int = 0

    @property
    def client(self) -> Client:
        return self.stage.client

    async def open(self, talk: Talk, side_id: str | None = None, **params: Any) -> str:
        """A Side of this session."""
        self.count += 1
        name = side_id or f"side-{time.monotonic_ns()}"
        params.setdefault("surfaceId", "pane")
        await self.request("side/open", agentSessionId=talk.session_id, sideAgentSessionId=name, **params)
        return name

    async def request(self, method: str, **params: Any) -> Json:
        return await self.client.request(method, workspaceId=self.stage.workspace, **params)

    async def refused(self, method: str, **params: Any) -> Json:
        return await self.client.refused(method, workspaceId=self.stage.workspace, **params)

    async def send(self, side: str, text: str, submit: str | None = None) -> Json:
        """A turn of a Side."""
        self.count += 1
        answer = await self.request(
            "side/send",
            sideAgentSessionId=side,
            clientSubmitId=submit or f"side-send-{self.count}",
            content=[{"type": "text", "text": text}],
        )
        turn: Json = answer["turn"]
        return turn

    def told(self, side: str, kind: str | None = None) -> list[Json]:
        """What was told of a Side so far, or one kind of it."""
        events = self.client.events("side", sideAgentSessionId=side)
        return [event for event in events if kind is None or event["payload"]["type"] == kind]

    async def wait(self, side: str, kind: str, accept: Any = lambda payload: True) -> Json:
        """The first payload of a kind that is accepted."""

        def found() -> list[Json]:
            return [one["payload"] for one in self.told(side, kind) if accept(one["payload"])]

        payload: Json = (await self.client.wait(found, f"{kind} of {side}"))[0]
        return payload

    async def settled(self, side: str, turn: Json) -> Json:
        """The turn once it is settled."""
        payload = await self.wait(
            side,
            "turn",
            lambda one: one["turn"]["turnId"] == turn["turnId"] and one["turn"]["phase"] == "settled",
        )
        row: Json = payload["turn"]
        return row

    def text(self, side: str) -> str:
        """All the text that streamed."""
        return "".join(one["payload"]["text"] for one in self.told(side, "message_delta"))
