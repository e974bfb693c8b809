"""Words as they come in: lines of a dumb terminal or of a pipe. The editor of a real terminal speaks the same words."""

from typing import Protocol, TypeAlias

import attrs
import trio

from runtime.cli.terminal import LineReader


@attrs.frozen
class Typed:
    """A line, or several that were pasted together."""

    text: str


@attrs.frozen
class Stop:
    """Ctrl-C."""


@attrs.frozen
class Leave:
    """Ctrl-D, the end of what is read, or a signal that ends the program."""

    exit_code: int = 0


Word: TypeAlias = Typed | Stop | Leave


class Keyboard(Protocol):
    """Where words come from. The conversation tells it what it is doing, so that it can say so."""

    patient: bool
    """Whether nobody sits there: the next line is read when the one before is done with."""

    async def run(
        self,
        words: trio.MemorySendChannel[Word],
        *,
        task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED,
    ) -> None:
        """Sends words until there are no more; started once what is typed is heard."""

    def working(self, working: bool) -> None:
        """A turn runs, or none does."""

    def asking(self, options: int, *, secret: bool = False) -> None:
        """The next words answer a question; with so many numbered options, 0 for none."""

    def unfinished(self, text: str) -> None:
        """The line that is being written above; shown by a keyboard that draws."""

    def put_back(self, text: str) -> None:
        """What could not be taken: the person has it again, where that can be."""


@attrs.define(eq=False)
class Lines:
    """Lines of a descriptor, shown by the terminal itself."""

    descriptor: int
    patient: bool
    _idle: trio.Event = attrs.field(factory=trio.Event, init=False)
    """Set while the next line may be read."""
    _secret: bool = attrs.field(default=False, init=False)

    async def run(
        self,
        words: trio.MemorySendChannel[Word],
        *,
        task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED,
    ) -> None:
        """Each line as it comes, or as soon as the one before is done with."""
        reader = LineReader(self.descriptor)
        task_status.started()
        while True:
            if self.patient:
                await self._idle.wait()
            line = await reader.line(secret=self._secret)
            if line is None:
                await words.send(Leave())
                return
            if self.patient and line.strip():
                self._idle = trio.Event()
            await words.send(Typed(line))

    def working(self, working: bool) -> None:
        """Nothing to show; whoever waits for the end goes on."""
        if not working:
            self._idle.set()
        elif self._idle.is_set():
            self._idle = trio.Event()

    def asking(self, options: int, *, secret: bool = False) -> None:
        """Only whether the next line is shown."""
        self._secret = secret

    def unfinished(self, text: str) -> None:
        """It stands there already: what is written goes straight to the terminal."""

    def put_back(self, text: str) -> None:
        """The line stands above and can be copied."""
