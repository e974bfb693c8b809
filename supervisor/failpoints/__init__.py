"""Failpoints: named places in the program where a fault can be put on purpose, for tests and for whoever doubts.

A place costs one attribute check while failpoints are off, and it is off in a daemon that was not started for faults:

    if failpoints.on:
        await failpoints.reach("provider.write.before")

Owns the registry (`registry`), what an arming says (`arming`) and the one registry of this process. What a name
stands for is declared by whoever has the place; the whole list is `runtime.failpoints`.
"""

from typing import Final

from supervisor.failpoints.arming import Action as Action
from supervisor.failpoints.arming import Arming as Arming
from supervisor.failpoints.arming import BadArming as BadArming
from supervisor.failpoints.arming import Place as Place
from supervisor.failpoints.registry import Failpoint as Failpoint
from supervisor.failpoints.registry import FailpointRaised as FailpointRaised
from supervisor.failpoints.registry import FailpointReport as FailpointReport
from supervisor.failpoints.registry import Failpoints as Failpoints
from supervisor.failpoints.registry import UnknownFailpoint as UnknownFailpoint
from supervisor.failpoints.registry import pair as pair

failpoints: Final = Failpoints()
"""Of this process: what it does to itself, such as to kill itself, it does as a whole."""
