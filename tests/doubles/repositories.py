"""Real repositories for tests, made with the git of this machine and without anybody's configuration."""

import os
import subprocess
from pathlib import Path

import attrs

_ENVIRONMENT = {
    "PATH": os.environ["PATH"],
    "HOME": "/nonexistent",
    "GIT_CONFIG_GLOBAL": "/dev/null",
    "GIT_CONFIG_SYSTEM": "/dev/null",
    **{
        f"GIT_{who}_{what}": "tests@example.org"
        for who in ("AUTHOR", "COMMITTER")
        for what in ("NAME", "EMAIL")
    },
}


def git(folder: Path, *words: str) -> str:
    """What git prints, without the last line break."""
    done = subprocess.run(
        ("git", "-c", "protocol.file.allow=always", *words),
        cwd=folder,
        env=_ENVIRONMENT,
        check=True,
        capture_output=True,
        text=True,
    )
    return done.stdout.removesuffix("\n")


@attrs.frozen
class Repository:
    """One working tree."""

    path: Path

    @classmethod
    def made(cls, path: Path, *, commit: bool = True) -> "Repository":
        """A new one, with a file at the top and one in `inner/project` unless it is to have no commit."""
        path.mkdir(parents=True)
        repository = cls(path)
        git(path, "init", "--quiet", "--initial-branch=main")
        if commit:
            repository.write("top.txt", "top")
            repository.write("inner/project/file.txt", "below")
            repository.commit("first")
        return repository

    def write(self, name: str, content: str) -> None:
        """A file in it, not committed."""
        file = self.path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(content)

    def commit(self, message: str) -> str:
        """Commit all there is; the new commit."""
        git(self.path, "add", "--all")
        git(self.path, "commit", "--quiet", "-m", message)
        return self.head

    @property
    def head(self) -> str:
        """The commit that is checked out."""
        return git(self.path, "rev-parse", "HEAD")

    @property
    def branches(self) -> list[str]:
        """All local branches, by name."""
        return git(self.path, "for-each-ref", "--format=%(refname:short)", "refs/heads").splitlines()

    @property
    def checkouts(self) -> list[str]:
        """Where its working trees are, the first one first."""
        lines = git(self.path, "worktree", "list", "--porcelain").splitlines()
        return [line.removeprefix("worktree ") for line in lines if line.startswith("worktree ")]
