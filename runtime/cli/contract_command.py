"""`greenroom contract`: writes the generated contract of this very program."""

from pathlib import Path

from runtime.cli.commands import perform
from runtime.cli.failures import CommandFailed
from runtime.cli.output import Output
from runtime.wire.documents import documents, write_documents


def contract_command(directory: Path, *, as_json: bool) -> int:
    """Writes every document into `directory`."""
    output = Output(as_json)

    def body() -> int:
        try:
            write_documents(directory)
        except OSError as error:
            step = "choose another directory with --out"
            raise CommandFailed(f"{error.filename or directory}: {error.strerror}", step) from error
        written = [str(directory / name) for name in documents()]
        if as_json:
            output.document({"written": written})
        else:
            for path in written:
                output.text(path)
        return 0

    return perform(body, output)
