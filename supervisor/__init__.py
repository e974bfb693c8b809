"""Generic actor kernel: cells, actors, mailboxes, references, supervision, lifecycle locks, process guard.

Knows no Session, no SQL and no provider; imports nothing of ours outside itself.
"""
