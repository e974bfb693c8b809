"""The simulated world: what goes on when a daemon dies. Disk, network, agents, clocks, and everybody's notes.

Owns the ways in which a life of the daemon can be ended from outside, and the rule of epochs: whatever a dead daemon
still does reaches nobody. A life itself is `life`'s.
"""

import random
from collections import Counter
from collections.abc import MutableMapping
from typing import Any, Literal

import attrs
import trio

from runtime.simulation.agent_machine import AgentMachine, SimulatedLauncher
from runtime.simulation.commit_record import CommitRecord
from runtime.simulation.disk import SimulatedDisk
from runtime.simulation.history import History
from runtime.simulation.network import Network, SimulatedListener
from runtime.simulation.options import RunOptions
from runtime.simulation.scheduler import Chances
from runtime.simulation.small_ports import CountedIdentifiers, SimulatedClock, SimulatedDirectories
from runtime.simulation.subscription_watch import SubscriptionWatch
from store.open import Store

WORKSPACE = "w1"


@attrs.define(eq=False)
class World:
    """Everything that outlives the daemon, for one run."""

    options: RunOptions
    chances: Chances
    disk: SimulatedDisk
    history: History
    faults: Counter[str] = attrs.field(factory=Counter)
    clock: SimulatedClock = attrs.field(factory=SimulatedClock)
    identifiers: CountedIdentifiers = attrs.field(factory=CountedIdentifiers)
    directories: SimulatedDirectories = attrs.field(factory=SimulatedDirectories)
    log: CommitRecord = attrs.field(factory=CommitRecord)
    watches: list[SubscriptionWatch] = attrs.field(factory=list)
    written_behind: dict[tuple[str, str, str], str] = attrs.field(factory=dict)
    """Of messages that streamed when a life ended: text that must have been written by then."""
    epoch: int = 0
    """Raised when a life ends from outside; what belongs to an older one is refused everywhere."""
    errors_matter: bool = True
    """Whether an error in the log is a bug: not so once a life was ended from outside, nor on a faulty disk."""
    ended_cleanly: bool = True
    """Whether the last life came to its end by itself, or there was none."""
    crashes: list[BaseException] = attrs.field(factory=list)
    """What was logged with such errors."""
    lives: int = 0
    power_cuts: int = 0
    network: Network = attrs.field(init=False)
    machine: AgentMachine = attrs.field(init=False)
    _cuts: random.Random = attrs.field(init=False)

    def begin(self, nursery: trio.Nursery) -> None:
        """Agents run in this nursery, whatever happens to the daemon."""
        self.network = Network(self.options.network, self.chances.source("network"))
        self.machine = AgentMachine(self.options.agents, self.chances.source("agents"), nursery, self.faults)
        self._cuts = self.chances.source("power cuts")

    def end_life(
        self, how: Literal["power_cut", "kill"], listener: SimulatedListener, launcher: SimulatedLauncher
    ) -> None:
        """From this step on nothing of the present life has any effect. Called in the middle of anything."""
        self.epoch += 1
        self.errors_matter = False
        listener.cut_all()
        launcher.daemon_died(how)
        if how == "power_cut":
            self.power_cuts += 1
            self.disk.cut_power(self._cuts)
        else:
            self.disk.kill()
        self.note(f"{how} ends life {self.lives}")

    def read_log(self, store: Store) -> None:
        """Remember what the commit log holds now."""
        self.log.read(store, store.committer.last_commit_seq)

    def take_log(self, level: str, message: str, entry: MutableMapping[str, Any]) -> None:
        """An entry of the daemon's log. Errors of a living, unharmed daemon are bugs (`no part crashes`)."""
        error = entry.pop("exc_info", None)
        details = " ".join(f"{key}={value}" for key, value in entry.items())
        text = f"{message} {details}" + (f" ({type(error).__name__}: {error})" if error else "")
        if level != "debug":
            self.note(f"log {level}: {text}")
        if level in ("error", "critical") and self.errors_matter:
            self.history.violated("no part of the service crashes", text)
            if isinstance(error, BaseException):
                self.crashes.append(error)

    def run_crashed(self, error: Exception) -> None:
        """An error came out of the run itself."""
        self.crashes.append(error)
        self.history.violated("the run ends", f"{type(error).__name__}: {error}")

    def note(self, text: str) -> None:
        """For the last events that a failing seed prints."""
        self.history.events.append(f"{trio.current_time():10.6f} {text}")
