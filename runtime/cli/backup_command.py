"""`greenroom backup`: a checked copy of the database, whether a daemon runs or not.

Owns where the copy goes when nobody says so, and what is told of it. The copying is `store.copies`'.
"""

from pathlib import Path

from runtime.cli.commands import load, perform
from runtime.cli.failures import EXIT_ARGUMENTS, EXIT_FAILED, CommandFailed
from runtime.cli.output import Output
from runtime.cli.restore_command import EXIT_DATABASE
from runtime.config import Flags
from runtime.system_ports import SystemClock
from store.copies import copy_path, make_copy, remove_abandoned_drafts
from store.errors import StoreDamaged, StoreError
from store.open import DATABASE_FILE_NAME


def backup_command(out: str | None, flags: Flags, *, as_json: bool) -> int:
    """Copies the database to `out`, or beside itself under a name with the time."""
    output = Output(as_json)

    def body() -> int:
        database = load(flags).data_dir / DATABASE_FILE_NAME
        _back_up(database, None if out is None else Path(out).expanduser().absolute(), output)
        return 0

    return perform(body, output)


def _back_up(database: Path, out: Path | None, output: Output) -> None:
    if not database.exists():
        raise CommandFailed(f"{database} is not there", "name the data folder with --data-dir")
    target = copy_path(database, "backup", SystemClock().now_ms()) if out is None else out
    try:
        for left in remove_abandoned_drafts(database):
            output.hint(f"removed {left.name}, left by a copy that was broken off")
        facts = make_copy(database, target)
    except FileExistsError as error:
        raise CommandFailed(str(error), "name another file", exit_code=EXIT_ARGUMENTS) from error
    except StoreDamaged as error:
        step = "look at it with greenroom check; greenroom restore lists the copies that are kept"
        raise CommandFailed(str(error), step, exit_code=EXIT_DATABASE) from error
    except StoreError as error:
        raise CommandFailed(str(error), "mend that, then try again", exit_code=EXIT_FAILED) from error
    size = target.stat().st_size
    if output.as_json:
        output.document(
            {
                "path": str(target),
                "bytes": size,
                "storeId": facts.store_id,
                "commitSeq": facts.commit_seq,
                "sessions": facts.sessions,
            }
        )
        return
    output.text(str(target))
    output.hint(
        f"{size:,} bytes, checked; it holds {facts.sessions:,} sessions as of commit {facts.commit_seq:,}"
    )
