"""Durable truth: canonical vocabulary, SQLite schema, one writer, many readers, commit log, recovery queries.

Imports nothing of ours outside itself; what it stores is described in `store.canonical`.
"""
