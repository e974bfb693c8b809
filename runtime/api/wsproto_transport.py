"""The transport the daemon runs on: wsproto answers the handshake and parses, everything else is ours.

Works over any byte stream, so a simulated client hands in memory. Chosen by `--transport wsproto`, the default.
"""

import trio
from wsproto import ConnectionType, WSConnection
from wsproto.events import AcceptConnection

from runtime.api.client_connection import ClientConnection
from runtime.api.frames import CloseCode
from runtime.api.inbound_frames import Closed, InboundFrame, InboundParser, PingReceived, Violation
from runtime.api.transport import ByteStream, ClientHandler, ClientPeer, TransportLimits
from runtime.api.upgrade import WEBSOCKET_PATH, Upgrade


class WsprotoReader:
    """Turns a connection's bytes into messages and its pings into pongs."""

    def __init__(self, connection: ClientConnection, trailing: bytes) -> None:
        self._connection = connection
        self._parser = InboundParser(connection.limits.max_frame_bytes)
        self._parser.receive_data(trailing)

    async def next_frame(self) -> InboundFrame | Violation:
        """The next message; a checkpoint only when bytes have to be waited for."""
        while True:
            match self._parser.next_event():
                case None:
                    data = await self._connection.read_some()
                    if not data:
                        return Closed(CloseCode.ABNORMAL)
                    self._parser.receive_data(bytes(data))
                case PingReceived(payload):
                    self._connection.pong(payload)
                case frame:
                    return frame


async def serve_client(
    stream: ByteStream,
    upgrade: Upgrade,
    peer: ClientPeer,
    handle: ClientHandler,
    limits: TransportLimits,
) -> None:
    """Carries one client; see `ServeClient`."""
    connection = ClientConnection(stream, peer, limits)

    async def open_reader(_: trio.Nursery) -> WsprotoReader:
        protocol = WSConnection(ConnectionType.SERVER)
        protocol.initiate_upgrade_connection(upgrade.headers(), WEBSOCKET_PATH)
        connection.queue.put_control(protocol.send(AcceptConnection(subprotocol=upgrade.subprotocol)))
        return WsprotoReader(connection, upgrade.trailing)

    await connection.run(handle, open_reader)
