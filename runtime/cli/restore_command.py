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
from store.errors import DataDirectoryInUse, NetworkFileSystem, SchemaTooNew, StoreDamaged, StoreError
from store.instance_lock import acquire_instance_lock
from store.open import DATABASE_FILE_NAME
from store.restore import Restored, kept_copies, restore

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
    copies = kept_copies(configuration.data_dir / DATABASE_FILE_NAME)
    if output.as_json:
        rows = [
            {"path": str(copy.path), "bytes": copy.bytes, "modifiedAt": copy.modified_ms} for copy in copies
        ]
        output.document({"copies": rows})
        return
    if copies:
        rows_shown = [(str(copy.path), f"{copy.bytes:,}", local_time(copy.modified_ms)) for copy in copies]
        output.table(("COPY", "BYTES", "MADE"), rows_shown)
        output.hint("put one in place, with the daemon stopped: greenroom restore --from COPY")
    else:
        output.hint(f"no copies are kept in {configuration.data_dir}; one is made before each migration only")
        output.hint(
            "put a backup of your own in place, with the daemon stopped: greenroom restore --from FILE"
        )


def _restore(configuration: Configuration, copy: Path, output: Output) -> None:
    database = configuration.data_dir / DATABASE_FILE_NAME
    if copy == database:
        raise CommandFailed(f"{copy} is the database itself", "name a copy of it", exit_code=EXIT_ARGUMENTS)
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
    _tell(restored, copy, output)


def _tell(restored: Restored, copy: Path, output: Output) -> None:
    set_aside = None if restored.set_aside is None else str(restored.set_aside)
    if output.as_json:
        output.document(
            {
                "restoredFrom": str(copy),
                "storeId": restored.store_id,
                "schemaVersion": restored.schema_version,
                "setAside": set_aside,
            }
        )
        return
    output.text(
        f"restored from {copy}; the store is {restored.store_id} now, so clients read everything again"
    )
    if set_aside is not None:
        output.hint(f"the database before is kept as {set_aside}; remove it when you need it no more")
