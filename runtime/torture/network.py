"""The way of simulated clients to a real daemon: TCP on the loopback, to whatever life of it listens now."""

import struct

import attrs
import trio

from runtime.simulation.network import ConnectionRefused

_HANG_UP_AT_ONCE = struct.pack("ii", 1, 0)


@attrs.define(eq=False)
class _SocketEnd:
    """A client's end; implements `ClientStream`."""

    stream: trio.SocketStream

    async def receive_some(self, max_bytes: int, /) -> bytes:
        """See `ClientStream`."""
        return bytes(await self.stream.receive_some(max_bytes))

    async def send_all(self, data: bytes, /) -> None:
        """See `ClientStream`."""
        await self.stream.send_all(data)

    def close(self) -> None:
        """See `ClientStream`."""
        self.stream.socket.close()


@attrs.frozen
class TcpConnection:
    """Implements `ClientConnection`."""

    listener: object
    client: _SocketEnd

    def cut(self) -> None:
        """Reset it: the daemon learns of it as of a cable that was pulled."""
        stream = self.client.stream
        if stream.socket.fileno() >= 0:
            stream.setsockopt(trio.socket.SOL_SOCKET, trio.socket.SO_LINGER, _HANG_UP_AT_ONCE)
        self.client.close()


@attrs.define(eq=False)
class DaemonNetwork:
    """Implements `ClientNetwork`."""

    port: int | None = None
    """Where the daemon listens; None while it does not."""
    life: object = None
    """Which life of it that is."""

    async def connect(self) -> TcpConnection:
        """See `ClientNetwork`."""
        if self.port is None:
            raise ConnectionRefused
        life = self.life
        socket = trio.socket.socket()
        try:
            await socket.connect(("127.0.0.1", self.port))
        except OSError as error:
            socket.close()
            raise ConnectionRefused from error
        except BaseException:
            socket.close()
            raise
        return TcpConnection(life, _SocketEnd(trio.SocketStream(socket)))
