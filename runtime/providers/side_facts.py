"""What a provider family shows about ephemeral forks, in the words of `side/capabilities`. Pure."""

import attrs


@attrs.frozen
class SideFacts:
    """What a provider family shows about ephemeral forks; none of it is assumed (`contract §4`, side/capabilities)."""

    native_fork: bool = False
    active_turn_snapshot: bool = False
    """It forks a conversation in the middle of a turn, without disturbing it (RT-107)."""
    ephemeral: bool = False
    """The fork is in no list, in no file, and gone with its process."""
    hidden_history: bool = False
    """The fork shows none of the turns that its model remembers (RT-128)."""
    boundary: bool = False
    """Something can be put between what is inherited and what is new that the model sees."""
    tools: bool = False
    multi_turn: bool = False

    @property
    def sufficient(self) -> bool:
        """Whether a Side may be opened: the first five decide, each of them (RT-109)."""
        return (
            self.native_fork
            and self.active_turn_snapshot
            and self.ephemeral
            and self.hidden_history
            and self.boundary
        )
