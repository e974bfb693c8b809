"""Changes of settings on the wire, one after the other: before a conversation opens, before a prompt, or by themselves.

A prompt runs under what was chosen for it, or not at all (RT-056). Owns the order of the requests, their common deadline
and what is undone when one of several is refused.
"""

from collections.abc import Callable
from functools import partial
from typing import TypeAlias

import attrs

from runtime.providers.claude_code.control import ControlAnswer, OpenRequests, ignore_answer
from runtime.providers.claude_code.conversation import Conversation
from runtime.providers.claude_code.failures import provider_error
from runtime.providers.claude_code.settings import HeldSettings, SettingChange, mode_of, wider
from runtime.providers.jsonrpc.members import text_of
from runtime.providers.output_batch import OutputBatch
from runtime.providers.port import StartTimer, StopTimer
from store.canonical.common import TurnError


@attrs.frozen
class SettingFailure:
    """A change that has no effect, and why."""

    key: str
    error: TurnError


Changed: TypeAlias = Callable[[SettingFailure | None, OutputBatch], None]

_WIDER_TEXT = "Claude Code would allow itself more than was chosen."


@attrs.frozen
class ChangesDeadline:
    """Names the timer of changes that are under way."""

    number: int


class SettingChanges:
    """The changes of one conversation that are under way."""

    def __init__(self, requests: OpenRequests, seconds: float) -> None:
        self._requests = requests
        self._seconds = seconds
        self._number = 0
        self._waiting: dict[int, Changed] = {}

    def make(
        self, conversation: Conversation, changes: list[SettingChange], changed: Changed, out: OutputBatch
    ) -> None:
        """Make them all; `changed` is called once, in this step if there are none."""
        if not changes:
            changed(None, out)
            return
        self._number += 1
        self._waiting[self._number] = changed
        out.add(StartTimer(ChangesDeadline(self._number), self._seconds))
        self._next(self._number, conversation, conversation.held, list(changes), out)

    def timed_out(self, deadline: ChangesDeadline, out: OutputBatch) -> None:
        """Claude Code does not say whether it takes them."""
        self._over(deadline.number, SettingFailure("", provider_error("provider.timeout")), out)

    def forget(self, out: OutputBatch) -> None:
        """The scope is gone."""
        for number in self._waiting:
            out.add(StopTimer(ChangesDeadline(number)))
        self._waiting.clear()

    def _next(
        self,
        number: int,
        conversation: Conversation,
        before: HeldSettings,
        changes: list[SettingChange],
        out: OutputBatch,
    ) -> None:
        answered = partial(self._answered, number, conversation, before, changes)
        self._requests.send(changes[0].request(), answered, out)

    def _answered(
        self,
        number: int,
        conversation: Conversation,
        before: HeldSettings,
        changes: list[SettingChange],
        answer: ControlAnswer,
        out: OutputBatch,
    ) -> None:
        if number not in self._waiting:
            return
        change, *rest = changes
        mode = text_of(answer.body.get("mode")) if change.key == "permissionMode" else None
        failure = None
        if not answer.accepted:
            failure = SettingFailure(change.key, provider_error("settings.invalid"))
        elif mode is not None and wider(mode, mode_of({"permissionMode": change.value or ""})):
            failure = SettingFailure(change.key, provider_error("settings.invalid", _WIDER_TEXT))
        if failure is not None:
            self._undo(conversation, before, out)
            self._over(number, failure, out)
            return
        conversation.held = change.after(conversation.held, mode)
        if rest:
            self._next(number, conversation, before, rest, out)
        else:
            self._over(number, None, out)

    def _undo(self, conversation: Conversation, before: HeldSettings, out: OutputBatch) -> None:
        for change in (
            SettingChange("permissionMode", before.mode) if conversation.held.mode != before.mode else None,
            SettingChange("model", before.model) if conversation.held.model != before.model else None,
        ):
            if change is not None:
                self._requests.send(change.request(), ignore_answer, out)
        conversation.held = before

    def _over(self, number: int, failure: SettingFailure | None, out: OutputBatch) -> None:
        changed = self._waiting.pop(number, None)
        if changed is not None:
            out.add(StopTimer(ChangesDeadline(number)))
            changed(failure, out)
