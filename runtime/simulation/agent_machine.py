"""The process table of the simulated world: agents in memory, and the launcher port that starts them.

Each process runs the shipped demo agent or the scripted Codex, which do no I/O themselves, on virtual time behind pipes
with weather. What the agents were told and what they keep is held here and outlives every daemon. A daemon that dies takes its processes along, as the
process guard sees to it; what was in their pipes by then may still be heard.
"""

import random
from collections import Counter
from typing import Final, Literal

import attrs
import trio

from runtime.providers.demo.actions import DemoSettings, MemoryStore, ScriptedAgent
from runtime.providers.demo.agent import DemoAgent
from runtime.simulation.agent_notes import AgentNotes
from runtime.simulation.agent_process import AgentFate, SimulatedProcess
from runtime.simulation.pipes import Weather, on_tick
from runtime.simulation.scripted_codex.rollouts import MemoryRollouts
from runtime.simulation.scripted_codex.server import CodexSettings, ScriptedCodex
from supervisor.process_guard.port import LaunchFailed, LaunchRequest

CODEX_PROGRAM: Final = "codex-app-server"
"""Which program is the scripted Codex; every other one is the demo agent."""


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
        self._rollouts = MemoryRollouts()
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
        process = SimulatedProcess(
            number, request.label, self._agent(request, number), self._fate(), self._habits.pipes, self
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

    def _agent(self, request: LaunchRequest, number: int) -> ScriptedAgent:
        habits = self._habits
        startup_seconds = 0.0 if self.calm else self._chance.random() * habits.startup_seconds_max
        if request.argv[0] == CODEX_PROGRAM:
            codex = CodexSettings(identity=f"agent{number}", startup_seconds=startup_seconds)
            return ScriptedCodex(codex, self._rollouts if habits.loads else MemoryRollouts())
        demo = DemoSettings(
            identity=f"agent{number}",
            startup_seconds=startup_seconds,
            loads=habits.loads,
            resumes=habits.resumes,
        )
        return DemoAgent(demo, self._sessions)

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
