"""The listening socket and the streams it accepts: the one place of the API that touches the network.

Owns binding, the socket file of a unix address, TLS, and the accept loop. It knows nothing of HTTP: each accepted
stream goes to the handler it is given, in a task of its own.
"""

import errno
import fcntl
import os
import socket
import ssl
import stat

import structlog
import trio

from runtime.api.listen_address import (
    AddressInvalid,
    ListenAddress,
    TcpAddress,
    UnixAddress,
    check_reach,
    console_url,
    websocket_url,
)
from runtime.api.transport import StreamHandler
from runtime.api.upgrade import WEBSOCKET_PATH

BACKLOG_CONNECTIONS = 1024
SEND_BUFFER_BYTES = 256 * 1024
"""Of the kernel, for each client. Left alone it grows to megabytes, and pongs and closes wait behind them."""
_SOCKET_FILE_MODE = 0o600
_LOCK_ATTEMPTS_MAX = 10
_ACCEPT_PAUSE_SECONDS = 0.1
_OUT_OF_RESOURCES = {errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM}
_CLIENT_GONE = {
    errno.ECONNABORTED,
    errno.EPROTO,
    errno.EPERM,
    errno.ECONNRESET,
    errno.ETIMEDOUT,
    errno.EHOSTUNREACH,
}

logger: structlog.typing.FilteringBoundLogger = structlog.get_logger("greenroom.api")


class AddressInUse(Exception):
    """Raised when another process listens on, or holds, the address (exit code 5)."""


class SocketByteStream:
    """A byte stream over a plain socket; implements `EagerByteStream`."""

    def __init__(self, connected: trio.socket.SocketType) -> None:
        self._stream = trio.SocketStream(connected)
        self._file_descriptor = connected.fileno()

    async def receive_some(self, max_bytes: int, /) -> bytes | bytearray:
        """At least one byte; empty at the end."""
        return await self._stream.receive_some(max_bytes)

    async def send_all(self, data: bytes | bytearray | memoryview, /) -> None:
        """Returns when the kernel holds all of `data`."""
        await self._stream.send_all(data)

    def try_send(self, data: bytes | bytearray | memoryview, /) -> int:
        """What the kernel takes without waiting, maybe 0 bytes."""
        if self._stream.socket.fileno() != self._file_descriptor:
            raise trio.ClosedResourceError
        try:
            return os.write(self._file_descriptor, data)
        except BlockingIOError:
            return 0
        except OSError as error:
            raise trio.BrokenResourceError(f"send failed: {error.strerror}") from error

    async def wait_sendable(self) -> None:
        """Returns when the kernel has room."""
        await self._stream.wait_send_all_might_not_block()

    async def aclose(self) -> None:
        """Closes the socket."""
        await self._stream.aclose()


class TlsByteStream:
    """A byte stream over TLS; the handshake happens with the first read, so under the deadline of the head."""

    def __init__(self, connected: trio.socket.SocketType, context: ssl.SSLContext) -> None:
        self._stream = trio.SSLStream(
            trio.SocketStream(connected), context, server_side=True, https_compatible=True
        )

    async def receive_some(self, max_bytes: int, /) -> bytes | bytearray:
        """At least one byte; empty at the end."""
        return await self._stream.receive_some(max_bytes)

    async def send_all(self, data: bytes | bytearray | memoryview, /) -> None:
        """Returns when the kernel holds all of `data`, encrypted."""
        await self._stream.send_all(data)

    async def aclose(self) -> None:
        """Closes the socket without a farewell, which a client that does not read could hold up."""
        await trio.aclose_forcefully(self._stream)


class SocketFile:
    """The claim on a unix address: a lock file beside it, held as long as the daemon may listen there.

    A socket file says nothing about its owner, and one that is bound but not yet listening looks dead. The lock
    does: whoever holds it may remove the socket file a dead daemon left.
    """

    def __init__(self, path: str) -> None:
        self._path = path
        self._lock_path = f"{path}.lock"
        self._lock = self._acquire()
        try:
            self._remove_stale()
        except BaseException:
            self._release()
            raise

    def remove(self) -> None:
        """Frees the address: socket file and lock file go."""
        if self._lock >= 0:
            _unlink_if_there(self._path)
            self._release()

    def _acquire(self) -> int:
        for _ in range(_LOCK_ATTEMPTS_MAX):
            lock = os.open(self._lock_path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                # Its holder removes the file when it ends: what was opened may not be what lies there now.
                if os.path.samestat(os.fstat(lock), os.stat(self._lock_path)):  # noqa: PTH116
                    return lock
            except FileNotFoundError:
                pass
            except BlockingIOError as error:
                os.close(lock)
                raise AddressInUse(f"unix:{self._path}: in use") from error
            os.close(lock)
        raise AddressInUse(f"unix:{self._path}: its lock file keeps changing")

    def _release(self) -> None:
        _unlink_if_there(self._lock_path)
        os.close(self._lock)
        self._lock = -1

    def _remove_stale(self) -> None:
        try:
            found = os.lstat(self._path)
        except FileNotFoundError:
            return
        if not stat.S_ISSOCK(found.st_mode):
            raise AddressInUse(f"unix:{self._path}: a file that is no socket is there")
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
            probe.setblocking(False)
            try:
                probe.connect(self._path)
            except ConnectionRefusedError:
                _unlink_if_there(self._path)
                return
            except BlockingIOError:
                pass  # a full backlog: somebody listens
        raise AddressInUse(f"unix:{self._path}: in use")


class SocketListener:
    """A bound address; implements `Listener`. Made by `bind`."""

    def __init__(
        self,
        bound: trio.socket.SocketType,
        address: ListenAddress,
        tls: ssl.SSLContext | None,
        socket_file: SocketFile | None,
    ) -> None:
        self.address = address
        self._socket = bound
        self._tls = tls
        self._socket_file = socket_file
        self._listening = False
        self._closed = False

    @property
    def url(self) -> str:
        """The WebSocket URL, with the real port."""
        return websocket_url(self.address, WEBSOCKET_PATH, encrypted=self._tls is not None)

    @property
    def console_url(self) -> str | None:
        """Where a browser finds the console; None for a unix address."""
        return console_url(self.address, encrypted=self._tls is not None)

    def listen(self) -> None:
        """Lets clients connect. Raises `AddressInUse` in the rare case that another bound the port as we did."""
        if self._listening:
            return
        if isinstance(self.address, TcpAddress):
            # Inherited by every accepted socket: else those of a dead daemon would keep the next one from binding.
            self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, SEND_BUFFER_BYTES)
        try:
            self._socket.listen(BACKLOG_CONNECTIONS)
        except OSError as error:
            raise _refused(error, self.address) from error
        self._listening = True

    async def serve(self, handler: StreamHandler) -> None:
        """Runs `handler` in a task for each connection; returns when closed and all of them have ended."""
        self.listen()
        async with trio.open_nursery() as nursery:
            while not self._closed:
                accepted = await self._accept()
                if accepted is not None:
                    connected, remote = accepted
                    stream = (
                        SocketByteStream(connected)
                        if self._tls is None
                        else TlsByteStream(connected, self._tls)
                    )
                    nursery.start_soon(handler, stream, remote)

    def close(self) -> None:
        """Stops listening and frees the address; connections go on. May be called twice."""
        if not self._closed:
            self._closed = True
            self._socket.close()
            if self._socket_file is not None:
                self._socket_file.remove()

    async def _accept(self) -> tuple[trio.socket.SocketType, str] | None:
        try:
            connected, address = await self._socket.accept()
        except trio.ClosedResourceError:
            return None
        except OSError as error:
            if error.errno in _OUT_OF_RESOURCES:
                # Not the end of the daemon: those who are served go on, the others wait in the backlog.
                logger.error("accept_failed", error=error.strerror)
                await trio.sleep(_ACCEPT_PAUSE_SECONDS)
            elif error.errno not in _CLIENT_GONE and not self._closed:
                raise
            return None
        remote = "unix" if isinstance(self.address, UnixAddress) else str(TcpAddress(*address[:2]))
        return connected, remote


async def bind(
    address: ListenAddress, *, allow_remote: bool = False, tls: ssl.SSLContext | None = None
) -> SocketListener:
    """Takes the address without listening on it yet (contract §1: exit 5 comes from here, before any recovery).

    Raises `AddressForbidden`, `AddressInUse`, and `AddressInvalid` for an address this machine does not have.
    """
    check_reach(address, allow_remote=allow_remote, encrypted=tls is not None)
    if isinstance(address, UnixAddress):
        return await _bind_unix(address, tls)
    # Strictly first: two sockets that both allow reuse could both bind, and only `listen` would tell. Reuse is for
    # a port on which a dead daemon's connections still linger.
    try:
        bound = await _bound_tcp(address, reuse=False)
    except OSError as error:
        if error.errno != errno.EADDRINUSE:
            raise _refused(error, address) from error
        try:
            bound = await _bound_tcp(address, reuse=True)
        except OSError as again:
            raise _refused(again, address) from again
    return SocketListener(bound, TcpAddress(address.host, bound.getsockname()[1]), tls, None)


async def _bound_tcp(address: TcpAddress, *, reuse: bool) -> trio.socket.SocketType:
    family = socket.AF_INET6 if ":" in address.host else socket.AF_INET
    bound = trio.socket.socket(family, socket.SOCK_STREAM)
    try:
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, int(reuse))
        await bound.bind((address.host, address.port))
    except BaseException:
        bound.close()
        raise
    return bound


async def _bind_unix(address: UnixAddress, tls: ssl.SSLContext | None) -> SocketListener:
    try:
        socket_file = SocketFile(address.path)
    except OSError as error:
        raise _refused(error, address) from error
    bound = trio.socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        await bound.bind(address.path)
        # Nobody can connect before `listen`, so there is no moment at which the file is open to others.
        os.chmod(address.path, _SOCKET_FILE_MODE)  # noqa: PTH101
    except OSError as error:
        bound.close()
        socket_file.remove()
        raise _refused(error, address) from error
    return SocketListener(bound, address, tls, socket_file)


def _refused(error: OSError, address: ListenAddress) -> AddressInUse | AddressInvalid:
    if error.errno == errno.EADDRINUSE:
        return AddressInUse(f"{address}: in use")
    return AddressInvalid(f"listen {address}: {error.strerror or error}")


def _unlink_if_there(path: str) -> None:
    try:
        os.unlink(path)  # noqa: PTH108
    except FileNotFoundError:
        pass
