"""The outside of the controller, as it is handed in, and the parts that are made of ports and limits alone.

Names no production implementation (`runtime.service.composition` does, and the simulator has its own).
"""

from collections.abc import Callable, Mapping

import attrs

from runtime.catalogue.catalogues import CatalogueLimits, Catalogues, HintKind, MachineView, NothingSeen
from runtime.catalogue.inquiries import Inquiries
from runtime.catalogue.snapshot import Spawn
from runtime.controller_limits import InteractionTimeout
from runtime.observability.process_figures import ProcessFigures
from runtime.operations.create_session import WorkDirectories
from runtime.operations.git import Git
from runtime.operations.periodic_copies import CopyMaker
from runtime.operations.worktrees import CheckoutGround, WorktreeBounds, Worktrees
from runtime.ports import IdentifierSource, WallClock
from runtime.providers.examiner import ProgramExaminer
from runtime.providers.programs import ProgramFiles
from runtime.providers.records import NoRecords, RecordReader
from runtime.providers.registry import ProviderRegistry
from runtime.targets import TargetCatalogue, TargetConnections, TargetDefinition
from runtime.wire.limits import Limits
from store.canonical.identifiers import SessionKey
from store.port import RunningWriter, StoreReader
from supervisor import LifecycleLocks
from supervisor.process_guard.port import ProcessLauncher


@attrs.frozen
class CheckoutPorts:
    """The ground of checkouts, and the complete environment of git."""

    ground: CheckoutGround
    environment: Mapping[str, str]


@attrs.frozen(kw_only=True)
class ControllerPorts:
    """The outside, as handed in by the composition root or the simulator."""

    writer: RunningWriter
    reader: StoreReader
    launcher: ProcessLauncher
    registry: ProviderRegistry
    targets: tuple[TargetDefinition, ...]
    program_found: Callable[[TargetDefinition], bool]
    directories: WorkDirectories
    clock: WallClock
    identifiers: IdentifierSource
    shared_directory: str = "/"
    """Where agent processes start that serve several sessions: a directory of none of them."""
    process_figures: Callable[[], ProcessFigures] = ProcessFigures
    """What the kernel says of this process; nothing where there is none."""
    unanswered: InteractionTimeout = attrs.field(factory=InteractionTimeout)
    """What becomes of an Interaction that nobody answers."""
    program_files: ProgramFiles | None = None
    """Where agents' programs are looked at before they are started; without it nothing is known of them."""
    records: RecordReader = attrs.field(factory=NoRecords)
    """Where files are read that providers keep of their conversations."""
    machine: MachineView = attrs.field(factory=NothingSeen)
    """What of agents can be seen without asking them."""
    copies: CopyMaker | None = None
    """Who copies the database at intervals; without it nobody does."""
    checkouts: CheckoutPorts | None = None
    """Where checkouts of sessions are made; without it there are none."""
    poisoned: frozenset[SessionKey] = frozenset()
    """Sessions whose rows recovery could not read; they are closed to commands."""


def catalogues(
    ports: ControllerPorts,
    limits: Limits,
    targets: TargetCatalogue,
    connections: TargetConnections,
    examiner: ProgramExaminer | None,
    spawn: Spawn,
    note: Callable[[HintKind], None],
) -> Catalogues:
    """What is known of the agents themselves."""

    async def examine(definition: TargetDefinition) -> None:
        if examiner is not None:
            await examiner.report(definition.program)

    return Catalogues(
        targets,
        Inquiries(connections, spawn, limits.inquiry_timeout_seconds, limits.max_inquiries),
        ports.machine,
        examine,
        CatalogueLimits(limits.catalogue_fresh_seconds, limits.usage_fresh_seconds),
        spawn,
        ports.clock,
        note,
    )


def worktree_operations(ports: ControllerPorts, limits: Limits, locks: LifecycleLocks) -> Worktrees | None:
    """Who makes checkouts and takes them away; None where there is no ground for them."""
    if ports.checkouts is None:
        return None
    git = Git(
        ports.launcher,
        ports.checkouts.environment,
        limits.worktree_timeout_seconds,
        limits.max_concurrent_checkouts,
    )
    return Worktrees(
        reader=ports.reader,
        writer=ports.writer,
        locks=locks,
        clock=ports.clock,
        git=git,
        ground=ports.checkouts.ground,
        bounds=WorktreeBounds(count_max=limits.max_worktrees, free_bytes_min=limits.worktree_free_bytes),
    )
