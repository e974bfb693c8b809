"""Starts the spawner, as `python -I -S spawner_main.py`, without running the `__init__` of our packages.

Those bring trio and attrs: 20 MB and 0.2 s that neither the spawner nor any reaper has a use for.
"""

import sys
from pathlib import Path
from types import ModuleType

HERE = Path(__file__).resolve().parent
PACKAGES = {"supervisor": HERE.parent, "supervisor.process_guard": HERE}


def main() -> None:
    for name, folder in PACKAGES.items():
        package = ModuleType(name)
        package.__path__ = [str(folder)]
        sys.modules[name] = package
    from supervisor.process_guard.spawner import main as run_spawner

    run_spawner()


if __name__ == "__main__":
    main()
