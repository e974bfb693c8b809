"""The one place that runs git: short-lived child processes with argument lists, without hooks, prompts or a shell.

Owns the commands and their bounds. What they are for is decided in `worktree_plan` and ordered by `worktrees`. What git
prints goes to the log, one line of it and without secrets, and never to a client.
"""

from collections.abc import Mapping
from typing import Final

import structlog
import trio

from runtime.operations.worktree_plan import Reason, Source, reason_in
from runtime.providers.program_run import ProgramOutput, run_program
from runtime.providers.redaction import Redactor
from store.canonical.worktree import KeptBecause, Worktree
from supervisor.process_guard.port import (
    LaunchError,
    LaunchRequest,
    ProcessLauncher,
    ProgramNotExecutable,
    ProgramNotFound,
    WorkingDirectoryMissing,
)

log = structlog.get_logger(__name__)

_PRINTED_BYTES_MAX: Final = 64 * 1024
_LINE_CHARACTERS_MAX: Final = 300
_QUIETLY: Final = (
    "-c",
    "core.hooksPath=/dev/null",
    "-c",
    "core.fsmonitor=false",
    "-c",
    "gc.auto=0",
    "-c",
    "submodule.recurse=false",
)
"""A hook or a monitor is a program of the repository's: it is not run by making a checkout."""
_SAYS_NOTHING_OF_OTHERS: Final = {
    "LC_ALL": "C",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_ASKPASS": "false",
    "SSH_ASKPASS": "false",
    "GIT_EDITOR": "false",
    "GIT_OPTIONAL_LOCKS": "0",
}


class GitRefused(Exception):
    """Git cannot or will not do it."""

    def __init__(self, reason: Reason) -> None:
        super().__init__(reason)
        self.reason = reason


class GitTimeout(Exception):
    """A command of git's took longer than `worktreeTimeoutSeconds`; it is ended."""


class Git:
    """Runs git on the daemon's machine."""

    def __init__(
        self,
        launcher: ProcessLauncher,
        environment: Mapping[str, str],
        timeout_seconds: float,
        at_once_max: int,
    ) -> None:
        """`environment` holds no `GIT_*` variable: what git works on is said by arguments alone."""
        self._launcher = launcher
        self._environment = {**environment, **_SAYS_NOTHING_OF_OTHERS}
        self._redactor = Redactor.for_environment(environment)
        self._timeout_seconds = timeout_seconds
        self._slots = trio.CapacityLimiter(at_once_max)

    async def inspect(self, directory: str) -> Source:
        """The working tree that a directory is in. Raises GitRefused for one that no checkout can be made of."""
        kind = await self._ask(directory, "rev-parse", "--is-bare-repository", "--is-inside-work-tree")
        bare, inside = [*kind.split(), "", ""][:2]
        if inside != "true":
            raise GitRefused("bare_repository" if bare == "true" else "not_a_repository")
        top = _line(await self._ask(directory, "rev-parse", "--show-toplevel"))
        prefix = _line(await self._ask(directory, "rev-parse", "--show-prefix")).rstrip("/")
        commit = await self._test(directory, "rev-parse", "--verify", "--quiet", "HEAD^{commit}")
        if commit is None:
            raise GitRefused("unborn_branch")
        source = Source(top, prefix, _line(commit))
        if await self._test(top, "cat-file", "-e", f"{source.commit}:.gitmodules") is not None:
            raise GitRefused("submodules")
        if (
            prefix
            and await self._test(top, "rev-parse", "-q", "--verify", f"{source.commit}:{prefix}") is None
        ):
            raise GitRefused("project_not_committed")
        return source

    async def add(self, worktree: Worktree) -> None:
        """Make the branch and check it out. Raises GitRefused; something of it may be there then."""
        options = ("--quiet", "--no-track", "-b", worktree.branch)
        await self._ask(
            worktree.repository, "worktree", "add", *options, "--", worktree.path, worktree.base_commit
        )

    async def work_in(self, worktree: Worktree) -> KeptBecause | None:
        """Why a checkout is not to be taken away: what is in it and nowhere else. Raises GitRefused."""
        path = worktree.path
        if await self._ask(path, "status", "--porcelain", "--untracked-files=normal"):
            return "changes"
        if await self._test(path, "symbolic-ref", "-q", "HEAD") is not None:
            return None
        head = _line(await self._ask(path, "rev-parse", "HEAD"))
        return None if await self._ask(path, "for-each-ref", "--count=1", "--contains", head) else "commits"

    async def remove(self, worktree: Worktree) -> None:
        """Take away a checkout without changes; git looks once more itself. Raises GitRefused."""
        await self._ask(worktree.repository, "worktree", "remove", "--", worktree.path)

    async def forget(self, worktree: Worktree) -> None:
        """Take the repository's notes of a checkout that is gone away. Raises GitRefused for no repository."""
        await self._test(worktree.repository, "worktree", "remove", "-f", "-f", "--", worktree.path)

    async def drop_branch(self, worktree: Worktree) -> None:
        """Delete its branch if nothing was committed to it. Raises GitRefused for no repository."""
        reference = f"refs/heads/{worktree.branch}"
        await self._test(worktree.repository, "update-ref", "-d", reference, worktree.base_commit)

    async def delete_files(self, worktree: Worktree) -> None:
        """Delete the files of a checkout that nobody worked in. Raises GitRefused."""
        output = await self._run(("rm", "-rf", "--", worktree.path), "/")
        if not output.ended_well:
            raise GitRefused("git_failed")

    async def _ask(self, directory: str, *words: str) -> str:
        output = await self._git(directory, words)
        if not output.ended_well:
            errors = output.errors.decode(errors="replace")
            reason = reason_in(errors)
            lines = errors.strip().splitlines() or [f"ended with {output.status}"]
            said = self._redactor.redact_text(lines[-1])[:_LINE_CHARACTERS_MAX]
            # Where the reason is known, the caller is told it with what to do.
            tell = log.warning if reason == "git_failed" else log.info
            tell("git would not", command=words[0], reason=reason, said=said)
            raise GitRefused(reason)
        return output.printed.decode(errors="surrogateescape")

    async def _test(self, directory: str, *words: str) -> str | None:
        """What it prints; None when it says no."""
        output = await self._git(directory, words)
        return output.printed.decode(errors="surrogateescape") if output.ended_well else None

    async def _git(self, directory: str, words: tuple[str, ...]) -> ProgramOutput:
        try:
            return await self._run(("git", *_QUIETLY, *words), directory)
        except WorkingDirectoryMissing as error:
            raise GitRefused("not_a_repository") from error
        except (ProgramNotFound, ProgramNotExecutable) as error:
            raise GitRefused("git_missing") from error

    async def _run(self, argv: tuple[str, ...], directory: str) -> ProgramOutput:
        request = LaunchRequest(argv, cwd=directory, environment=dict(self._environment), label=argv[0])
        async with self._slots:
            with trio.move_on_after(self._timeout_seconds):
                try:
                    return await run_program(self._launcher, request, _PRINTED_BYTES_MAX)
                except (ProgramNotFound, ProgramNotExecutable, WorkingDirectoryMissing):
                    raise
                except LaunchError as error:
                    log.error("git was not started", reason=str(error))
                    raise GitRefused("git_failed") from error
        raise GitTimeout(f"{argv[0]} took longer than {self._timeout_seconds:g} s")


def _line(printed: str) -> str:
    """One line as it is: a path may begin or end with spaces."""
    return printed.removesuffix("\n")
