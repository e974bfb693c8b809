"""What one seed means: the size of the run, the weather, the habits, the limits and how each life ends.

Everything is drawn here, before the run, so that a failing seed can print what it stands for. Limits are drawn too: a
bound that is never reached in a run shows nothing.
"""

import math
import random
from typing import Literal

import attrs

from runtime.controller_limits import InteractionTimeout
from runtime.failpoints import POINTS
from runtime.simulation.agent_machine import AgentHabits
from runtime.simulation.client import ClientHabits
from runtime.simulation.pipes import Weather
from runtime.simulation.scheduler import Chances
from runtime.wire.limits import Limits

EndKind = Literal["power_cut", "kill", "clean_stop"]
Phase = Literal["starting", "serving", "stopping"]

KIB = 1024
FAILPOINT_SHARE = 0.3
"""Of the lives that do not end in a start or a stop: how many end at a failpoint when they come by it."""
_NEVER_SIMULATED = ("provider.record.", "service.leftovers.", "sweeper.")
"""Failpoints of what the simulated world has in another way."""


@attrs.frozen
class Ending:
    """How one life of the daemon ends: at a disk operation, or at a moment, whichever comes first."""

    kind: EndKind
    after_seconds: float
    """Of serving."""
    at_operation: int | None = None
    """Then it ends in the middle of what the database does; a clean stop ends so with a power cut."""
    phase: Phase = "serving"
    """In which phase of the life operations are counted."""
    failpoint: str | None = None
    """Then it ends there, at the pass of number `on_pass`, if it comes by; a clean stop so ends with a power cut."""
    on_pass: int = 1


@attrs.frozen
class DiskTrouble:
    """A fault of the disk in one life (`runtime.simulation.disk.DiskFault`)."""

    life: int
    call: Literal["write", "sync"]
    kind: Literal["io_error", "full", "short"]
    nth: int


@attrs.frozen(kw_only=True)
class RunOptions:
    """One run, expanded from its seed."""

    seed: int
    sessions: int
    clients: tuple[ClientHabits, ...]
    operations: int
    """Of all clients together."""
    endings: tuple[Ending, ...]
    disk: tuple[DiskTrouble, ...]
    network: Weather
    agents: AgentHabits
    codex_share: float
    """Of the sessions: how many are of the scripted Codex, the others of the demo agent."""
    commit_seconds_max: float
    clock_jump_ms_max: int
    limits: Limits
    unanswered: InteractionTimeout


def options_of(seed: int) -> RunOptions:
    """The options that this seed stands for."""
    chance = Chances(seed).source("options")
    sessions = chance.randint(2, 4)
    return RunOptions(
        seed=seed,
        sessions=sessions,
        clients=tuple(_client(chance, sessions) for _ in range(chance.randint(2, 4))),
        operations=chance.randint(20, 36),
        endings=_with_failpoints(
            [_ending(chance) for _ in range(chance.randint(2, 4))], Chances(seed).source("failpoints")
        ),
        disk=_disk(chance),
        network=_network(chance),
        agents=_agents(chance),
        codex_share=Chances(seed).source("dialects").choice((0.0, 0.5, 1.0)),
        commit_seconds_max=chance.choice((0.0005, 0.003, 0.02)),
        clock_jump_ms_max=chance.choice((0, 0, 5_000, 3_600_000)),
        limits=_limits(chance),
        unanswered=_unanswered(chance),
    )


def session_name(number: int) -> str:
    """The name of a session of a run, counted from 0."""
    return f"s{number}"


def _with_failpoints(endings: list[Ending], chance: random.Random) -> tuple[Ending, ...]:
    """Drawn apart from the endings themselves, as for all of them."""
    names = [point.name for point in POINTS if not point.name.startswith(_NEVER_SIMULATED)]
    return tuple(
        attrs.evolve(ending, at_operation=None, failpoint=chance.choice(names), on_pass=chance.randint(1, 2))
        if ending.phase == "serving" and chance.random() < FAILPOINT_SHARE
        else ending
        for ending in endings
    )


def _client(chance: random.Random, sessions: int) -> ClientHabits:
    followed: frozenset[str] | None = None
    if chance.random() < 0.25:
        followed = frozenset(session_name(number) for number in range(sessions) if chance.random() < 0.6)
    return ClientHabits(
        sessions=followed,
        replays=chance.random() < 0.8,
        answers=chance.choice((0.3, 0.9, 1.0)),
        patience_seconds=chance.choice((0.005, 0.05, 0.2)),
    )


def _ending(chance: random.Random) -> Ending:
    kind: EndKind = chance.choices(("power_cut", "kill", "clean_stop"), (0.76, 0.12, 0.12))[0]
    # As many short lives as long ones: recovery and the first commits are where it hurts.
    seconds = _evenly_by_size(chance, 0.1, 4.0)
    if chance.random() < 0.25:
        return Ending(kind, seconds)
    if kind == "clean_stop":
        return Ending(kind, seconds, int(_evenly_by_size(chance, 1, 60)), "stopping")
    if chance.random() < 0.15:
        return Ending(kind, seconds, int(_evenly_by_size(chance, 1, 60)), "starting")
    return Ending(kind, seconds, int(_evenly_by_size(chance, 1, 900)))


def _evenly_by_size(chance: random.Random, least: float, most: float) -> float:
    """Small numbers as often as large ones."""
    return math.exp(chance.uniform(math.log(least), math.log(most)))


def _disk(chance: random.Random) -> tuple[DiskTrouble, ...]:
    if chance.random() < 0.6:
        return ()
    call: Literal["write", "sync"] = chance.choice(("write", "sync"))
    kind: Literal["io_error", "full", "short"] = "io_error"
    if call == "write":
        kind = chance.choice(("io_error", "full", "short"))
    return (DiskTrouble(chance.randint(1, 3), call, kind, int(_evenly_by_size(chance, 1, 120))),)


def _network(chance: random.Random) -> Weather:
    return Weather(
        delay_seconds_max=chance.choice((0.0, 0.002, 0.02)),
        piece_bytes_max=chance.choice((0, 0, 1400, 200)),
        capacity_bytes=chance.choice((4 * KIB, 64 * KIB, 256 * KIB)),
    )


def _agents(chance: random.Random) -> AgentHabits:
    troubled = chance.random() < 0.6
    return AgentHabits(
        pipes=Weather(
            delay_seconds_max=chance.choice((0.0, 0.001, 0.01)),
            piece_bytes_max=chance.choice((0, 0, 300)),
            capacity_bytes=chance.choice((4 * KIB, 64 * KIB)),
        ),
        startup_seconds_max=chance.choice((0.0, 0.05, 0.5)),
        launch_fails=0.1 if troubled else 0.0,
        dies=chance.choice((0.1, 0.3)) if troubled else 0.0,
        stubborn=0.1 if troubled else 0.0,
        noise=chance.choice((0.0, 0.02)) if troubled else 0.0,
        loads=chance.random() < 0.9,
        resumes=chance.random() < 0.7,
    )


def _unanswered(chance: random.Random) -> InteractionTimeout:
    if chance.random() < 0.85:
        return InteractionTimeout()
    return InteractionTimeout(chance.choice((0.02, 0.3)), chance.choice(("stop", "reject_once")))


def _limits(chance: random.Random) -> Limits:
    return Limits(
        max_server_frame_bytes=chance.choice((1536, 8 * KIB * KIB, 8 * KIB * KIB)),
        max_page_bytes=chance.choice((2 * KIB, 4 * KIB * KIB)),
        max_in_flight_requests=chance.choice((2, 256)),
        max_delta_bytes=chance.choice((16, 64 * KIB)),
        max_message_bytes=chance.choice((200, 4 * KIB * KIB)),
        message_update_interval_ms=chance.choice((1, 100)),
        write_behind_ms=chance.choice((50, 250)),
        max_live_connections=chance.choice((1, 2, 64)),
        max_concurrent_starts=chance.choice((1, 8)),
        admission_wait_seconds=chance.choice((0.5, 10.0)),
        session_lane_messages=chance.choice((8, 1024)),
        session_lane_bytes=chance.choice((2 * KIB, 8 * KIB * KIB)),
        idle_release_seconds=chance.choice((0.05, 1800.0)),
        initialize_timeout_seconds=chance.choice((0.3, 10.0)),
        cancel_grace_seconds=chance.choice((0.05, 5.0)),
        respond_timeout_seconds=chance.choice((0.05, 5.0)),
        settings_timeout_seconds=chance.choice((0.05, 5.0)),
        lifecycle_timeout_seconds=chance.choice((2.0, 20.0)),
        connection_drain_seconds=chance.choice((0.5, 5.0)),
        client_send_deadline_seconds=chance.choice((0.5, 5.0)),
        client_queue_bytes=chance.choice((6 * KIB, 32 * KIB, 8 * KIB * KIB)),
        ping_seconds=chance.choice((0.5, 20.0)),
        checkpoint_seconds=chance.choice((0.2, 5.0)),
        commit_log_max_count=chance.choice((20, 1_000_000, 1_000_000, 1_000_000)),
        store_reserve_bytes=0,
        shutdown_grace_seconds=chance.choice((0.5, 5.0)),
    )
