"""The witness: a session that streams beside a trouble, and has to come out of it whole (`contract §6` promise 6)."""

import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from itertools import count

from tests.end_to_end.client import Client, Json
from tests.end_to_end.talk import Talk, start, streamed

PIECES_AFTER = 3
_numbers = count(1)
_PIECE = re.compile(r"~beside\.(\d+)\.\d+~x*")


@asynccontextmanager
async def undisturbed(client: Client, workspace: str) -> AsyncIterator[Talk]:
    """Streams while the body runs, and goes on afterwards; nothing of it is lost, doubled or out of order."""
    submit_id = f"beside-{next(_numbers)}"
    prompt = "[[stream 1000000 size=40 delay=10 stamp tag=beside]]"
    talk = await start(client, workspace, prompt, clientSubmitId=submit_id)
    first = await client.event("message_delta", agentSessionId=talk.session_id)
    yield talk
    heard = len(_deltas(client, talk))
    await client.wait(lambda: len(_deltas(client, talk)) > heard + PIECES_AFTER, "more of the stream beside")
    await client.request("turn/cancel", **talk.key, turnId=talk.turn["turnId"])
    turn = await client.settled(talk.turn)
    assert turn["outcome"] == "canceled", turn
    assert turn["cancelConfirmedAt"] is not None, turn
    text = streamed(client, first["messageId"])
    assert [text] == await talk.texts()
    numbers = [int(number) for number in _PIECE.findall(text)]
    assert numbers == list(range(len(numbers)))
    assert _PIECE.sub("", text) == ""


async def takes_prompts(talk: Talk) -> Json:
    """The next prompt works, whatever happened before (FC-49)."""
    turn = await talk.say("[[say still here]]")
    assert turn["outcome"] == "completed", turn
    assert (await talk.texts())[-1] == "still here"
    return turn


def _deltas(client: Client, talk: Talk) -> list[Json]:
    return client.events("message_delta", agentSessionId=talk.session_id)
