"""Follows a turn for a command that ends with it: draws what comes, and has what is asked answered meanwhile.

Owns the loop alone. How pieces look is `turn_printer`, who answers is `interactions`.
"""

from collections.abc import AsyncIterator, Callable

import trio

from greenroom_client import Asked, NoLongerAsked, Piece
from greenroom_client.contract.models import Interaction
from runtime.cli.interactions import Interactions, Replies
from runtime.cli.output import Output
from runtime.cli.turn_printer import TurnPrinter


async def draw_turn(
    pieces: AsyncIterator[Piece],
    output: Output,
    replies: Replies,
    left_open: Callable[[Interaction], bool] = lambda _: False,
) -> None:
    """To the end of `pieces`. `left_open` tells of a question, and has told of it, that it is not answered here."""
    printer, interactions = TurnPrinter(output), Interactions(output, replies)
    async with trio.open_nursery() as answering:
        async for piece in pieces:
            match piece:
                case Asked(interaction):
                    printer.end()
                    if not left_open(interaction):
                        answering.start_soon(interactions.answer, interaction)
                case NoLongerAsked(key):
                    interactions.withdraw(key)
                case _:
                    printer.piece(piece)
        answering.cancel_scope.cancel()
    printer.end()
