"""What a process takes of the machine's memory: its proportional share, in which pages that several share are divided among them."""

from pathlib import Path


def proportional_mb(process: int | Path) -> float:
    """Megabytes (PSS) of a process, named by its id or its folder below /proc."""
    folder = process if isinstance(process, Path) else Path(f"/proc/{process}")
    for line in (folder / "smaps_rollup").read_text().splitlines():
        if line.startswith("Pss:"):
            return int(line.split()[1]) / 1024
    return 0.0
