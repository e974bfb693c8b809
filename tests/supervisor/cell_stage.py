"""A stage for cells: scripted behaviours that crash where they are told to, and a record of all they did."""

from collections import Counter

import attrs
import trio

from supervisor import Cell, CellHooks, CellPolicy, Mailbox, MailboxLimits


class Planted(Exception):
    """The error a behaviour of these tests crashes with."""


@attrs.define
class Stage:
    """Everything the behaviours do and the hooks are told, and where to plant a crash.

    `crashes` maps a place ("start", "receive x", "flush x", "may_passivate", "stop") to how often it crashes.
    """

    crashes: Counter = attrs.field(factory=Counter)
    passivate: bool = False
    lives: list = attrs.field(factory=list)
    performed: list = attrs.field(factory=list)
    batches: list = attrs.field(factory=list)
    stopped: list = attrs.field(factory=list)
    discarded: list = attrs.field(factory=list)
    errors: list = attrs.field(factory=list)
    quarantines: list = attrs.field(factory=list)
    starts_at: list = attrs.field(factory=list)

    def reach(self, place):
        if self.crashes[place] > 0:
            self.crashes[place] -= 1
            raise Planted(place)

    def on_discarded(self, messages, error):
        self.discarded.append((list(messages), error))
        self.reach("on_discarded")

    def on_crash(self, error):
        self.errors.append(error)
        self.reach("on_crash")

    def on_quarantine(self, error):
        self.quarantines.append(error)
        self.reach("on_quarantine")

    def cell(self, **policy):
        return Cell(
            Mailbox(MailboxLimits(), size=len),
            {"kept": []},
            factory=lambda cell: Scripted(self, cell, "life"),
            quarantine_factory=lambda cell: Scripted(self, cell, "quarantine"),
            hooks=CellHooks(
                on_discarded=self.on_discarded,
                on_crash=self.on_crash,
                on_quarantine=self.on_quarantine,
            ),
            policy=CellPolicy(**policy),
        )


class Scripted:
    """A behaviour that records, and crashes where the stage says so."""

    def __init__(self, stage, cell, kind):
        self.stage = stage
        self.name = f"{kind} {cell.restarts}"
        self.received = []
        stage.lives.append(self.name)
        stage.reach("make")

    async def start(self):
        self.stage.starts_at.append(trio.current_time())
        await trio.lowlevel.checkpoint()
        self.stage.reach("start")

    def receive(self, message):
        self.stage.reach(f"receive {message}")
        self.received.append(message)

    async def flush(self):
        await trio.lowlevel.checkpoint()
        for message in self.received:
            self.stage.reach(f"flush {message}")
        self.stage.performed += self.received
        self.stage.batches.append("".join(self.received))
        self.received = []

    def may_passivate(self):
        self.stage.reach("may_passivate")
        return self.stage.passivate

    async def stop(self):
        await trio.lowlevel.checkpoint()
        self.stage.stopped.append(self.name)
        self.stage.reach("stop")


async def play(cell, messages):
    """Puts the messages and runs the cell until none of them is left."""
    for message in messages:
        cell.mailbox.put(message)
    cell.request_stop()
    return await cell.run()
