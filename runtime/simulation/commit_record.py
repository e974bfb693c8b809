"""The commit log as the checkers remember it: every entry that was ever found, over all lives.

A log that is kept short forgets entries that nobody looked at; about those nothing can be said, and nothing is.
"""

from bisect import bisect_left

import attrs

from runtime.simulation.contents import read_log
from store.open import Store
from store.port import LoggedCommit, StoreReader


@attrs.define
class CommitRecord:
    """Entries by number, and up to which number some may be missing."""

    entries: dict[int, LoggedCommit] = attrs.field(factory=dict)
    uncertain_up_to: int = 0

    def read_on(self, reader: StoreReader) -> None:
        """Add what the log holds now, of a database that somebody else writes."""
        newest = max(self.entries, default=0)
        if not reader.log_reaches(newest):
            head = reader.workspaces(None, None, 1).commit_seq
            # The log reaches back to a number and to every later one.
            newest = bisect_left(range(head + 1), True, lo=newest, key=reader.log_reaches)
            self.uncertain_up_to = newest
        for logged in read_log(reader, newest):
            self.entries[logged.commit_seq] = logged

    def read(self, store: Store, head: int) -> None:
        """Add what the log holds now; `head` is the newest number given so far."""
        newest = max(self.entries, default=0)
        oldest = store.committer.health(head).oldest_commit_seq
        if oldest > newest + 1:
            self.uncertain_up_to = oldest - 1
        for logged in read_log(store.reader, max(newest, oldest - 1)):
            self.entries[logged.commit_seq] = logged

    def is_gone(self, commit_seq: int) -> bool:
        """Whether an entry is certainly not there; not so for what a short log may have forgotten."""
        return commit_seq not in self.entries and commit_seq > self.uncertain_up_to
