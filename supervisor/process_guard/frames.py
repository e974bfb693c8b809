"""What daemon, spawner and reapers say to each other.

The *channel* (SOCK_SEQPACKET) from daemon to spawner carries one message for each reaper wanted: one byte
with four descriptors, the reaper's end of a control socket and the child's ends of stdin, stdout and
stderr. So no message can be torn or grow long. On the *control socket* (SOCK_STREAM) a frame is a length of
four bytes, big-endian, and fields separated by NUL, which no argument, variable or path can hold:

    reaper -> daemon   reaper, pid, start time                  first, before any fork
    daemon -> reaper   launch, cwd, number of arguments, arguments..., NAME=value...
                                                                given once the reaper is recorded
    reaper -> daemon   launched, pid, start time                the program runs
                       failed, stage, errno, present (0 or 1)   it does not
    daemon -> reaper   terminate                                TERM to the provider's group
    reaper -> daemon   exited, code or negative signal          the provider itself ended
                       ended, (pid, start time)...              so did its tree, but for these; the last word

End of file from the daemon means: kill the tree. There is no other order for it, so that a close goes the
same way as the death of the daemon. Not JSON: each page its coder touches would be one more page of every
reaper. Standard library only: the spawner runs this without our packages.
"""

from __future__ import annotations

from collections.abc import Sequence

_LENGTH_BYTES = 4


def encode_frame(fields: Sequence[bytes]) -> bytes:
    """One message as it travels.

    Raises:
        ValueError: a field holds a NUL.
    """
    body = b"\0".join(fields)
    if body.count(b"\0") != len(fields) - 1:
        raise ValueError("embedded null byte")
    return len(body).to_bytes(_LENGTH_BYTES, "big") + body


class FrameBuffer:
    """Bytes in, whole messages out."""

    def __init__(self) -> None:
        self._bytes = b""

    def feed(self, data: bytes) -> list[list[bytes]]:
        self._bytes += data
        messages = []
        while len(self._bytes) >= _LENGTH_BYTES:
            end = _LENGTH_BYTES + int.from_bytes(self._bytes[:_LENGTH_BYTES], "big")
            if len(self._bytes) < end:
                break
            messages.append(self._bytes[_LENGTH_BYTES:end].split(b"\0"))
            self._bytes = self._bytes[end:]
        return messages
