"""Composes the controller of the production service on one data directory, for whoever serves it to clients.

Names the production implementations of the controller's ports and owns the order in which they come up: the lock,
the end of leftover processes, the process guard, the database, recovery. Knows no socket, no HTTP and no token
(RT-145); `daemon` puts a listener around it, `embedding` a program.
"""

import os
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from pathlib import Path

import attrs
import structlog

from runtime.api.commit_events import CommitEvents
from runtime.config import Configuration
from runtime.controller import Controller
from runtime.controller_limits import InteractionTimeout
from runtime.controller_ports import CheckoutPorts, ControllerPorts
from runtime.observability.process_figures import read_process_figures
from runtime.service.checkout_ground import DiskCheckoutGround, git_environment
from runtime.service.database_copies import DatabaseCopies
from runtime.service.families import provider_registry
from runtime.service.installation import VERSION
from runtime.service.machine_view import DiskMachineView
from runtime.service.program_files import REPORTS_FILE_NAME, DiskProgramFiles
from runtime.service.ready import EXIT_CONFIGURATION, EXIT_DATABASE, EXIT_IN_USE, StartRefused
from runtime.service.record_files import RecordFiles
from runtime.service.target_definitions import check_servers, program_found, target_definitions
from runtime.service.work_directories import DiskWorkDirectories
from runtime.system_ports import SystemClock, SystemIdentifiers
from runtime.wire.rows import ServerInfo
from store.canonical.identifiers import SessionKey
from store.commit_log import LogLimits
from store.copies import remove_abandoned_drafts
from store.errors import DataDirectoryInUse, NetworkFileSystem, SchemaTooNew, StoreDamaged, StoreError
from store.files import LocalFiles
from store.instance_lock import acquire_instance_lock
from store.open import DATABASE_FILE_NAME, Store, StoreOptions, open_store
from supervisor.failpoints import failpoints
from supervisor.process_guard import ProcessGuard, SpawnerUnavailable, sweep

log = structlog.get_logger(__name__)

INSTANCES_FOLDER = "instances"
COPY_ROOM_RESERVES = 4
"""A copy of the database leaves this many times the store's reserve free on the disk."""


@attrs.frozen
class Instance:
    """This run of the daemon."""

    instance_id: str
    started_at: int


@asynccontextmanager
async def composed_controller(config: Configuration) -> AsyncIterator[Controller]:
    """The controller, recovered and not yet running, on a data directory whose lock is held.

    Raises StartRefused. Run it within the body; what it stands on is closed after that.
    """
    clock = SystemClock()
    instance = Instance(SystemIdentifiers().new_id(), clock.now_ms())
    data_dir = Path(config.data_dir)
    instances = data_dir / INSTANCES_FOLDER
    registry, targets = provider_registry(), target_definitions(config, os.environ)
    check_servers(targets, registry)
    async with AsyncExitStack() as stack:
        if failpoints.on:
            await failpoints.reach("service.leftovers.before")
        await _end_leftovers(instances, instance)
        if failpoints.on:
            await failpoints.reach("service.leftovers.after")
        guard = await stack.enter_async_context(_process_guard(instances, instance))
        store = stack.enter_context(_store(config, data_dir, clock))
        poisoned = _recover(store)
        files = DiskProgramFiles(data_dir / REPORTS_FILE_NAME)
        ports = ControllerPorts(
            writer=store.threaded_writer(),
            reader=store.reader,
            launcher=guard,
            registry=registry,
            targets=targets,
            program_found=program_found,
            records=RecordFiles(),
            program_files=files,
            machine=DiskMachineView(files, os.urandom(32)),
            shared_directory=str(data_dir),
            directories=DiskWorkDirectories(Path(config.work_root)),
            checkouts=CheckoutPorts(DiskCheckoutGround(Path(config.work_root)), git_environment(os.environ)),
            clock=clock,
            identifiers=SystemIdentifiers(),
            unanswered=InteractionTimeout(
                config.interaction_timeout_seconds, config.interaction_timeout_answer
            ),
            copies=DatabaseCopies(
                data_dir / DATABASE_FILE_NAME,
                config.limits.copies_kept,
                COPY_ROOM_RESERVES * config.limits.store_reserve_bytes,
                clock,
            ),
            poisoned=poisoned,
            process_figures=read_process_figures,
        )
        server_info = ServerInfo("greenroom", VERSION, instance.instance_id, instance.started_at)
        yield Controller(ports, config.limits, server_info)


@contextmanager
def data_directory(data_dir: Path) -> Iterator[None]:
    """Holds a data directory, made if need be, for this process alone. Raises StartRefused."""
    try:
        data_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
        lock = acquire_instance_lock(data_dir)
    except DataDirectoryInUse as error:
        raise StartRefused(EXIT_IN_USE, f"{error}; stop it, or choose another --data-dir") from error
    except NetworkFileSystem as error:
        raise StartRefused(EXIT_CONFIGURATION, f"dataDir: {error}") from error
    except FileExistsError as error:
        raise StartRefused(EXIT_CONFIGURATION, f"dataDir {data_dir}: is no directory") from error
    except OSError as error:
        raise StartRefused(EXIT_CONFIGURATION, f"dataDir {data_dir}: {error.strerror}") from error
    with lock:
        yield


async def _end_leftovers(instances: Path, instance: Instance) -> None:
    """End what dead instances left running, before anything is opened or started (promise 7)."""
    report = await sweep(instances, own_instance_id=instance.instance_id)
    if report.ended:
        log.warning("ended processes that an earlier run left behind", pids=[p.pid for p in report.ended])
    for doubt in report.unproven:
        log.warning(
            "left a process alone: it cannot be proven ours", pid=doubt.identity.pid, doubt=doubt.doubt
        )
    if report.remaining:
        log.error("processes of an earlier run would not end", pids=[p.pid for p in report.remaining])


@asynccontextmanager
async def _process_guard(instances: Path, instance: Instance) -> AsyncIterator[ProcessGuard]:
    guard = ProcessGuard(instances, instance.instance_id)
    try:
        guard.start()
    except (OSError, SpawnerUnavailable) as error:
        raise StartRefused(EXIT_CONFIGURATION, f"the process guard cannot start: {error}") from error
    try:
        yield guard
    finally:
        await guard.close()


@contextmanager
def _store(config: Configuration, data_dir: Path, clock: SystemClock) -> Iterator[Store]:
    limits = config.limits
    options = StoreOptions(
        clock_ms=clock.now_ms,
        new_store_id=SystemIdentifiers().new_id,
        encode=CommitEvents(limits.max_server_frame_bytes).encode,
        log_limits=LogLimits(
            bytes_max=limits.commit_log_max_bytes,
            count_max=limits.commit_log_max_count,
            age_max_ms=int(limits.commit_log_max_age_seconds * 1000),
        ),
        page_bytes_max=limits.max_page_bytes,
        faults=failpoints,
    )
    for draft in remove_abandoned_drafts(data_dir / DATABASE_FILE_NAME):
        log.warning("removed the beginning of a copy that was broken off", path=str(draft))
    try:
        store = open_store(LocalFiles(data_dir / DATABASE_FILE_NAME, limits.store_reserve_bytes), options)
    except StoreDamaged as error:
        line = f"{error}; put a kept copy in its place with `greenroom restore`"
        raise StartRefused(EXIT_DATABASE, line) from error
    except SchemaTooNew as error:
        raise StartRefused(EXIT_DATABASE, str(error)) from error
    except StoreError as error:
        raise StartRefused(EXIT_DATABASE, f"the database cannot be opened: {error}") from error
    try:
        yield store
    finally:
        store.close()


def _recover(store: Store) -> frozenset[SessionKey]:
    try:
        recovery = store.recover()
    except StoreError as error:
        raise StartRefused(
            EXIT_DATABASE, f"what the last run left open cannot be settled: {error}"
        ) from error
    if recovery.sessions_settled:
        log.info("settled what the last run left open", sessions=recovery.sessions_settled)
    for poisoned in recovery.quarantined:
        log.error("a session is set aside", session=str(poisoned.session_key), reason=poisoned.reason)
    return frozenset(poisoned.session_key for poisoned in recovery.quarantined)
