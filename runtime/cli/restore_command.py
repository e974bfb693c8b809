"""`greenroom restore`: a copy of the database in the place of a damaged one, by the will of a person alone.

Owns the questions around it: whether a daemon runs, which copies there are, what to say afterwards. The files are
`store.restore`'s.
"""

from pathlib import Path

from runtime.cli.commands import load, perform
from runtime.cli.failures import EXIT_ARGUMENTS, EXIT_FAILED, CommandFailed
from runtime.cli.output import Output
from runtime.cli.transcript import local_time
from runtime.config import Configuration, Flags
from runtime.system_ports import SystemIdentifiers
from store.copies import CopyFacts, KeptCopy, facts_of, kept_copies
from store.errors import DataDirectoryInUse, NetworkFileSystem, SchemaTooNew, StoreDamaged, StoreError
from store.instance_lock import acquire_instance_lock
from store.open import DATABASE_FILE_NAME
from store.restore import Restored, restore

EXIT_IN_USE = 3
EXIT_DATABASE = 4


def restore_command(copy: str | None, flags: Flags, *, as_json: bool) -> int:
    """Restores from `copy`, or lists the copies there are."""
    output = Output(as_json)

    def body() -> int:
        configuration = load(flags)
        if copy is None:
            _list_copies(configuration, output)
        else:
            _restore(configuration, Path(copy).expanduser().absolute(), output)
        return 0

    return perform(body, output)


def _list_copies(configuration: Configuration, output: Output) -> None:
    database = configuration.data_dir / DATABASE_FILE_NAME
    copies, present = kept_copies(database), _facts(database)
    if output.as_json:
        output.document({"copies": [_document(copy, _facts(copy.path), present) for copy in copies]})
        return
    if copies:
        rows = [
            (
                str(copy.path),
                f"{copy.bytes:,}",
                local_time(copy.modified_ms),
                _lacks(_facts(copy.path), present),
            )
            for copy in copies
        ]
        output.table(("COPY", "BYTES", "MADE", "LACKS"), rows)
        output.hint("put one in place, with the daemon stopped: greenroom restore --from COPY")
    else:
        output.hint(f"no copies are kept in {configuration.data_dir}")
        output.hint(
            "put a backup of your own in place, with the daemon stopped: greenroom restore --from FILE"
        )


def _facts(path: Path) -> CopyFacts | None:
    """What it says of itself; None for what cannot be read, which is why somebody is here."""
    try:
        return facts_of(path)
    except StoreError:
        return None


def _document(copy: KeptCopy, facts: CopyFacts | None, present: CopyFacts | None) -> dict[str, object]:
    return {
        "path": str(copy.path),
        "bytes": copy.bytes,
        "modifiedAt": copy.modified_ms,
        "readable": facts is not None,
        "storeId": facts.store_id if facts else None,
        "commitSeq": facts.commit_seq if facts else None,
        "sessions": facts.sessions if facts else None,
        "lacksCommits": _commits_lacking(facts, present),
    }


def _commits_lacking(facts: CopyFacts | None, present: CopyFacts | None) -> int | None:
    """How many commits the present database has beyond the copy; None when the two cannot be compared."""
    if facts is None or present is None or facts.store_id != present.store_id:
        return None
    return max(0, present.commit_seq - facts.commit_seq)


def _lacks(facts: CopyFacts | None, present: CopyFacts | None) -> str:
    """In words, for a person who has to choose."""
    if facts is None:
        return "cannot be read"
    lacking = _commits_lacking(facts, present)
    if lacking is not None:
        return "nothing" if lacking == 0 else f"{lacking:,} newer commits"
    if present is not None:
        return f"everything of the present store: it is of another one, {facts.store_id}"
    return f"what came after commit {facts.commit_seq:,}; {facts.sessions:,} sessions are in it"


def _restore(configuration: Configuration, copy: Path, output: Output) -> None:
    database = configuration.data_dir / DATABASE_FILE_NAME
    if copy == database:
        raise CommandFailed(f"{copy} is the database itself", "name a copy of it", exit_code=EXIT_ARGUMENTS)
    lacking = _commits_lacking(_facts(copy), _facts(database))
    try:
        configuration.data_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
        with acquire_instance_lock(configuration.data_dir):
            restored = restore(database, copy, SystemIdentifiers().new_id())
    except DataDirectoryInUse as error:
        raise CommandFailed(str(error), "stop the daemon, then try again", exit_code=EXIT_IN_USE) from error
    except NetworkFileSystem as error:
        raise CommandFailed(str(error), exit_code=EXIT_ARGUMENTS) from error
    except (StoreDamaged, SchemaTooNew) as error:
        step = "name another copy, or install the program that wrote it"
        raise CommandFailed(str(error), step, exit_code=EXIT_DATABASE) from error
    except (StoreError, OSError) as error:
        raise CommandFailed(
            f"{copy}: {error}", "nothing was changed; mend that, then try again", exit_code=EXIT_FAILED
        ) from error
    _tell(restored, copy, lacking, output)


def _tell(restored: Restored, copy: Path, lacking: int | None, output: Output) -> None:
    set_aside = None if restored.set_aside is None else str(restored.set_aside)
    if output.as_json:
        output.document(
            {
                "restoredFrom": str(copy),
                "storeId": restored.store_id,
                "schemaVersion": restored.schema_version,
                "setAside": set_aside,
                "lacksCommits": lacking,
            }
        )
        return
    output.text(
        f"restored from {copy}; the store is {restored.store_id} now, so clients read everything again"
    )
    if lacking:
        output.hint(f"it lacks {lacking:,} commits that the database before has")
    if set_aside is not None:
        output.hint(f"the database before is kept as {set_aside}; remove it when you need it no more")
