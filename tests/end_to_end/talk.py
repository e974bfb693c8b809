"""Short ways to say what nearly every test says: make a session, send a prompt, wait for the end of its turn."""

from typing import Any

import attrs

from tests.end_to_end.client import Client, Json

DEMO = "demo"


def text(content: str) -> list[Json]:
    """A prompt of one text block."""
    return [{"type": "text", "text": content}]


def create_params(workspace: str, **changes: Any) -> Json:
    """What `session/create` asks at the least."""
    return {"workspaceId": workspace, "agentTargetId": DEMO, "clientSubmitId": "create", **changes}


@attrs.define(eq=False)
class Talk:
    """One session as one client works with it."""

    client: Client
    key: dict[str, str]
    """`workspaceId` and `agentSessionId`: the params of everything said about it."""
    created: Json
    """The reply to `session/create`."""
    params: Json = attrs.field(factory=dict)
    """What was asked for."""
    sends: int = 0

    @property
    def session_id(self) -> str:
        return self.key["agentSessionId"]

    @property
    def turn(self) -> Json:
        """The turn of the first prompt."""
        turn: Json = self.created["turn"]
        return turn

    def through(self, client: Client) -> "Talk":
        """The same session by another client."""
        return attrs.evolve(self, client=client)

    async def send(self, prompt: str, submit_id: str | None = None) -> Json:
        """The turn of a further prompt."""
        self.sends += 1
        reply = await self.client.request(
            "session/send",
            **self.key,
            clientSubmitId=submit_id or f"send-{self.sends}",
            content=text(prompt),
        )
        turn: Json = reply["turn"]
        return turn

    async def say(self, prompt: str) -> Json:
        """Send a prompt; the turn once it is settled."""
        return await self.client.settled(await self.send(prompt))

    async def pending(self) -> Json:
        """The pending Interaction that an `[[ask]]` makes."""
        return await self.client.row("interaction", agentSessionId=self.session_id, status="pending")

    async def answer(self, asked: Json, option_id: str = "allow-once") -> Json:
        """The reply's row."""
        reply = await self.client.request("interaction/respond", **answer_params(asked, option_id))
        interaction: Json = reply["interaction"]
        return interaction

    async def messages(self) -> list[Json]:
        """All messages as they are read, page by page, by their sequence."""
        messages: list[Json] = []
        version, more = 0, True
        while more:
            window = await self.client.request("session/messages", **self.key, afterVersion=version)
            messages += window["messages"]
            version, more = max([version, *(m["version"] for m in messages)]), window["hasMore"]
        return sorted(messages, key=lambda message: int(message["sequence"]))

    async def texts(self) -> list[str]:
        """What the agent said, message by message."""
        return [
            text_of(message)
            for message in await self.messages()
            if message["role"] == "assistant" and message["kind"] == "text"
        ]


async def start(
    client: Client, workspace: str, prompt: str | None = None, *, target: str = DEMO, **params: Any
) -> Talk:
    """A new session, with its first prompt if one is given. The client should follow the workspace."""
    if prompt is not None:
        params["initialContent"] = text(prompt)
    params.setdefault("clientSubmitId", f"create-{len(client.received)}")
    params |= {"workspaceId": workspace, "agentTargetId": target}
    created = await client.request("session/create", **params)
    key = {"workspaceId": workspace, "agentSessionId": created["session"]["agentSessionId"]}
    return Talk(client, key, created, params)


def answer_params(asked: Json, option_id: str = "allow-once") -> Json:
    """The params that answer an approval."""
    names = ("workspaceId", "agentSessionId", "turnId", "requestId")
    return {**{name: asked[name] for name in names}, "answer": {"optionId": option_id}}


def text_of(message: Json) -> str:
    """The text of a message, or the output of its tool call."""
    if message["toolCall"] is not None:
        return str(message["toolCall"]["output"]["text"])
    return "".join(block["text"] for block in message["content"] if block["type"] == "text")


def streamed(client: Client, message_id: str) -> str:
    """The text as this client rebuilds it: rows and snapshots replace, deltas append, a hole is a mistake."""
    held, next_delta = "", 0
    for event in client.events():
        if event["type"] == "message_delta" and event["messageId"] == message_id:
            assert event["deltaSeq"] == next_delta, f"delta {event['deltaSeq']} instead of {next_delta}"
            held, next_delta = held + event["text"], next_delta + 1
        for row in _whole_rows(event):
            if row["messageId"] == message_id:
                held = text_of(row)
                next_delta = next_delta if row["deltaSeq"] is None else row["deltaSeq"]
    return held


def _whole_rows(event: Json) -> list[Json]:
    if event["type"] == "message_snapshot":
        return [event["message"]]
    if event["type"] == "commit":
        return [change["row"] for change in event["changes"] if change["type"] == "message"]
    return []
