"""`greenroom doctor`: looks at everything a daemon needs, changes nothing, and says what to do (`contract §2`).

Owns the checks and their wording. It may run beside a daemon: the database is opened for reading only.
"""

import os
import pwd
import shutil
import stat
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Final, Literal, TypeAlias

import apsw
import attrs

from runtime.cli.commands import load, perform
from runtime.cli.daemon_access import read_announcement
from runtime.cli.failures import EXIT_FAILED, CommandFailed
from runtime.cli.output import Output
from runtime.cli.program_reports import AttestedProgram, attested_programs, sign_ins
from runtime.cli.version import program_version
from runtime.config import Configuration, Flags, ProgramFinder, ProgramsOnPath
from runtime.observability.process_figures import open_files_limit
from runtime.providers.launch import ServerAddress
from runtime.service.access import TOKEN_FILE
from runtime.service.open_files import open_files_needed
from runtime.service.ready import StartRefused
from store.connection import open_for_reading, schema_version
from store.copies import abandoned_drafts
from store.errors import StoreError
from store.instance_lock import file_system_kind
from store.migrations import shipped_migrations
from store.open import DATABASE_FILE_NAME

Verdict: TypeAlias = Literal["ok", "note", "problem"]

MEBIBYTE: Final = 1024 * 1024
DISK_BYTES_WANTED: Final = 1024 * MEBIBYTE
"""Less is told: the commit log alone may come to as much."""
_STYLES = {"ok": "green", "note": "yellow", "problem": "red"}


@attrs.frozen
class Finding:
    """What one check found."""

    check: str
    verdict: Verdict
    text: str
    next_step: str = ""


def doctor_command(flags: Flags, *, as_json: bool) -> int:
    """Prints every finding; 1 when one of them is a problem."""
    output = Output(as_json)

    def body() -> int:
        try:
            configuration = load(flags)
            attested = attested_programs(configuration)
            signed_in = sign_ins(configuration)
            findings = [*examine(configuration, ProgramsOnPath(), attested, signed_in)]
        except CommandFailed as failed:
            findings = [Finding("configuration", "problem", failed.what)]
        except StartRefused as refused:
            findings = [Finding("configuration", "problem", refused.line)]
        if as_json:
            output.document({"findings": [attrs.asdict(finding) for finding in findings]})
        else:
            for finding in findings:
                output.text(f"{finding.verdict:8}", _STYLES[finding.verdict], end="")
                output.text(f"{finding.check}: {finding.text}")
                if finding.next_step:
                    output.text(f"          {finding.next_step}")
        return EXIT_FAILED if any(finding.verdict == "problem" for finding in findings) else 0

    return perform(body, output)


def examine(
    configuration: Configuration,
    programs: ProgramFinder,
    attested: Mapping[str, AttestedProgram],
    signed_in: Mapping[str, bool] = MappingProxyType({}),
) -> Iterator[Finding]:
    """Every finding, in the order in which a start would meet them."""
    yield _versions()
    source = configuration.config_file or "defaults only, there is no file"
    yield Finding("configuration", "ok", str(source))
    yield from _data_directory(configuration.data_dir)
    yield _disk(configuration)
    yield _daemon(configuration)
    yield _open_files(configuration)
    yield _database(configuration.data_dir / DATABASE_FILE_NAME)
    yield from _abandoned_drafts(configuration.data_dir / DATABASE_FILE_NAME)
    yield from _token_file(configuration.data_dir / TOKEN_FILE, "token file")
    for token in configuration.tokens:
        yield from _token_file(token.token_file, f"token {token.name}", must_exist=True)
    yield _reach_of_agents(configuration.data_dir / TOKEN_FILE)
    for target in configuration.targets:
        check = f"target {target.id}"
        if target.url is not None:
            where = ServerAddress(host=target.url.host, port=target.url.port).authority
            yield Finding(check, "ok", f"a server at {where}, reached when a session needs it")
            continue
        yield _program(check, target.command[0], programs, enabled=target.enabled)
        if target.id in attested:
            yield _attested(check, attested[target.id])
            if target.id in signed_in:
                yield _signed_in(check, found=signed_in[target.id])
    if configuration.demo:
        yield Finding("target demo", "ok", "built in")
    if not configuration.targets:
        yield Finding(
            "targets",
            "note",
            "no agent was found on PATH",
            "install one, or configure [[targets]] (docs/operations.md)",
        )


def _versions() -> Finding:
    """What the program itself is made of: what a report of a fault has to name."""
    python = ".".join(str(part) for part in sys.version_info[:3])
    text = f"greenroom {program_version()}, Python {python}, SQLite {apsw.sqlite_lib_version()}"
    return Finding("versions", "ok", text)


def _disk(configuration: Configuration) -> Finding:
    """Whether there is room: below the reserve the store refuses commands (`store.full`)."""
    check, folder = "disk", configuration.data_dir
    while not folder.exists():
        folder = folder.parent
    free, reserve = shutil.disk_usage(folder).free, configuration.limits.store_reserve_bytes
    text = f"{free / MEBIBYTE:,.0f} MiB free for the data directory"
    if free < reserve:
        text = f"{text}, the store keeps {reserve / MEBIBYTE:,.0f} in reserve"
        return Finding(check, "problem", text, "make room: until then commands are refused with store.full")
    if free < DISK_BYTES_WANTED:
        return Finding(check, "note", text, "make room, or name a --data-dir on a larger disk")
    return Finding(check, "ok", text)


def _data_directory(data_dir: Path) -> Iterator[Finding]:
    check = "data directory"
    if not data_dir.exists():
        parent = next(folder for folder in data_dir.parents if folder.exists())
        if os.access(parent, os.W_OK | os.X_OK):
            yield Finding(check, "ok", f"{data_dir} will be made at the first start")
        else:
            yield Finding(
                check, "problem", f"{data_dir} cannot be made in {parent}", "choose another with --data-dir"
            )
        return
    if not data_dir.is_dir() or not os.access(data_dir, os.R_OK | os.W_OK | os.X_OK):
        yield Finding(
            check, "problem", f"{data_dir} is not a directory you can write", "choose another with --data-dir"
        )
        return
    mode = stat.S_IMODE(data_dir.stat().st_mode)
    if mode & 0o077:
        yield Finding(
            check, "note", f"{data_dir} has mode {mode:04o}: others can look in", f"chmod 700 {data_dir}"
        )
    else:
        yield Finding(check, "ok", f"{data_dir} can be written, mode {mode:04o}")
    kind = file_system_kind(data_dir)
    yield Finding("file system", "ok", kind or "unknown; a network file system would not do")


def _daemon(configuration: Configuration) -> Finding:
    found = read_announcement(configuration.data_dir)
    if found is None:
        return Finding("daemon", "ok", "none runs here")
    if not found.alive:
        return Finding(
            "daemon", "note", f"process {found.pid} is gone and left daemon.json; the next start replaces it"
        )
    return Finding("daemon", "ok", f"process {found.pid} serves {found.url}")


def _open_files(configuration: Configuration) -> Finding:
    """Whether everybody the limits let in finds a descriptor. A daemon that runs has raised its bound already."""
    check, needed = "open files", open_files_needed(configuration.limits)
    found = read_announcement(configuration.data_dir)
    pid = found.pid if found is not None and found.alive else 0
    try:
        soft, hard = open_files_limit(pid)
    except OSError as error:
        return Finding(check, "note", f"the bound of process {pid} cannot be read ({error.strerror})")
    whose, most = (f"process {pid} may", soft) if pid else ("a daemon started here could", hard)
    amount = "any number" if most < 0 else str(most)
    text = f"{whose} open {amount}, the limits can come to {needed}"
    if 0 <= most < needed:
        step = (
            "raise the hard limit (LimitNOFILE= of a unit, ulimit -Hn), or lower limits.maxClientConnections"
        )
        return Finding(check, "note", text, step)
    return Finding(check, "ok", text)


def _database(path: Path) -> Finding:
    if not path.exists():
        return Finding("database", "ok", "will be made at the first start")
    known = len(shipped_migrations())
    try:
        connection = open_for_reading(path)
        try:
            version = schema_version(connection)
        finally:
            connection.close()
    except StoreError as error:
        return Finding("database", "problem", str(error), "greenroom restore lists the copies that are kept")
    if version > known:
        text = f"{path} has schema version {version}, this program knows up to {known}"
        return Finding("database", "problem", text, "install the program that wrote it, or a newer one")
    return Finding("database", "ok", f"opens, schema version {version} of {known}")


def _abandoned_drafts(database: Path) -> Iterator[Finding]:
    for draft in abandoned_drafts(database):
        text = f"{draft} was left by a copy that was broken off ({draft.stat().st_size // MEBIBYTE} MiB)"
        yield Finding("copies", "note", text, "the next greenroom backup, or start, takes it away")


def _token_file(path: Path, check: str, *, must_exist: bool = False) -> Iterator[Finding]:
    try:
        figures = path.stat()
    except FileNotFoundError:
        if must_exist:
            yield Finding(
                check,
                "problem",
                f"{path} does not exist",
                "make it with mode 0600, holding a base64url token",
            )
        else:
            yield Finding(check, "ok", "will be made at the first start")
        return
    except OSError as error:
        yield Finding(check, "problem", f"{path}: {error.strerror}", "let the daemon's user read it")
        return
    mode = stat.S_IMODE(figures.st_mode)
    if mode != 0o600:
        yield Finding(check, "problem", f"{path} has mode {mode:04o}, must be 0600", f"chmod 600 {path}")
    else:
        yield Finding(check, "ok", f"{path} has mode 0600")


def _reach_of_agents(path: Path) -> Finding:
    """Whether an agent started by this very user could read the token and act as its owner."""
    check, user = "agents and the token", _user_name(os.geteuid())
    if path.exists() and not os.access(path, os.R_OK):
        owner = _user_name(path.stat().st_uid)
        return Finding(check, "ok", f"an agent that runs as {user} cannot read it; it belongs to {owner}")
    return Finding(
        check,
        "note",
        f"an agent that runs as {user} can read it: approvals guard against mistakes, not against a hostile agent",
        "against that, keep the data directory out of the agent's sandbox, or run the daemon as another user",
    )


def _user_name(user_id: int) -> str:
    try:
        return pwd.getpwuid(user_id).pw_name
    except KeyError:
        return f"user {user_id}"


def _attested(check: str, found: AttestedProgram) -> Finding:
    """What a target's program is, and what Greenroom will do with it."""
    text = f"version {found.report.version}"
    held = [name for name, is_attested in found.abilities.items() if is_attested]
    missing = [name for name, is_attested in found.abilities.items() if not is_attested]
    if not found.abilities:
        return Finding(check, "note", f"{text} is not tested and shows no schema; its first start decides")
    if not held:
        return Finding(check, "problem", f"{text} shows nothing that can be used", "install another version")
    text = f"{text}, attested: {', '.join(held)}"
    if missing:
        return Finding(check, "note", f"{text}; not attested, so not used: {', '.join(missing)}")
    return Finding(check, "ok", text)


def _signed_in(check: str, *, found: bool) -> Finding:
    """What lies here proves nothing of the account; what is missing may stand in the agent's own configuration."""
    if found:
        return Finding(check, "ok", "a sign-in was set up; greenroom targets --check asks the agent about it")
    return Finding(
        check,
        "note",
        "no sign-in lies where this agent keeps one",
        "sign in with the agent's own command, unless its configuration names a model that needs none",
    )


def _program(check: str, program: str, programs: ProgramFinder, *, enabled: bool) -> Finding:
    found = programs.find(program)
    if found is not None:
        return Finding(check, "ok", found if enabled else f"{found}, not enabled")
    verdict: Verdict = "problem" if enabled else "note"
    return Finding(check, verdict, f"{program} was not found", "install it, or correct the target's command")
