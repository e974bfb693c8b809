"""The daemon: the production controller behind a listening socket.

Owns the start order of the contract (lock, bind, then all that `composition` does, listen), and the reverse order of
stopping. What each part does is its own.
"""

import os
import ssl
from collections.abc import AsyncIterable, Callable, Iterator
from contextlib import AsyncExitStack
from functools import partial
from pathlib import Path

import structlog
import trio

from runtime.api import trio_websocket_transport, wsproto_transport
from runtime.api.authentication import TokenStore
from runtime.api.console_pages import console_route
from runtime.api.frames import CloseCode
from runtime.api.front import Front, HttpRoute
from runtime.api.http_exchange import HttpResponse, RequestHead
from runtime.api.listen_address import AddressForbidden, AddressInvalid
from runtime.api.listener import AddressInUse, SocketListener, bind
from runtime.api.origin_policy import OriginPolicy
from runtime.api.upgrade import ServeClient
from runtime.config import Configuration
from runtime.controller import Controller
from runtime.controller_limits import transport_limits
from runtime.observability.long_lived import spare_long_lived
from runtime.observability.metrics import CONTENT_TYPE, MetricFamily, by_label, counter, exposition, gauge
from runtime.observability.stall_watch import watched_for_stalls
from runtime.service.access import TOKEN_FILE, admitted_tokens
from runtime.service.composition import composed_controller, data_directory
from runtime.service.console_files import console_files
from runtime.service.faults import faults_as_configured
from runtime.service.open_files import allow_open_files
from runtime.service.ready import (
    EXIT_ADDRESS,
    EXIT_CONFIGURATION,
    ReadyLine,
    StartRefused,
    announce,
    withdraw,
)

log = structlog.get_logger(__name__)

TRANSPORTS: dict[str, ServeClient] = {
    "wsproto": wsproto_transport.serve_client,
    "trio-websocket": trio_websocket_transport.serve_client,
}


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
    data_dir = Path(config.data_dir)
    async with AsyncExitStack() as stack:
        stack.enter_context(faults_as_configured(config, os.environ))
        stack.enter_context(data_directory(data_dir))
        listener = await _bind(config)
        stack.callback(listener.close)
        token_file = data_dir / TOKEN_FILE
        tokens = TokenStore(admitted_tokens(config, token_file))
        controller = await stack.enter_async_context(composed_controller(config))
        # Now, not earlier: agents are started by a process that was forked before, and keep what it was given.
        allow_open_files(config.limits)
        front = _front(config, tokens, controller)

        def announce_ready() -> None:
            line = ReadyLine(
                pid=os.getpid(),
                url=listener.url,
                console=listener.console_url if config.console else None,
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
            spare_long_lived()
            with watched_for_stalls(controller.lag):
                await stop.wait()
            log.info("the daemon stops", grace_seconds=config.limits.shutdown_grace_seconds)
            listener.close()
            await controller.stop()
            front.close_all(CloseCode.GOING_AWAY, "the daemon stops")
            close_seconds = transport_limits(config.limits).close_timeout_seconds
            clients.cancel_scope.deadline = trio.current_time() + close_seconds
        nursery.cancel_scope.cancel()


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


def _front(config: Configuration, tokens: TokenStore, controller: Controller) -> Front:
    async def healthz(_: RequestHead) -> HttpResponse:
        status = controller.api.health().status
        return HttpResponse(503 if status == "failing" else 200, f"{status}\n".encode())

    async def metrics(_: RequestHead) -> HttpResponse:
        return HttpResponse(200, exposition(controller.metrics.read()), CONTENT_TYPE)

    routes = [HttpRoute("/healthz", healthz), HttpRoute("/metrics", metrics, "admin")]
    if config.console:
        routes.append(console_route(console_files()))
    front = Front(
        limits=transport_limits(config.limits),
        authenticator=tokens,
        origins=OriginPolicy(
            frozenset(config.allowed_origins),
            frozenset(config.allowed_hosts),
            "https" if config.tls_certificate is not None else "http",
        ),
        routes=routes,
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
