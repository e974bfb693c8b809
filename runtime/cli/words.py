"""What the words of several commands mean: where the daemon is, which workspace, which form the answer has."""

from typing import TYPE_CHECKING, Annotated, Final

import attrs
from cyclopts import Group, Parameter

if TYPE_CHECKING:
    from runtime.config import Flags

TALKING: Final = Group.create_ordered("Talk to agents")
KEEPING: Final = Group.create_ordered("Look after sessions")
DAEMON: Final = Group.create_ordered("The daemon")

Json = Annotated[bool, Parameter(name="--json", negative="", help="JSON in place of text.")]
JsonLines = Annotated[
    bool, Parameter(name="--json", negative="", help="One line of JSON for each event, in place of text.")
]
Workspace = Annotated[
    str, Parameter(env_var="GREENROOM_WORKSPACE", help="The workspace the session belongs to.")
]
SessionId = Annotated[str, Parameter(help="The session's id, or as much of its beginning as no other has.")]
SessionIds = Annotated[str, Parameter(help="Ids of sessions, or their beginnings.")]


@Parameter(name="*")
@attrs.frozen(kw_only=True)
class Place:
    """Which daemon is meant."""

    data_dir: Annotated[str | None, Parameter(help="The data directory, in place of the user's own.")] = None
    config: Annotated[str | None, Parameter(help="The configuration file, in place of the user's own.")] = (
        None
    )

    def flags(self) -> "Flags":
        """The same for the configuration."""
        from runtime.config import Flags

        return Flags(config_file=self.config, data_dir=self.data_dir)


HERE: Final = Place()


def example(*lines: str) -> str:
    """The end of a command's help."""
    return "\n".join(("Example:", *(f"  greenroom {line}" for line in lines)))
