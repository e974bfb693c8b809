"""The session of a sub-agent, as its own machine sees it: it hears its agent from its root, and answers through it.

Everything of its turns, messages and Interactions is decided by the tables of every session. Owned here is what differs:
it has no link of its own, its turns end with its root's link, and its root waits for the end of each of them (RT-134).
"""

from runtime.lifecycle import effects as fx
from runtime.lifecycle import inputs as i
from runtime.lifecycle import provider_events, settlement
from runtime.lifecycle.state import Step
from runtime.providers import normalized as n

_OF_A_CONNECTION = (
    n.ThreadOpened,
    n.ThreadOpenFailed,
    n.SideForked,
    n.ConnectionLost,
    n.OfChild,
    n.ChildSpawned,
)
"""What is the root's alone to hear."""


def from_root(step: Step, given: i.FromRoot) -> None:
    """An event of this sub-agent."""
    if step.state.session.parent is None or isinstance(given.event, _OF_A_CONNECTION):
        step.do(fx.Count("event_of_no_child"))
    else:
        provider_events.apply(step, given.event)


def stop_with_root(step: Step, given: i.StopWithRoot) -> None:
    """The root's turn is being cancelled, and exactly this one with it (RT-135)."""
    turn = step.state.turn
    if turn is not None and turn.turn_id == given.turn_id:
        settlement.request_cancel(step, turn)


def root_lost(step: Step, given: i.RootLost) -> None:
    """Nothing more is heard."""
    step.change(background=frozenset())
    settlement.settle(step, given.how)
