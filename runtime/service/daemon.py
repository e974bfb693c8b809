"""The composition root of the daemon: names the production implementations and runs them.

Owns the start order of the contract (lock, bind, end leftovers, open and check the database, recover, listen), and
the reverse order of stopping. What each part does is its own.
"""

import os
import ssl
from collections.abc import AsyncIterable, AsyncIterator, Callable, Iterator
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from functools import partial
from pathlib import Path

import attrs
import structlog
import trio

from runtime.api import trio_websocket_transport, wsproto_transport
from runtime.api.authentication import TokenStore
from runtime.api.commit_events import CommitEvents
from runtime.api.frames import CloseCode
from runtime.api.front import Front, HttpRoute
from runtime.api.http_exchange import HttpResponse, RequestHead
from runtime.api.listen_address import AddressForbidden, AddressInvalid
from runtime.api.listener import AddressInUse, SocketListener, bind
from runtime.api.origin_policy import OriginPolicy
from runtime.api.transport import ServeClient
from runtime.config import Configuration
from runtime.controller import Controller, ControllerPorts
from runtime.controller_limits import InteractionTimeout, transport_limits
from runtime.observability.metrics import CONTENT_TYPE, MetricFamily, by_label, counter, exposition, gauge
from runtime.observability.process_figures import read_process_figures
from runtime.service.access import TOKEN_FILE, admitted_tokens
from runtime.service.families import provider_registry
from runtime.service.installation import VERSION
from runtime.service.program_files import REPORTS_FILE_NAME, DiskProgramFiles
from runtime.service.ready import (
    EXIT_ADDRESS,
    EXIT_CONFIGURATION,
    EXIT_DATABASE,
    EXIT_IN_USE,
    ReadyLine,
    StartRefused,
    announce,
    withdraw,
)
from runtime.service.target_definitions import program_found, target_definitions
from runtime.service.work_directories import DiskWorkDirectories
from runtime.system_ports import SystemClock, SystemIdentifiers
from runtime.wire.rows import ServerInfo
from store.canonical.identifiers import SessionKey
from store.commit_log import LogLimits
from store.errors import DataDirectoryInUse, NetworkFileSystem, SchemaTooNew, StoreDamaged, StoreError
from store.files import LocalFiles
from store.instance_lock import acquire_instance_lock
from store.open import DATABASE_FILE_NAME, Store, StoreOptions, open_store
from supervisor.process_guard import ProcessGuard, SpawnerUnavailable, sweep

log = structlog.get_logger(__name__)

INSTANCES_FOLDER = "instances"
TRANSPORTS: dict[str, ServeClient] = {
    "wsproto": wsproto_transport.serve_client,
    "trio-websocket": trio_websocket_transport.serve_client,
}


@attrs.frozen
class Instance:
    """This run of the daemon."""

    instance_id: str
    started_at: int


async def serve(
    config: Configuration,
    *,
    ready: Callable[[ReadyLine], None],
    stop: trio.Event,
    reread: AsyncIterable[Configuration] | None = None,
) -> None:
    """Run the daemon until `stop` is set, then end it cleanly; cancelling ends it at once, with nothing lost.

    `ready` is called once, when clients may connect. Raises StartRefused before that, never after. Each
    configuration of `reread` replaces the tokens in force (SIGHUP); nothing else of it takes effect.
    """
    clock = SystemClock()
    instance = Instance(SystemIdentifiers().new_id(), clock.now_ms())
    data_dir = Path(config.data_dir)
    async with AsyncExitStack() as stack:
        stack.enter_context(_data_directory(data_dir))
        listener = await _bind(config)
        stack.callback(listener.close)
        token_file = data_dir / TOKEN_FILE
        tokens = TokenStore(admitted_tokens(config, token_file))
        await _end_leftovers(data_dir / INSTANCES_FOLDER, instance)
        guard = await stack.enter_async_context(_process_guard(data_dir / INSTANCES_FOLDER, instance))
        store = stack.enter_context(_store(config, data_dir, clock))
        poisoned = _recover(store)
        writer = store.threaded_writer()
        ports = ControllerPorts(
            writer=writer,
            reader=store.reader,
            launcher=guard,
            registry=provider_registry(),
            targets=target_definitions(config, os.environ),
            program_found=program_found,
            program_files=DiskProgramFiles(data_dir / REPORTS_FILE_NAME),
            shared_directory=str(data_dir),
            directories=DiskWorkDirectories(Path(config.work_root)),
            clock=clock,
            identifiers=SystemIdentifiers(),
            unanswered=InteractionTimeout(
                config.interaction_timeout_seconds, config.interaction_timeout_answer
            ),
            poisoned=poisoned,
            process_figures=read_process_figures,
        )
        server_info = ServerInfo("greenroom", VERSION, instance.instance_id, instance.started_at)
        controller = Controller(ports, config.limits, server_info)
        front = _front(config, tokens, controller)

        def announce_ready() -> None:
            line = ReadyLine(
                pid=os.getpid(),
                url=listener.url,
                console=None,
                token_file=str(token_file),
                data_dir=str(data_dir),
            )
            announce(line, data_dir)
            ready(line)

        stack.callback(withdraw, data_dir)
        async with trio.open_nursery() as nursery:
            if reread is not None:
                nursery.start_soon(_replace_tokens, reread, token_file, tokens, front)
            await _run(config, listener, controller, front, announce_ready, stop)
            nursery.cancel_scope.cancel()


async def _replace_tokens(
    reread: AsyncIterable[Configuration], token_file: Path, tokens: TokenStore, front: Front
) -> None:
    async for config in reread:
        try:
            tokens.replace(admitted_tokens(config, token_file))
        except StartRefused as error:
            log.error("the tokens stay as they were", reason=error.line)
        else:
            log.info("tokens read again", tokens=len(config.tokens), closed=front.close_revoked())


async def _run(
    config: Configuration,
    listener: SocketListener,
    controller: Controller,
    front: Front,
    announce_ready: Callable[[], None],
    stop: trio.Event,
) -> None:
    """From the first client to the last: the controller outlives its clients, so that what they asked is answered."""
    async with trio.open_nursery() as nursery:
        await nursery.start(controller.run)
        async with trio.open_nursery() as clients:
            listener.listen()
            clients.start_soon(listener.serve, front.serve)
            announce_ready()
            await stop.wait()
            log.info("the daemon stops", grace_seconds=config.limits.shutdown_grace_seconds)
            listener.close()
            await controller.stop()
            front.close_all(CloseCode.GOING_AWAY, "the daemon stops")
            close_seconds = transport_limits(config.limits).close_timeout_seconds
            clients.cancel_scope.deadline = trio.current_time() + close_seconds
        nursery.cancel_scope.cancel()


@contextmanager
def _data_directory(data_dir: Path) -> Iterator[None]:
    try:
        data_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
        lock = acquire_instance_lock(data_dir)
    except DataDirectoryInUse as error:
        raise StartRefused(EXIT_IN_USE, f"{error}; stop it, or choose another --data-dir") from error
    except NetworkFileSystem as error:
        raise StartRefused(EXIT_CONFIGURATION, f"dataDir: {error}") from error
    except OSError as error:
        raise StartRefused(EXIT_CONFIGURATION, f"dataDir {data_dir}: {error.strerror}") from error
    with lock:
        yield


async def _bind(config: Configuration) -> SocketListener:
    tls = None
    if config.tls_certificate is not None:
        tls = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        try:
            tls.load_cert_chain(config.tls_certificate, config.tls_key)
        except (OSError, ssl.SSLError) as error:
            line = f"tlsCertificate {config.tls_certificate}: cannot be used ({error.strerror or error})"
            raise StartRefused(EXIT_CONFIGURATION, line) from error
    try:
        return await bind(config.listen, allow_remote=config.allow_remote, tls=tls)
    except AddressInUse as error:
        line = f"{error}: another program listens there; stop it, or choose another --listen"
        raise StartRefused(EXIT_ADDRESS, line) from error
    except (AddressForbidden, AddressInvalid) as error:
        raise StartRefused(EXIT_CONFIGURATION, str(error)) from error


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
    )
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


def _front(config: Configuration, tokens: TokenStore, controller: Controller) -> Front:
    async def healthz(_: RequestHead) -> HttpResponse:
        status = controller.api.health().status
        return HttpResponse(503 if status == "failing" else 200, f"{status}\n".encode())

    async def metrics(_: RequestHead) -> HttpResponse:
        return HttpResponse(200, exposition(controller.metrics.read()), CONTENT_TYPE)

    front = Front(
        limits=transport_limits(config.limits),
        authenticator=tokens,
        origins=OriginPolicy(
            frozenset(config.allowed_origins),
            frozenset(config.allowed_hosts),
            "https" if config.tls_certificate is not None else "http",
        ),
        routes=(HttpRoute("/healthz", healthz), HttpRoute("/metrics", metrics, "admin")),
        serve_client=TRANSPORTS[config.transport],
        handle=controller.serve_client,
    )
    controller.metrics.further.append(partial(_front_families, front))
    return front


def _front_families(front: Front) -> Iterator[MetricFamily]:
    statistics = front.statistics()
    yield gauge("http_connections", "Connections of any kind on the port.", statistics.connections)
    yield counter("clients_accepted_total", "Clients let in.", statistics.accepted)
    refused = {str(status): count for status, count in statistics.refused.items()}
    yield by_label("http_refused_total", "Requests turned away.", "counter", "status", refused)
