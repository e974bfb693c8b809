"""`greenroom check`: looks at a whole database or a copy of it, changes nothing, and says what it found.

Owns the wording and the exit codes: 0 sound, 4 damaged or newer than this program, 1 when it cannot be read now.
"""

from pathlib import Path

from runtime.cli.commands import load, perform
from runtime.cli.failures import EXIT_FAILED, CommandFailed
from runtime.cli.output import Output
from runtime.cli.restore_command import EXIT_DATABASE
from runtime.config import Flags
from store.errors import DataDirectoryInUse, StoreError
from store.inspection import Inspection, inspect
from store.instance_lock import LOCK_FILE_NAME, acquire_instance_lock
from store.migrations import shipped_migrations
from store.open import DATABASE_FILE_NAME


def check_command(file: str | None, flags: Flags, *, as_json: bool) -> int:
    """Checks `file`, or the database of the data folder."""
    output = Output(as_json)

    def body() -> int:
        database = load(flags).data_dir / DATABASE_FILE_NAME
        path = database if file is None else Path(file).expanduser().absolute()
        try:
            found = _inspected(path)
        except (StoreError, OSError) as error:
            raise CommandFailed(str(error), "mend that, then try again", exit_code=EXIT_FAILED) from error
        _tell(path, found, output)
        return EXIT_DATABASE if found.problems or found.newer else 0

    return perform(body, output)


def _inspected(path: Path) -> Inspection:
    """Without a daemon the lock is held meanwhile, so that none begins to write."""
    if not (path.parent / LOCK_FILE_NAME).exists():
        return inspect(path, written_now=False)
    try:
        with acquire_instance_lock(path.parent):
            return inspect(path, written_now=False)
    except DataDirectoryInUse:
        return inspect(path, written_now=True)


def _tell(path: Path, found: Inspection, output: Output) -> None:
    facts = found.facts
    if output.as_json:
        output.document(
            {
                "path": str(path),
                "sound": not found.problems,
                "newer": found.newer,
                "problems": list(found.problems),
                "bytes": found.bytes,
                "walBytes": found.log_bytes,
                "walChecked": found.log_walked,
                "pageChecksums": found.pages_summed,
                "schemaVersion": facts.schema_version if facts else None,
                "storeId": facts.store_id if facts else None,
                "commitSeq": facts.commit_seq if facts else None,
                "sessions": facts.sessions if facts else None,
            }
        )
        return
    output.text(f"{path}: {found.bytes:,} bytes, {found.log_bytes:,} in its log")
    if facts is not None:
        known = len(shipped_migrations())
        output.text(
            f"store {facts.store_id}, schema version {facts.schema_version} of {known}, "
            f"{facts.sessions:,} sessions as of commit {facts.commit_seq:,}"
        )
    if found.pages_summed is False:
        output.text("its pages carry no checksums: a flipped bit in a text is not noticed")
    if found.newer:
        output.text("it was written by a newer program", style="red")
    for problem in found.problems:
        output.text(f"damaged: {problem}", style="red")
    if found.problems:
        output.hint("greenroom restore lists the copies that are kept")
    elif not found.newer:
        output.text("sound")
