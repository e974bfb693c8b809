"""Process guard: provider processes that never outlive their owner.

Reading order: `port.py` (what it promises), `frames.py` (who says what to whom), `launcher.py` (a launch),
`reaper.py` and `spawner.py` (the programs on the other side), `ladder.py` (an orderly end), `sweep.py` (the
end of what a dead daemon left).
"""

from supervisor.process_guard.environment import provider_environment
from supervisor.process_guard.launcher import GuardLimits, ProcessGuard
from supervisor.process_guard.port import (
    ByteSink,
    ByteSource,
    ChildInputClosed,
    CloseFailed,
    ExitStatus,
    LadderTimes,
    LaunchError,
    LaunchFailed,
    LaunchRequest,
    ProcessHandle,
    ProcessLauncher,
    ProgramNotExecutable,
    ProgramNotFound,
    ProtocolClose,
    SpawnerUnavailable,
    WorkingDirectoryMissing,
)
from supervisor.process_guard.sweep import SweepReport, Unproven, sweep

__all__ = [
    "ByteSink",
    "ByteSource",
    "ChildInputClosed",
    "CloseFailed",
    "ExitStatus",
    "GuardLimits",
    "LadderTimes",
    "LaunchError",
    "LaunchFailed",
    "LaunchRequest",
    "ProcessGuard",
    "ProcessHandle",
    "ProcessLauncher",
    "ProgramNotExecutable",
    "ProgramNotFound",
    "ProtocolClose",
    "SpawnerUnavailable",
    "SweepReport",
    "Unproven",
    "WorkingDirectoryMissing",
    "provider_environment",
    "sweep",
]
