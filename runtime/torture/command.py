"""`greenroom torture`: a real daemon, its agents killed and its clients lost, held to what the contract promises.

Owns arguments, output and the exit code: 0 when every promise was kept, 1 when one was broken, 2 for arguments that make
no sense. What it leaves behind is taken away, unless something was broken.
"""

import argparse
import os
import shutil
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import trio

from runtime.config import ConfigurationInvalid, Flags, Surroundings, load_configuration
from runtime.torture.campaign import CampaignOptions, kept_files, run_campaign

EXIT_VIOLATIONS: Final = 1
EXIT_ARGUMENTS: Final = 2
_LENT: Final = ("HOME", "PATH", "USER", "SHELL", "XDG_CONFIG_HOME")
"""What an agent of one's own gets to see of where the command was started."""


def torture(arguments: Sequence[str]) -> int:
    """Do what the arguments ask for, print the verdict, and return the exit code."""
    try:
        asked = _parser().parse_args(arguments)
        target = None if asked.target is None else _target(asked.target, asked.config)
    except SystemExit as ended:
        return int(ended.code or 0)
    options = CampaignOptions(
        sessions=asked.sessions,
        minutes=asked.minutes,
        seed=asked.seed,
        target=target,
        environment={}
        if target is None
        else {name: os.environ[name] for name in _LENT if name in os.environ},
    )
    folder = Path(tempfile.mkdtemp(prefix="greenroom-torture-"))
    report = trio.run(run_campaign, options, folder)
    if asked.json:
        sys.stdout.write(report.as_json().decode() + "\n")
    else:
        sys.stdout.write(report.as_text())
    if report.violations:
        sys.stderr.write("kept for a look: " + " ".join(kept_files(folder, report)) + "\n")
        return EXIT_VIOLATIONS
    shutil.rmtree(folder, ignore_errors=True)
    return 0


def _target(name: str, config_file: str | None) -> dict[str, Any]:
    """The `[[targets]]` entry of that name, as the daemon's own configuration has it. Exits with 2 without one."""
    try:
        configuration = load_configuration(Flags(config_file=config_file), Surroundings.of_this_process())
    except ConfigurationInvalid as error:
        sys.stderr.write(f"greenroom torture: {error}\n")
        raise SystemExit(EXIT_ARGUMENTS) from error
    known = {target.id: target for target in configuration.targets if target.command}
    if name not in known:
        there = ", ".join(known) or "none"
        sys.stderr.write(f"greenroom torture: no target {name!r} with a command (there are: {there})\n")
        raise SystemExit(EXIT_ARGUMENTS)
    found = known[name]
    return {
        "id": found.id,
        "provider": found.provider,
        "name": found.name,
        "command": list(found.command),
        "env": dict(found.env),
    }


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="greenroom torture",
        description="Run a real daemon, kill it and hinder it, and check what it promises.",
        epilog="The same seed draws the same plan; its timing is the machine's. Exit code 1: a promise was broken.",
    )
    parser.add_argument("--sessions", type=_count, default=6, help="sessions in each round (default 6)")
    parser.add_argument(
        "--minutes", type=_minutes, default=1.0, help="how long; rounds are ended (default 1)"
    )
    parser.add_argument("--seed", type=int, default=0, help="of the first round (default 0)")
    parser.add_argument("--target", help="an agent of your configuration, in place of the demo agent")
    parser.add_argument("--config", help="the configuration file that has it")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    return parser


def _count(text: str) -> int:
    if not (text.isascii() and text.isdigit() and 1 <= int(text) <= 200):
        raise argparse.ArgumentTypeError(f"{text!r} is no whole number from 1 to 200")
    return int(text)


def _minutes(text: str) -> float:
    try:
        minutes = float(text)
    except ValueError:
        minutes = 0.0
    if not 0 < minutes <= 10_000:
        raise argparse.ArgumentTypeError(f"{text!r} is no number of minutes above 0")
    return minutes
