"""Changes of settings asked of an agent, one request after the other, the model first.

Owns the order and what one refusal means for the others: nothing more is asked, and what was changed is changed back
where the caller wants all or nothing. What is then done with the outcome is the caller's.
"""

from collections.abc import Callable, Mapping
from functools import partial
from typing import TypeAlias

import attrs

from runtime.providers.acp.conversation import Conversation
from runtime.providers.acp.failures import failure_of
from runtime.providers.acp.settings import SettingStep, Wanted, refused_setting
from runtime.providers.jsonrpc.calls import Answer, OpenCalls
from runtime.providers.jsonrpc.peer import ErrorResponse
from runtime.providers.output_batch import OutputBatch
from store.canonical.common import Json, SettingValue, TurnError


@attrs.frozen
class SettingFailure:
    """The agent does not hold this setting as it was wanted."""

    key: str
    error: TurnError


Done: TypeAlias = Callable[[SettingFailure | None, OutputBatch], None]


class SettingSteps:
    """One run through the settings wanted; `done` is called once, in the same step if nothing has to be asked."""

    def __init__(
        self,
        conversation: Conversation,
        calls: OpenCalls,
        wanted: Wanted,
        done: Done,
        *,
        undoes: bool = False,
    ) -> None:
        self.over = False
        self._conversation = conversation
        self._calls = calls
        self._wanted = list(wanted)
        self._done = done
        self._undoes = undoes
        self._changed: Wanted = []
        self._failure: SettingFailure | None = None

    def next(self, out: OutputBatch) -> None:
        """Ask for the next change that is one."""
        while self._wanted:
            key, value = self._wanted.pop(0)
            step = self._conversation.settings.step(key, value)
            if isinstance(step, TurnError):
                self._fail(key, step)
            elif step is not None:
                before = self._conversation.settings.current().get(key)
                params: dict[str, Json] = {"sessionId": self._conversation.session_id}
                answered = partial(self._stepped, step, before)
                self._conversation.settings.asked(key)
                self._calls.send(step.method, params | step.params, answered, out)
                return
        self.over = True
        self._done(self._failure, out)

    def leave(self) -> None:
        """Nobody waits for the outcome any more; an answer that still comes is taken for what it says."""
        self.over = True

    def _stepped(
        self, step: SettingStep, before: SettingValue | None, answer: Answer, out: OutputBatch
    ) -> None:
        self._conversation.settings.answered(step.key)
        error = self._error_of(step, answer)
        if self.over:
            self._conversation.tell_settings(out)
            return
        if error is not None:
            self._fail(step.key, error)
        elif before is not None:
            self._changed.insert(0, (step.key, before))
        self.next(out)

    def _error_of(self, step: SettingStep, answer: Answer) -> TurnError | None:
        if not isinstance(answer, ErrorResponse):
            return self._conversation.settings.changed(step, answer.result)
        failure = failure_of(answer)
        refused = failure.code in ("provider.rejected", "provider.context_full")
        return refused_setting(step.key) if refused else failure

    def _fail(self, key: str, error: TurnError) -> None:
        """The first failure counts; one on the way back shows in what holds then."""
        if self._failure is None:
            self._failure = SettingFailure(key, error)
            self._wanted = self._changed if self._undoes else []
            self._changed = []


def changes_wanted(conversation: Conversation, changes: Mapping[str, SettingValue | None]) -> Wanted:
    """Changes in the order they are asked for; null is what the agent began with, if that is known."""
    first = conversation.settings.first
    values = {key: first.get(key) if value is None else value for key, value in changes.items()}
    return conversation.settings.in_order({key: value for key, value in values.items() if value is not None})
