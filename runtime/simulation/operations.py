"""What simulated clients do: one small object for each thing, performed to an outcome that stands.

A plan is a list of these, drawn from the seed; each goes on across lost connections and lives of the daemon, with the
same ids, until it has its answer.
"""

from typing import Literal, Protocol

import attrs
import trio

from runtime.simulation.client import SimulatedClient
from runtime.simulation.history import Json, Request
from runtime.simulation.link import LinkLost

DEMO = "demo"
CODEX = "codex"
_TRIES_MAX = 60
_READS = 5


class Operation(Protocol):
    """Something a client does."""

    async def perform(self, client: SimulatedClient) -> None:
        """Until its outcome stands."""


@attrs.frozen
class CreateSession:
    """Make a session under a name of our own, with a first prompt or without."""

    session: str
    submit_id: str
    prompt: str | None
    settings: tuple[tuple[str, str | bool], ...] = ()
    target: str = DEMO

    async def perform(self, client: SimulatedClient) -> None:
        """See `Operation`."""
        request = await client.ask("session/create", self.params())
        client.note(f"{client.name} created {self.session}: {request.state} {request.code}")

    def params(self) -> Json:
        """Of `session/create`, but for the workspace."""
        params: Json = {
            "agentTargetId": self.target,
            "clientSubmitId": self.submit_id,
            "agentSessionId": self.session,
            "settings": dict(self.settings),
        }
        if self.prompt is not None:
            params["initialContent"] = text_content(self.submit_id, self.prompt)
        return params


@attrs.frozen
class CreateAgain:
    """Create what was created: the same again, under a known submit id something else, or a name that is taken."""

    first: CreateSession
    change: Literal["nothing", "content", "submit id"]

    async def perform(self, client: SimulatedClient) -> None:
        """See `Operation`."""
        created = client.history.answered("session/create")
        if not any(request.params["clientSubmitId"] == self.first.submit_id for request in created):
            return
        params, expected = self.first.params(), ""
        if self.change == "content":
            params["initialContent"], expected = text_content("nobody", "[[say no]]"), "submit.conflict"
        elif self.change == "submit id":
            params["clientSubmitId"], expected = f"another-{self.first.submit_id}", "session.exists"
        request = await client.ask("session/create", params)
        if request.code != expected and request.state != "unknown":
            client.history.violated(
                "a submit id and a name are taken once", f"{self.change}: {request.code or request.result}"
            )


@attrs.frozen
class SendPrompt:
    """Send a prompt, repeat it while the session is busy, and wait for the turn's end; cancel when it takes long."""

    session: str
    submit_id: str
    prompt: str
    cancel_after_seconds: float | None = None
    waits_seconds: float = 2.0
    reads_while_running: bool = False

    async def perform(self, client: SimulatedClient) -> None:
        """See `Operation`."""
        request = await ask_while(
            client, "session/send", send_params(self.session, self.submit_id, self.prompt), {"session.busy"}
        )
        client.note(f"{client.name} sent {self.submit_id} to {self.session}: {request.state} {request.code}")
        if request.state != "answered":
            return
        turn_id = request.result["turn"]["turnId"]
        session = client.workspace_id, self.session
        if self.reads_while_running:
            for _ in range(_READS):
                await Read(self.session).perform(client)
                if await client.wait_settled(session, turn_id, client.chance.random() * 0.03):
                    return
        if await client.wait_settled(session, turn_id, self.cancel_after_seconds or self.waits_seconds):
            return
        if self.cancel_after_seconds is not None:
            await client.ask("turn/cancel", {"agentSessionId": self.session, "turnId": turn_id})
            client.note(f"{client.name} cancelled turn {turn_id} of {self.session}")


@attrs.frozen
class Repeat:
    """Send again what was sent before: nothing may come of it but the same turn."""

    session: str
    submit_id: str
    prompt: str
    other_prompt: bool = False
    """With other content under the same id, which is a conflict."""

    async def perform(self, client: SimulatedClient) -> None:
        """See `Operation`."""
        prompt = self.prompt + " and more" if self.other_prompt else self.prompt
        params = send_params(self.session, self.submit_id, prompt)
        sent = client.history.answered("session/send")
        known = [request for request in sent if request.params.get("clientSubmitId") == self.submit_id]
        if not known:
            return
        try:
            request = await client.once("session/send", params)
        except LinkLost:
            return
        if request.code in ("overloaded", "store.unavailable", "shutdown.in_progress", "session.deleted"):
            return
        if self.other_prompt:
            if request.code != "submit.conflict":
                client.history.violated(
                    "other content under a known id is a conflict", f"{self.submit_id}: {request}"
                )
        elif (
            request.state != "answered"
            or request.result["turn"]["turnId"] != known[0].result["turn"]["turnId"]
        ):
            client.history.violated(
                "same submit id, same effect",
                f"{self.submit_id}: {request.state} {request.code} {request.result}",
            )


@attrs.frozen
class CancelActive:
    """Stop whatever runs in a session, as somebody else than who started it."""

    session: str

    async def perform(self, client: SimulatedClient) -> None:
        """See `Operation`."""
        row = client.row("session", (client.workspace_id, self.session))
        if row is not None and row["activeTurnId"] is not None:
            await client.ask("turn/cancel", {"agentSessionId": self.session, "turnId": row["activeTurnId"]})
            client.note(f"{client.name} cancelled what runs in {self.session}")


@attrs.frozen
class GuideActive:
    """Say more in whatever runs in a session, and once more where the answer was lost: it is the same guidance."""

    session: str
    submit_id: str

    async def perform(self, client: SimulatedClient) -> None:
        """See `Operation`."""
        row = client.row("session", (client.workspace_id, self.session))
        if row is None or row["activeTurnId"] is None:
            return
        params: Json = {
            "agentSessionId": self.session,
            "turnId": row["activeTurnId"],
            "clientSubmitId": self.submit_id,
            "content": [{"type": "text", "text": "rather oaks"}],
        }
        for _ in range(2):
            try:
                request = await client.once("turn/guide", params)
            except LinkLost:
                continue
            client.note(f"{client.name} guided {self.session}: {request.state} {request.code}")
            if request.code == "submit.conflict":
                client.history.violated(
                    "same submit id, same effect", f"{self.submit_id} conflicts with itself"
                )
            return


@attrs.frozen
class ChangeRuntime:
    """Close a session's runtime, or make it live."""

    session: str
    method: str

    async def perform(self, client: SimulatedClient) -> None:
        """See `Operation`."""
        try:
            request = await client.once(self.method, {"agentSessionId": self.session})
        except LinkLost:
            return
        client.note(f"{client.name} {self.method} {self.session}: {request.state} {request.code}")


@attrs.frozen
class SendAndRead:
    """Send and read without waiting in between: the read has to show the turn (`contract §2`, Order)."""

    session: str
    submit_id: str
    prompt: str

    async def perform(self, client: SimulatedClient) -> None:
        """See `Operation`."""
        link = await client.linked()
        workspace = {"workspaceId": client.workspace_id}
        try:
            sent = await link.post(
                "session/send", workspace | send_params(self.session, self.submit_id, self.prompt)
            )
            read = await link.call("session/get", workspace | {"agentSessionId": self.session})
        except LinkLost:
            return
        if sent.request.state == "open" and read.state == "answered":
            client.history.violated(
                "requests on one session take effect in order", f"{self.submit_id} was overtaken by a read"
            )
        if sent.request.state == "answered" and read.state == "answered":
            turns = [turn["turnId"] for turn in read.result["turns"]]
            turn_id = sent.request.result["turn"]["turnId"]
            # On a small page newer turns of others may have taken its place; how far the read had come shows it then.
            is_cut = read.result["turnsCursor"] is not None
            if read.result["commitSeq"] < sent.request.result["commitSeq"] or not (
                is_cut or turn_id in turns
            ):
                client.history.violated(
                    "requests on one session take effect in order",
                    f"{turn_id} is not in what was read after it",
                )


@attrs.frozen
class Read:
    """Read a session and its messages, and compare with what the events said."""

    session: str

    async def perform(self, client: SimulatedClient) -> None:
        """See `Operation`."""

        def compare(result: Json) -> None:
            for row in result["messages"]:
                _compare_with_events(client, row, result["commitSeq"])

        params = {"agentSessionId": self.session, "afterVersion": 0, "limit": 200}
        try:
            await client.once("session/get", {"agentSessionId": self.session})
            await client.once("session/messages", params, compare)
            for method in (
                "session/list",
                "interaction/list",
                "target/list",
                "workspace/list",
                "health/read",
            ):
                await client.once(method, {})
            await client.once("turn/list", {"agentSessionId": self.session, "limit": 2})
        except LinkLost:
            return


@attrs.frozen
class Lag:
    """Read nothing for a while."""

    seconds: float

    async def perform(self, client: SimulatedClient) -> None:
        """See `Operation`."""
        if client.link is not None:
            client.link.lag_until = trio.current_time() + self.seconds
        await trio.sleep(self.seconds)


@attrs.frozen
class Reconnect:
    """Go away and come back: without a word, or cut in the middle of whatever is on its way."""

    cut: bool

    async def perform(self, client: SimulatedClient) -> None:
        """See `Operation`."""
        link = client.link
        if link is not None:
            if self.cut:
                link.connection.cut()
            else:
                link.close()


@attrs.frozen
class Pause:
    """Do nothing for a while."""

    seconds: float

    async def perform(self, client: SimulatedClient) -> None:
        """See `Operation`."""
        await trio.sleep(self.seconds)


def text_content(submit_id: str, prompt: str) -> list[Json]:
    """A prompt that tells the agent which submit it came by."""
    return [{"type": "text", "text": f"<<{submit_id}>> {prompt}"}]


def send_params(session: str, submit_id: str, prompt: str) -> Json:
    """Of `session/send`, but for the workspace."""
    return {
        "agentSessionId": session,
        "clientSubmitId": submit_id,
        "content": text_content(submit_id, prompt),
    }


async def ask_while(client: SimulatedClient, method: str, params: Json, codes: set[str]) -> Request:
    """Ask, and again for as long as it is refused with one of `codes`, or the session is not there yet."""
    request = await client.ask(method, params)
    for _ in range(_TRIES_MAX):
        if request.code not in codes | {"session.not_found"}:
            break
        await trio.sleep(0.05 + client.chance.random() * 0.2)
        request = await client.ask(method, params)
    return request


def _compare_with_events(client: SimulatedClient, row: Json, commit_seq: int) -> None:
    """A read holds every commit up to its number, so it is no older than an event at or below it."""
    client.watches[-1].check_read(row)
    name = row["workspaceId"], row["agentSessionId"]
    known = client.row("message", name, row["messageId"])
    if known is not None and client.watches[-1].last <= commit_seq and known["version"] > row["version"]:
        client.history.violated(
            "a read contains every commit up to its number",
            f"message {row['messageId']} has version {row['version']}, an event had {known['version']}",
        )
