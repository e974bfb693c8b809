"""The places of one operation in the mailboxes of all sessions it names (`architecture rule 8`)."""

from collections.abc import Hashable, Iterable

import attrs

from runtime.actors.session import SessionDirectory
from store.canonical.identifiers import SessionKey
from supervisor import PlaceMark


@attrs.define(eq=False)
class PlaceMarks:
    """What `source` sends to these sessions after the operation waits for the operation's end."""

    sessions: SessionDirectory
    source: Hashable
    _marks: list[PlaceMark] = attrs.field(factory=list, init=False)

    def keep(self, keys: Iterable[SessionKey]) -> None:
        """Take a place with each session. Raises MailboxFull or ActorStopped; what was taken stays until `release`."""
        for key in keys:
            self._marks.append(self.sessions.reference(key).place_mark(self.source))

    async def reached(self) -> None:
        """Until each session has taken what the source sent before the operation."""
        for mark in self._marks:
            await mark.reached.wait()

    def release(self) -> None:
        """The operation has ended: what waited may follow."""
        for mark in self._marks:
            mark.release()
        self._marks.clear()
