"""A tour of the service that comes by every failpoint a running daemon has, in about a second.

Owns a plan: small operations of the simulator's kind, under names of its own for each tour, so that a tour which a
kill broke off is simply followed by another.
"""

from collections.abc import Sequence
from typing import Final, Literal

import attrs
import trio

from runtime.simulation import operations as op
from runtime.simulation.client import SimulatedClient
from runtime.simulation.edits import Edit
from runtime.simulation.history import Json
from runtime.simulation.removals import DeleteAndRestore, MakeAndPurge

_LOOK_SECONDS: Final = 8.0


@attrs.frozen
class MeetQuestion:
    """Wait until the agent of a session asks, then answer, or stop the turn so that the question is superseded."""

    session: str
    how: Literal["answer", "stop"]

    async def perform(self, client: SimulatedClient) -> None:
        """See `Operation`."""
        with trio.move_on_after(_LOOK_SECONDS):
            while True:
                asked = self._pending(client)
                if asked is not None:
                    break
                await client.wait_for_news()
            if self.how == "stop":
                await op.CancelActive(self.session).perform(client)
                return
            names = ("agentSessionId", "turnId", "requestId")
            answer = {"optionId": asked["options"][0]["optionId"]}
            await client.ask("interaction/respond", {**{n: asked[n] for n in names}, "answer": answer})

    def _pending(self, client: SimulatedClient) -> Json | None:
        rows = client.watches[-1].of_session("interaction", (client.workspace_id, self.session))
        return next((row for row in rows if row["status"] == "pending"), None)


@attrs.frozen
class Guide:
    """Say more in the turn of a session once that runs."""

    session: str
    submit_id: str

    async def perform(self, client: SimulatedClient) -> None:
        """See `Operation`."""
        with trio.move_on_after(_LOOK_SECONDS):
            while not self._runs(client):
                await client.wait_for_news()
            await op.GuideActive(self.session, self.submit_id).perform(client)

    def _runs(self, client: SimulatedClient) -> bool:
        rows = client.watches[-1].of_session("turn", (client.workspace_id, self.session))
        return any(row["phase"] == "running" for row in rows)


def tour(number: int, target: str, guided_target: str | None) -> list[Sequence[op.Operation]]:
    """Plans to be performed side by side."""
    name = f"tour-{number}"
    streams, asks, edits, gone = (f"{name}-{what}" for what in ("streams", "asks", "edits", "gone"))
    plans: list[Sequence[op.Operation]] = [
        (
            op.CreateSession(
                streams,
                f"create-{streams}",
                "[[stream 20 delay=10 size=20]] [[ask allow_once,reject_once]] [[say done]]",
                target=target,
            ),
            MeetQuestion(streams, "answer"),
        ),
        (
            op.CreateSession(
                asks, f"create-{asks}", "[[ask allow_once,reject_once]] [[hang]]", target=target
            ),
            MeetQuestion(asks, "stop"),
        ),
        (
            op.CreateSession(edits, f"create-{edits}", None, target=target),
            Edit(edits, "session/rename", {"title": name}),
            op.SendPrompt(edits, f"send-{edits}", "[[say here]]", waits_seconds=5.0),
            Edit(edits, "session/updateSettings", {"settings": {"mode": "auto"}}),
            op.SendPrompt(edits, f"hang-{edits}", "[[hang]]", cancel_after_seconds=0.1),
            op.ChangeRuntime(edits, "session/close"),
            op.ChangeRuntime(edits, "session/resume"),
            DeleteAndRestore(edits, 0.0),
        ),
        (MakeAndPurge(gone),),
    ]
    if guided_target is not None:
        guided = f"{name}-guided"
        create = op.CreateSession(
            guided, f"create-{guided}", "[[sleep 400]] [[say led]]", target=guided_target
        )
        plans.append((create, Guide(guided, f"guide-{guided}")))
    return plans
