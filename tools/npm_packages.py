"""Installs packages from a lock of npm's into `.cache`: once for each content of the lock, with every byte pinned.

Owns the install and its stamp. The locks hold integrity hashes and name no registry host; scripts of packages are
not run. Who needs what is said by the callers.
"""

import hashlib
import shutil
import subprocess
from pathlib import Path

_PINNED_FILES = (".npmrc", "package.json", "package-lock.json")


class PackagesNotInstalled(Exception):
    """The packages cannot be had on this machine; the message says why."""


def install_packages(source: Path, installed: Path, needed_for: str) -> None:
    """Makes `installed` hold the packages of the lock in `source`. Raises PackagesNotInstalled."""
    fingerprint = hashlib.sha256((source / "package-lock.json").read_bytes()).hexdigest()[:16]
    stamp = installed / f".installed-{fingerprint}"
    if stamp.exists():
        return
    npm = shutil.which("npm")
    if npm is None:
        raise PackagesNotInstalled(f"npm is not on PATH; {needed_for}")
    shutil.rmtree(installed, ignore_errors=True)
    installed.mkdir(parents=True)
    for name in _PINNED_FILES:
        shutil.copyfile(source / name, installed / name)
    finished = subprocess.run(
        [npm, "ci", "--ignore-scripts", "--no-audit", "--no-fund"],
        cwd=installed,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    if finished.returncode != 0:
        raise PackagesNotInstalled(
            f"npm ci ended with {finished.returncode}:\n{finished.stdout}{finished.stderr}"
        )
    stamp.touch()
