"""The scripted app-server without any I/O: lines and moments in, actions out.

Owns the protocol: requests and their refusals, threads, which turn is open in each, and the playing of turns in time.
A prompt says in directives what comes of it (`directives`); the model's name, where it holds directives, says how a
thread opens. The same object is a process of a simulated run and, behind pipes, a program that a real daemon starts.
"""

import json
from collections.abc import Callable
from typing import Any, Literal

import attrs

from runtime.providers.demo.actions import Action, Exit, WakeAt, Write
from runtime.providers.demo.agenda import Agenda
from runtime.providers.demo.script import Step, read_prompt
from runtime.simulation.scripted_codex import texts
from runtime.simulation.scripted_codex.rollouts import MemoryRollouts, Rollouts
from runtime.simulation.scripted_codex.self_description import (
    Account,
    account_told,
    models_told,
    skills_told,
    usage_told,
)
from runtime.simulation.scripted_codex.stage import Handler
from runtime.simulation.scripted_codex.texts import Frame, Refused
from runtime.simulation.scripted_codex.thread import VERSION, Thread
from runtime.simulation.scripted_codex.thread_desk import ThreadDesk
from runtime.simulation.scripted_codex.turn import Turn
from runtime.simulation.scripted_codex.turn_desk import TurnDesk

UNLOAD_SECONDS = 60.0
_ALWAYS_TOLD = frozenset({"thread/status/changed", "thread/closed"})
"""What a client still hears of a thread that it has left."""
_EXPERIMENTAL = "thread/backgroundTerminals/"
_REQUIRED = {
    "thread/resume": ("threadId",),
    "thread/fork": ("threadId",),
    "thread/unsubscribe": ("threadId",),
    "thread/read": ("threadId",),
    "thread/turns/list": ("threadId",),
    "thread/inject_items": ("threadId", "items"),
    "thread/name/set": ("threadId", "name"),
    "thread/backgroundTerminals/list": ("threadId",),
    "thread/backgroundTerminals/terminate": ("threadId", "processId"),
    "thread/backgroundTerminals/clean": ("threadId",),
    "turn/start": ("threadId", "input"),
    "turn/steer": ("threadId", "expectedTurnId", "input"),
    "turn/interrupt": ("threadId", "turnId"),
}

_WITHOUT_PARAMS = frozenset({"account/rateLimits/read"})


@attrs.frozen(kw_only=True)
class CodexSettings:
    """How one process is."""

    identity: str = "scripted"
    """Distinguishes the ids of this process from those of every other."""
    startup_seconds: float = 0.0
    config_warning: str = ""
    """Said right after the handshake, as the real one says that it goes on with defaults."""
    secret: str = ""
    """What stands in its directives for `{secret}`: words that no prompt holds."""
    version: str = VERSION
    account: Account = "none"
    catalogue: Literal["told", "refuses", "silent", "leaves", "odd"] = "told"
    """What becomes of `model/list`."""
    unload_seconds: float = UNLOAD_SECONDS


class ScriptedCodex:
    """One process. Each method answers with what is to be done, a `WakeAt` last while anything is due."""

    def __init__(self, settings: CodexSettings | None = None, rollouts: Rollouts | None = None) -> None:
        self.now = 0.0
        self._settings = settings or CodexSettings()
        self._rollouts = rollouts or MemoryRollouts()
        self._initialized = False
        self._experimental = False
        self._asked: dict[int, Turn] = {}
        self._asks = 0
        self._made: dict[str, int] = {}
        self._unwanted: frozenset[str] = frozenset()
        self._agenda = Agenda()
        self._actions: list[Action] = []
        identity, unload_seconds = self._settings.identity, self._settings.unload_seconds
        threads = ThreadDesk(self, self._rollouts, identity, unload_seconds)
        self._turns = TurnDesk(self, threads, self._rollouts, identity)
        self._handlers: dict[str, Handler] = {
            "initialize": self._initialize,
            "account/rateLimits/read": self._rate_limits,
            "account/read": self._account,
            "model/list": self._models,
            "skills/list": self._skills,
            **threads.handlers(),
            **self._turns.handlers(),
        }

    # --- in and out -------------------------------------------------------------------------------------------

    def receive(self, line: bytes, now: float) -> list[Action]:
        """One line of the client. What is no request, notification or answer gets no answer at all."""
        self.now = now
        try:
            message = json.loads(line)
        except ValueError:
            message = None
        if isinstance(message, dict):
            self._handle(message)
        return self._take()

    def wake(self, now: float) -> list[Action]:
        """Play what is due at `now`."""
        self.now = now
        self._agenda.play(now)
        return self._take()

    def end_of_input(self, now: float) -> list[Action]:
        """The client closed its side: no farewell, no draining of turns."""
        self.now = now
        return [Exit(0)]

    def ended(self) -> None:
        """The process is gone, however: it holds no thread any more."""
        self._rollouts.release_all(self._settings.identity)

    def _take(self) -> list[Action]:
        actions, self._actions = self._actions, []
        if self._agenda.next_at is not None:
            actions.append(WakeAt(self._agenda.next_at))
        return actions

    # --- what a turn may use (`Stage`) ------------------------------------------------------------------------

    def perform(self, action: Action) -> None:
        """See `Stage`."""
        self._actions.append(action)

    def send(self, frame: Frame) -> None:
        """See `Stage`."""
        if "method" in frame and "id" not in frame:
            frame = {**frame, "emittedAtMs": int(self.now * 1000)}
        self.perform(Write(json.dumps(frame).encode() + b"\n"))

    def notify(self, thread: Thread, method: str, **params: Any) -> None:
        """See `Stage`."""
        if method not in self._unwanted and (thread.subscribed or method in _ALWAYS_TOLD):
            self.send({"method": method, "params": {"threadId": thread.thread_id, **params}})

    def ask(self, turn: Turn, method: str, params: Frame) -> None:
        """See `Stage`. Its ids are integers from 0, as the client's may be."""
        number, self._asks = self._asks, self._asks + 1
        self._asked[number] = turn
        turn.asks.append(number)
        self.status_changed(turn.thread)
        self.send({"method": method, "id": number, "params": params})

    def reply(self, request_id: object, result: Frame) -> None:
        """See `Stage`."""
        self.send({"id": request_id, "result": result})

    def new_id(self, kind: str) -> str:
        """See `Stage`."""
        self._made[kind] = self._made.get(kind, 0) + 1
        return f"{kind}-{self._settings.identity}-{self._made[kind]}"

    def script(self, text: str) -> list[Step]:
        """See `Stage`."""
        return read_prompt(text.replace("{secret}", self._settings.secret))

    def at(self, when: float, due: Callable[[], None]) -> None:
        """See `Stage`."""
        self._agenda.at(when, due)

    def later(self, seconds: float, due: Callable[[], None]) -> None:
        """See `Stage`."""
        self._agenda.at(self.now + seconds, due)

    def spawn(self, turn: Turn, step: Step) -> None:
        """See `Stage`."""
        self._turns.spawn(turn, step)

    def keep(self, thread: Thread) -> None:
        """See `Stage`."""
        if thread.materialized:
            self._rollouts.save(thread.thread_id, thread.record())

    def status_changed(self, thread: Thread) -> None:
        """See `Stage`."""
        self.notify(thread, "thread/status/changed", status=thread.status)

    # --- messages ---------------------------------------------------------------------------------------------

    def _handle(self, message: Frame) -> None:
        method, request_id = message.get("method"), message.get("id")
        if method is None:
            self._answered(message)
        elif isinstance(request_id, int | str):
            params = message.get("params")
            try:
                self._requested(str(method), request_id, params if isinstance(params, dict) else None)
            except Refused as refused:
                self.send(refused.frame(request_id))

    def _requested(self, method: str, request_id: object, params: Frame | None) -> None:
        handler = self._handlers.get(method)
        if handler is None:
            raise Refused(texts.unknown_method(method, tuple(self._handlers)))
        if method != "initialize" and not self._initialized:
            raise Refused(texts.NOT_INITIALIZED)
        if method.startswith(_EXPERIMENTAL) and not self._experimental:
            raise Refused(texts.needs_experimental(method))
        if params is None and method not in _WITHOUT_PARAMS:
            raise Refused(texts.missing_field("params"))
        params = params or {}
        for name in _REQUIRED.get(method, ()):
            if name not in params:
                raise Refused(texts.missing_field(name))
        thread_id = params.get("threadId")
        if isinstance(thread_id, str) and not thread_id.replace("-", "").isalnum():
            raise Refused(texts.invalid_thread_id(thread_id))
        handler(request_id, params)

    def _answered(self, message: Frame) -> None:
        number = message.get("id")
        turn = self._asked.pop(number, None) if isinstance(number, int) else None
        if turn is None or number not in turn.asks:
            return
        turn.asks.remove(number)
        self.notify(turn.thread, "serverRequest/resolved", requestId=number)
        self.status_changed(turn.thread)
        self._turns.answered(turn, message)

    # --- the handshake ----------------------------------------------------------------------------------------

    def _initialize(self, request_id: object, params: Frame) -> None:
        if self._initialized:
            raise Refused(texts.ALREADY_INITIALIZED)
        self._initialized = True
        name = params.get("clientInfo", {}).get("name", "client")
        capabilities = params.get("capabilities") or {}
        self._experimental = capabilities.get("experimentalApi") is True
        self._unwanted = frozenset(capabilities.get("optOutNotificationMethods") or ())
        agent = f"{name}/{self._settings.version} (scripted)"
        result = {"userAgent": agent, "codexHome": "/codex-home", "platformFamily": "unix"}

        def answer() -> None:
            self.reply(request_id, result)
            if self._settings.config_warning:
                warning = {"summary": self._settings.config_warning, "details": None}
                self.send({"method": "configWarning", "params": warning})

        if self._settings.startup_seconds:
            self.later(self._settings.startup_seconds, answer)
        else:
            answer()

    # --- itself -----------------------------------------------------------------------------------------------

    def _account(self, request_id: object, params: Frame) -> None:
        self.reply(request_id, account_told(self._settings.account))

    def _models(self, request_id: object, params: Frame) -> None:
        if self._settings.catalogue == "refuses":
            raise Refused(texts.SIGNED_OUT)
        if self._settings.catalogue == "leaves":
            self.perform(Exit(1))
        elif self._settings.catalogue != "silent":
            self.reply(request_id, models_told() if self._settings.catalogue == "told" else {"data": 5})

    def _skills(self, request_id: object, params: Frame) -> None:
        self.reply(request_id, skills_told())

    def _rate_limits(self, request_id: object, params: Frame) -> None:
        if self._settings.account != "chatgpt":
            raise Refused(texts.SIGNED_OUT)
        self.reply(request_id, usage_told())
