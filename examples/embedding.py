"""Greenroom within a trio program of one's own: no daemon, no socket, no token. Two prompts at once, in two sessions.
Run it as `python examples/embedding.py DATA_DIR`.
"""

import os
import sys

import trio

import greenroom_client as greenroom
from runtime.config import Flags, Surroundings, load_configuration
from runtime.observability.logging import configure_logging
from runtime.service.embedding import embed


async def main(data_dir: str) -> dict[str, str]:
    """Answers by prompt. The data directory is this program's alone while it runs."""
    # Logs to stderr; a program that configures structlog itself leaves this out.
    configure_logging(os.environ, level="warning")
    configuration = load_configuration(Flags(data_dir=data_dir), Surroundings.of_this_process())
    answers: dict[str, str] = {}
    async with (
        embed(configuration) as controller,
        controller.connect() as client,
        trio.open_nursery() as nursery,
    ):
        for prompt in ("[[say one]]", "[[ask allow_once]] [[say two]]"):
            nursery.start_soon(ask, client, prompt, answers)
    return answers


async def ask(client: greenroom.Client, prompt: str, answers: dict[str, str]) -> None:
    created = await client.session_create(
        workspace_id="default",
        agent_target_id="demo",
        client_submit_id=greenroom.new_submit_id(),
        initial_content=greenroom.prompt(prompt),
    )
    session, turn = created["session"]["agentSessionId"], created["turn"]["turnId"]
    answers[prompt] = ""
    async with greenroom.stream_turn(
        client, workspace_id="default", agent_session_id=session, turn_id=turn
    ) as pieces:
        async for piece in pieces:
            if isinstance(piece, greenroom.TextPiece):
                answers[prompt] += piece.text
            elif isinstance(piece, greenroom.Asked):  # this program allows whatever is asked
                option = piece.interaction["options"][0]["optionId"]
                await greenroom.answer_option(client, piece.interaction, option)


if __name__ == "__main__":
    for prompt, answer in trio.run(main, sys.argv[1]).items():
        print(f"{prompt}: {answer}")
