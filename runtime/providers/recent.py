"""A set that keeps the newest members and forgets the oldest: every memory of an adapter is bounded."""

from collections.abc import Iterator


class RecentSet:
    """At most `members_max` strings, the newest ones."""

    def __init__(self, members_max: int) -> None:
        self._members_max = members_max
        self._members: dict[str, None] = {}

    def __contains__(self, member: str) -> bool:
        return member in self._members

    def __iter__(self) -> Iterator[str]:
        return iter(self._members)

    def add(self, member: str) -> None:
        """Put it in as the newest; the oldest goes when there are too many."""
        self._members.pop(member, None)
        self._members[member] = None
        if len(self._members) > self._members_max:
            del self._members[next(iter(self._members))]

    def discard(self, member: str) -> None:
        """Take it out, if it is there."""
        self._members.pop(member, None)
