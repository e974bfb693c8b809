"""Short ways to say what tests of Sides say: open one of a session, ask in it, wait for what is told of it."""

import time
from typing import Any

import attrs

from tests.end_to_end.client import Client, Json
from tests.end_to_end.talk import Talk, text


@attrs.define(eq=False)
class Sides:
    """A client that follows Sides of a workspace."""

    client: Client
    workspace: str
    count: int = 0

    async def request(self, method: str, **params: Any) -> Json:
        return await self.client.request(method, workspaceId=self.workspace, **params)

    async def refused(self, method: str, **params: Any) -> Json:
        return await self.client.refused(method, workspaceId=self.workspace, **params)

    async def open(self, talk: Talk, **params: Any) -> str:
        name = f"side-{time.monotonic_ns()}"
        await self.request(
            "side/open", agentSessionId=talk.session_id, sideAgentSessionId=name, surfaceId="pane", **params
        )
        return name

    async def send(self, side: str, words: str) -> Json:
        self.count += 1
        answer = await self.request(
            "side/send", sideAgentSessionId=side, clientSubmitId=f"s{self.count}", content=text(words)
        )
        turn: Json = answer["turn"]
        return turn

    def told(self, side: str, kind: str) -> list[Json]:
        events = self.client.events("side", sideAgentSessionId=side)
        return [event["payload"] for event in events if event["payload"]["type"] == kind]

    async def wait(self, side: str, kind: str, **row: Any) -> Json:
        """The first of a kind whose row has these members."""

        def found() -> list[Json]:
            return [
                payload
                for payload in self.told(side, kind)
                if all(payload[kind].get(name) == value for name, value in row.items())
            ]

        payload: Json = (await self.client.wait(found, f"{kind} of {side}", 30.0))[0]
        return payload

    async def settled(self, side: str, turn: Json) -> Json:
        payload = await self.wait(side, "turn", turnId=turn["turnId"], phase="settled")
        row: Json = payload["turn"]
        return row

    def said(self, side: str) -> str:
        return "".join(payload["text"] for payload in self.told(side, "message_delta"))
