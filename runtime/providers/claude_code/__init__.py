"""Claude Code, driven over its stream-json control protocol: one process hosts one conversation."""
