"""What is to happen at a failpoint, and when: pure, with the short spelling that an environment variable holds.

`action[:milliseconds][@pass][%probability]`, such as `kill@3` (the third pass), `delay:200%0.1` (one pass in ten).
"""

import re
from typing import Final, Literal, get_args

import attrs

Action = Literal["kill", "exit", "raise", "delay", "pause"]
"""kill: SIGKILL to this process. exit: end it at once. raise: the error of the place. delay: wait. pause: wait until
it is cleared."""
Place = Literal["task", "thread", "step"]
"""Where a failpoint stands: in a task, which may wait; in the writer's thread, which may; or in the middle of a step
that nobody may interrupt."""

_SPELLING: Final = re.compile(
    r"(?P<action>[a-z]+)(:(?P<delay>\d+))?(@(?P<nth>\d+))?(%(?P<share>\d*\.?\d+))?", re.ASCII
)


class BadArming(ValueError):
    """What was asked for makes no sense, here or anywhere; the text says why."""


@attrs.frozen
class Arming:
    """What happens at one failpoint. Without `on_pass` and below a probability of 1 each pass is drawn anew."""

    action: Action
    on_pass: int | None = None
    """Only the pass of this number, counted from 1 since it was armed."""
    probability: float = 1.0
    delay_ms: int = 0

    def __attrs_post_init__(self) -> None:
        if self.action not in get_args(Action):
            raise BadArming(f"no such action: {self.action} (there are {', '.join(get_args(Action))})")
        if self.on_pass is not None and self.on_pass < 1:
            raise BadArming("passes are counted from 1")
        if not 0 < self.probability <= 1:
            raise BadArming("a probability is above 0 and at most 1")
        if (self.delay_ms > 0) != (self.action == "delay"):
            raise BadArming("a delay, and nothing else, has a time in milliseconds")

    def refusal_at(self, place: Place) -> str | None:
        """Why this cannot be done at such a place, if so."""
        waits = self.action in ("delay", "pause")
        return "nothing can wait there" if waits and place == "step" else None


def parse_arming(text: str) -> Arming:
    """The arming that a text spells. Raises `BadArming`."""
    match = _SPELLING.fullmatch(text.strip())
    if match is None:
        raise BadArming(f"{text!r} is not action[:milliseconds][@pass][%probability]")
    return Arming(
        match["action"],  # type: ignore[arg-type]  # checked by Arming itself
        None if match["nth"] is None else int(match["nth"]),
        1.0 if match["share"] is None else float(match["share"]),
        int(match["delay"] or 0),
    )


def parse_armings(text: str) -> dict[str, Arming]:
    """`name=arming;name=arming`. Raises `BadArming`."""
    armings: dict[str, Arming] = {}
    for part in filter(None, map(str.strip, text.split(";"))):
        name, separator, spelled = part.partition("=")
        if not separator:
            raise BadArming(f"{part!r} is not name=action")
        armings[name.strip()] = parse_arming(spelled)
    return armings
