"""Codex app-server: many threads of one process, routed by their ids, as observed in docs/providers/codex-app-server.md."""
