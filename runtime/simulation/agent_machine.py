"""The process table of the simulated world: agents in memory, and the launcher port that starts them.

Each process runs the shipped demo agent, which does no I/O itself, on virtual time behind pipes with weather. What
the agents were told is noted here and outlives every daemon. A daemon that dies takes its processes along, as the
process guard sees to it; what was in their pipes by then may still be heard.
"""

import json
import random
import re
from collections import Counter
from typing import Final, Literal

import attrs
import trio

from runtime.providers.demo.actions import DemoSettings, MemoryStore
from runtime.simulation.agent_process import AgentFate, SimulatedProcess
from runtime.simulation.pipes import Weather, on_tick
from supervisor.process_guard.port import LaunchFailed, LaunchRequest

SUBMIT_MARK: Final = re.compile(r"<<([^<>]+)>>")
"""How a prompt of the simulation carries its submit id to the agent."""


@attrs.frozen(kw_only=True)
class AgentHabits:
    """What agents of a run are like. Chances are of one process, but for `noise`, which is of one line."""

    pipes: Weather = attrs.field(factory=Weather)
    startup_seconds_max: float = 0.05
    launch_fails: float = 0.0
    dies: float = 0.0
    dies_within_writes: int = 24
    stubborn: float = 0.0
    noise: float = 0.0
    loads: bool = True
    resumes: bool = True


@attrs.frozen
class ToldPrompt:
    """An agent was given a prompt."""

    submit_id: str
    pid: int
    at_seconds: float


@attrs.frozen
class ToldAnswer:
    """An agent was given the answer to a request of its own; `option_id` is None for a cancelled one."""

    pid: int
    request_id: str
    option_id: str | None


@attrs.define
class AgentNotes:
    """Everything the agents were told, over all lives."""

    prompts: list[ToldPrompt] = attrs.field(factory=list)
    answers: list[ToldAnswer] = attrs.field(factory=list)

    def take(self, pid: int, line: bytes, at_seconds: float) -> None:
        """One line that an agent has read."""
        message = json.loads(line)
        if message.get("method") == "session/prompt":
            text = "".join(block.get("text", "") for block in message["params"]["prompt"])
            found = SUBMIT_MARK.search(text)
            self.prompts.append(ToldPrompt(found.group(1) if found else text, pid, at_seconds))
        elif "method" not in message and str(message.get("id", "")).startswith("demo-request"):
            outcome = (message.get("result") or {}).get("outcome") or {}
            self.answers.append(ToldAnswer(pid, message["id"], outcome.get("optionId")))


class AgentMachine:
    """All processes of the world, and what they keep on their own disk."""

    def __init__(
        self, habits: AgentHabits, chance: random.Random, nursery: trio.Nursery, faults: Counter[str]
    ) -> None:
        self.notes = AgentNotes()
        self.calm = False
        """No new fault is begun: the phase in which everything has to settle."""
        self._habits = habits
        self._chance = chance
        self._nursery = nursery
        self._faults = faults
        self._sessions = MemoryStore()
        self._processes: list[SimulatedProcess] = []

    @property
    def living(self) -> tuple[SimulatedProcess, ...]:
        """Processes that have not ended."""
        return tuple(process for process in self._processes if process.exited is None)

    def launcher(self) -> "SimulatedLauncher":
        """The launcher of one life of the daemon."""
        return SimulatedLauncher(self)

    async def start(self, request: LaunchRequest, launcher: "SimulatedLauncher") -> SimulatedProcess:
        """Start an agent for this launcher. Raises LaunchFailed by chance, or when its daemon has died."""
        chance = self._chance
        await trio.sleep_until(on_tick(trio.current_time() + chance.random() * 0.01))
        if launcher.dead:
            raise LaunchFailed("the daemon is gone")
        if not self.calm and chance.random() < self._habits.launch_fails:
            self._faults["launch failed"] += 1
            raise LaunchFailed("no process could be made")
        number = len(self._processes) + 1
        settings = DemoSettings(
            identity=f"agent{number}",
            startup_seconds=0.0 if self.calm else chance.random() * self._habits.startup_seconds_max,
            loads=self._habits.loads,
            resumes=self._habits.resumes,
        )
        process = SimulatedProcess(
            number, request.label, settings, self._sessions, self._fate(), self._habits.pipes, self
        )
        self._processes.append(process)
        self._nursery.start_soon(process.run)
        launcher.processes.append(process)
        return process

    def told(self, pid: int, line: bytes) -> None:
        """A process has read a line."""
        self.notes.take(pid, line, trio.current_time())

    def noise(self) -> bytes | None:
        """What an agent now writes between its frames, if anything."""
        if self.calm or not self._habits.noise or self._chance.random() >= self._habits.noise:
            return None
        self._faults["agent noise"] += 1
        return self._chance.choice(
            (b"warning: something\n", b"\xff\xfe\n", b"{not json}\n", b'{"jsonrpc":"2.0"}\n')
        )

    def struck(self, fault: str) -> None:
        """A fault of a process took place."""
        self._faults[fault] += 1

    @property
    def chance(self) -> random.Random:
        """The source of the processes' own chances."""
        return self._chance

    def _fate(self) -> AgentFate:
        chance, habits = self._chance, self._habits
        dies = not self.calm and chance.random() < habits.dies
        return AgentFate(
            dies_at_write=chance.randint(1, habits.dies_within_writes) if dies else None,
            torn=dies and chance.random() < 0.5,
            stubborn=not self.calm and chance.random() < habits.stubborn,
        )


class SimulatedLauncher:
    """`ProcessLauncher` for one life of the daemon."""

    def __init__(self, machine: AgentMachine) -> None:
        self.processes: list[SimulatedProcess] = []
        self.dead = False
        self._machine = machine

    async def launch(self, request: LaunchRequest) -> SimulatedProcess:
        """See `ProcessLauncher`."""
        return await self._machine.start(request, self)

    def daemon_died(self, how: Literal["power_cut", "kill"]) -> None:
        """The daemon is gone: nothing it still does reaches its processes, and they end."""
        self.dead = True
        for process in self.processes:
            process.orphan(0.0 if how == "power_cut" else self._machine.chance.random() * 0.05)
