"""A configuration made from text, in surroundings that are the same on every machine."""

from collections.abc import Mapping
from pathlib import Path

import attrs

from runtime.config import Configuration, Flags, Surroundings, load_configuration


@attrs.frozen
class ProgramsInMemory:
    """A `ProgramFinder` that finds what it was told."""

    found: Mapping[str, str] = attrs.field(factory=dict)

    def find(self, program: str) -> str | None:
        return self.found.get(program)


@attrs.frozen
class Bench:
    """One user's machine: a folder for everything, and the programs there are."""

    folder: Path
    programs: ProgramsInMemory = ProgramsInMemory()

    @property
    def config_file(self) -> Path:
        return self.folder / "config" / "config.toml"

    @property
    def surroundings(self) -> Surroundings:
        return Surroundings(
            config_file=self.config_file,
            data_dir=self.folder / "data",
            work_root=self.folder / "home" / "greenroom",
            working_directory=self.folder / "here",
            programs=self.programs,
        )

    def write(self, text: str) -> Path:
        self.config_file.parent.mkdir(exist_ok=True)
        self.config_file.write_text(text)
        return self.config_file

    def load(self, text: str | None = None, **flags: object) -> Configuration:
        if text is not None:
            self.write(text)
        return load_configuration(Flags(**flags), self.surroundings)
