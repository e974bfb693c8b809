"""Prompts that wait until what was chosen for their turn holds, and changes of settings between them.

A prompt runs under what was chosen for it, or not at all: a setting that is refused rejects it, with nothing sent (RT-056).
Owns the prompts that wait, their deadline and what a stop does to them.
"""

from collections.abc import Callable
from functools import partial
from typing import TypeAlias

import attrs

from runtime.providers.acp.conversation import Conversation
from runtime.providers.acp.failures import provider_error
from runtime.providers.acp.setting_steps import SettingFailure, SettingSteps, changes_wanted
from runtime.providers.jsonrpc.calls import OpenCalls
from runtime.providers.normalized import SettingsApplied, SettingsRefused, TurnRejected
from runtime.providers.output_batch import OutputBatch
from runtime.providers.port import ApplySettings, Diagnostic, Scope, StartTimer, StartTurn, StopTimer
from store.canonical.common import TurnError
from store.canonical.identifiers import TurnId

SendPrompt: TypeAlias = Callable[[Conversation, StartTurn, bool], None]
"""Sends a prompt that is ready; the last says that its turn was to be stopped meanwhile."""


@attrs.frozen
class SettingsDeadline:
    """Names the timer of the changes before a prompt."""

    scope: Scope


@attrs.define
class _Waiting:
    command: StartTurn
    steps: SettingSteps
    cancel_asked: bool = False
    timed: bool = False


class PreparedTurns:
    """The prompts of one connection, each until it is sent or rejected."""

    def __init__(self, calls: OpenCalls, seconds: float, send: SendPrompt) -> None:
        self._calls = calls
        self._seconds = seconds
        self._send = send
        self._waiting: dict[Scope, _Waiting] = {}

    def __contains__(self, scope: Scope) -> bool:
        return scope in self._waiting

    def begin(self, conversation: Conversation, command: StartTurn, out: OutputBatch) -> None:
        """Change what has to be changed, then send the prompt; in this step if nothing has to be."""
        settings = command.settings
        wanted = conversation.settings.towards(settings) if settings is not None else []
        steps = SettingSteps(conversation, self._calls, wanted, partial(self._ready, conversation))
        waiting = self._waiting[command.scope] = _Waiting(command, steps)
        steps.next(out)
        if not steps.over:
            waiting.timed = True
            out.add(StartTimer(SettingsDeadline(command.scope), self._seconds))

    def cancel(self, scope: Scope, turn_id: TurnId) -> bool:
        """Whether the turn to be stopped is one of these; it is stopped once it has begun."""
        waiting = self._waiting.get(scope)
        if waiting is None or waiting.command.turn_id != turn_id:
            return False
        waiting.cancel_asked = True
        return True

    def timed_out(self, scope: Scope, out: OutputBatch) -> None:
        """The agent does not say whether it takes the settings: the prompt is not sent."""
        waiting = self._leave(scope, out)
        if waiting is not None:
            _reject(waiting.command, provider_error("provider.timeout"), out)

    def leave(self, scope: Scope, out: OutputBatch) -> None:
        """The scope is gone."""
        self._leave(scope, out)

    def apply(self, conversation: Conversation, command: ApplySettings, out: OutputBatch) -> None:
        """Change settings of an open conversation now, all of them or none."""
        wanted = changes_wanted(conversation, command.settings)
        applied = partial(_applied, conversation, command.update_id)
        SettingSteps(conversation, self._calls, wanted, applied, undoes=True).next(out)

    def _ready(self, conversation: Conversation, failure: SettingFailure | None, out: OutputBatch) -> None:
        waiting = self._leave(conversation.scope, out)
        assert waiting is not None
        conversation.tell_settings(out)
        if failure is not None:
            _reject(waiting.command, failure.error, out)
        else:
            self._send(conversation, waiting.command, waiting.cancel_asked)

    def _leave(self, scope: Scope, out: OutputBatch) -> _Waiting | None:
        waiting = self._waiting.pop(scope, None)
        if waiting is not None:
            waiting.steps.leave()
            if waiting.timed:
                out.add(StopTimer(SettingsDeadline(scope)))
        return waiting


def _reject(command: StartTurn, error: TurnError, out: OutputBatch) -> None:
    out.deliver(command.scope, TurnRejected(command.turn_id, error))


def _applied(
    conversation: Conversation, update_id: str, failure: SettingFailure | None, out: OutputBatch
) -> None:
    if conversation.phase == "closed":
        out.add(Diagnostic("settings.after_close", str(conversation.scope)))
        return
    current = conversation.settings_now_told()
    if failure is None:
        out.deliver(conversation.scope, SettingsApplied(update_id, current))
    else:
        refused = SettingsRefused(update_id, failure.error, failure.key, current)
        out.deliver(conversation.scope, refused)
