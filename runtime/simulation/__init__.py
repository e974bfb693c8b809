"""The whole service in one deterministic process: simulated ports, seeded faults, and the disk below SQLite."""
