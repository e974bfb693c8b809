"""The demo agent without any I/O: lines and moments in, actions out.

Owns the protocol side (sessions, requests, which prompt is open) and the playing of turns in time. It touches no
clock, no file and no pipe, so a simulation can hold it in memory; `process` runs the same object as a program.
"""

import json
from typing import Any

from runtime.providers.demo.actions import (
    Action,
    DemoSettings,
    Exit,
    MemoryStore,
    SessionStore,
    WakeAt,
    Write,
)
from runtime.providers.demo.agenda import Agenda
from runtime.providers.demo.directives import DIRECTIVES
from runtime.providers.demo.options import OFFERED, config_options, first_settings
from runtime.providers.demo.script import read_prompt
from runtime.providers.demo.turn import Ending, Frame, Play, Stage, Turn

AGENT_NAME = "greenroom-demo"
AGENT_VERSION = "1.0.0"


class _Session:
    def __init__(self, session_id: str, turns: list[dict[str, str]]) -> None:
        self.session_id = session_id
        self.turns = turns
        self.settings = first_settings()
        self.open: _Playing | None = None


class _Playing:
    """A turn with its generator, or a straggler of one that is over."""

    def __init__(self, session: _Session, turn: Turn, play: Play) -> None:
        self.session = session
        self.turn = turn
        self.play = play
        self.waits = False
        """It waits for an answer or for ever, not for a moment."""


class DemoAgent:
    """One agent process. Each method answers with what is to be done, a `WakeAt` last while anything is due."""

    def __init__(self, settings: DemoSettings | None = None, store: SessionStore | None = None) -> None:
        self._settings = settings or DemoSettings()
        self._store = store or MemoryStore()
        self._sessions: dict[str, _Session] = {}
        self._asked: dict[str, _Playing] = {}
        self._agenda = Agenda()
        self._made = 0
        self._requests = 0
        self._now = 0.0
        self._actions: list[Action] = []

    # --- in and out -------------------------------------------------------------------------------------------

    def receive(self, line: bytes, now: float) -> list[Action]:
        """One line of the client, without its end; `now` in seconds of any steady clock."""
        self._now = now
        try:
            message = json.loads(line)
        except ValueError:
            self._fail(None, -32700, "Parse error")
        else:
            self._handle(message)
        return self._take()

    def wake(self, now: float) -> list[Action]:
        """Play what is due at `now`."""
        self._now = now
        self._agenda.play(now)
        return self._take()

    def end_of_input(self, now: float) -> list[Action]:
        """The client closed its side: a well-behaved agent ends."""
        self._now = now
        return [Exit(0)]

    def ended(self) -> None:
        """The process is gone: nothing of it is held anywhere."""

    def _take(self) -> list[Action]:
        actions, self._actions = self._actions, []
        if self._agenda.next_at is not None:
            actions.append(WakeAt(self._agenda.next_at))
        return actions

    def _send(self, frame: Frame) -> None:
        data = json.dumps({"jsonrpc": "2.0", **frame}, separators=(",", ":")).encode() + b"\n"
        self._actions.append(Write(data))

    def _reply(self, request_id: object, result: Frame) -> None:
        self._send({"id": request_id, "result": result})

    def _fail(self, request_id: object, code: int, text: str) -> None:
        self._send({"id": request_id, "error": {"code": code, "message": text}})

    # --- messages ---------------------------------------------------------------------------------------------

    def _handle(self, message: Any) -> None:
        if not isinstance(message, dict):
            self._fail(None, -32600, "Invalid request")
            return
        method, request_id, params = message.get("method"), message.get("id"), message.get("params")
        if method is None:
            playing = self._asked.pop(str(request_id), None)
            if playing is not None:
                self._resume(playing, message)
            return
        handler = _HANDLERS.get(method)
        if handler is not None:
            handler(self, request_id, params if isinstance(params, dict) else {})
        elif request_id is not None:
            self._fail(request_id, -32601, "Method not found")

    def _initialize(self, request_id: object, params: Frame) -> None:
        if not self._settings.answers_initialize:
            return
        session_abilities: Frame = {"close": {}} | ({"resume": {}} if self._settings.resumes else {})
        result = {
            "protocolVersion": self._settings.protocol_version,
            "agentInfo": {"name": AGENT_NAME, "title": "Greenroom demo agent", "version": AGENT_VERSION},
            "agentCapabilities": {
                "loadSession": True,
                "promptCapabilities": {"image": self._settings.takes_images, "embeddedContext": True},
                "sessionCapabilities": session_abilities,
            },
            "authMethods": [],
        }
        if self._settings.startup_seconds:
            self._agenda.at(
                self._now + self._settings.startup_seconds, lambda: self._reply(request_id, result)
            )
        else:
            self._reply(request_id, result)

    def _new(self, request_id: object, params: Frame) -> None:
        if self._settings.needs_sign_in:
            self._fail(request_id, -32000, "Authentication required")
            return
        self._made += 1
        session = _Session(f"demo-{self._settings.identity}-{self._made}", [])
        self._sessions[session.session_id] = session
        self._save(session)
        self._reply(request_id, {"sessionId": session.session_id, **_state(session)})
        commands = [{"name": "recall", "description": "Say what was said before"}]
        self._update(session, {"sessionUpdate": "available_commands_update", "availableCommands": commands})

    def _resume_session(self, request_id: object, params: Frame) -> None:
        session = self._found(request_id, params)
        if session is not None:
            self._reply(request_id, _state(session))

    def _load(self, request_id: object, params: Frame) -> None:
        session = self._found(request_id, params)
        if session is None:
            return
        for turn in session.turns:
            for kind, text in (
                ("user_message_chunk", turn["prompt"]),
                ("agent_message_chunk", turn["answer"]),
            ):
                if text:
                    self._update(session, {"sessionUpdate": kind, "content": {"type": "text", "text": text}})
        self._reply(request_id, _state(session))

    def _found(self, request_id: object, params: Frame) -> _Session | None:
        session_id = str(params.get("sessionId"))
        session = self._sessions.get(session_id)
        if session is None and self._settings.loads:
            record = self._store.load(session_id)
            if record is not None:
                session = self._sessions[session_id] = _Session(session_id, record["turns"])
        if session is None or not self._settings.loads:
            self._fail(request_id, -32002, "Resource not found")
            return None
        return session

    def _close(self, request_id: object, params: Frame) -> None:
        session = self._sessions.pop(str(params.get("sessionId")), None)
        if session is not None and session.open is not None:
            session.open.play.close()
            session.open = None
        self._reply(request_id, {})

    def _set_mode(self, request_id: object, params: Frame) -> None:
        self._set(request_id, params, "mode", params.get("modeId"))

    def _set_option(self, request_id: object, params: Frame) -> None:
        self._set(request_id, params, str(params.get("configId")), params.get("value"))

    def _set(self, request_id: object, params: Frame, name: str, value: object) -> None:
        session = self._sessions.get(str(params.get("sessionId")))
        if not self._settings.answers_settings:
            return
        if session is None or value not in OFFERED.get(name, ()):
            self._fail(request_id, -32602, "Invalid params")
            return
        session.settings[name] = str(value)
        self._reply(request_id, _state(session))

    def _prompt(self, request_id: object, params: Frame) -> None:
        session = self._sessions.get(str(params.get("sessionId")))
        if session is None:
            self._fail(request_id, -32002, "Resource not found")
        elif session.open is not None:
            self._fail(request_id, -32600, "A prompt is open already")
        else:
            text = "\n".join(_texts(params.get("prompt")))
            session.turns.append({"prompt": text, "answer": ""})
            self._save(session)
            stage = Stage(
                session.session_id,
                lambda action: self._actions.append(action),
                lambda method, asked: self._ask(session, method, asked),
                lambda: self._now,
                session.turns,
                session.settings,
            )
            turn = Turn(request_id, text, stage)
            turn.due = self._now
            playing = session.open = _Playing(session, turn, turn.play(read_prompt(text), DIRECTIVES))
            self._agenda.at(self._now, lambda: self._advance(playing, None))

    def _cancel(self, request_id: object, params: Frame) -> None:
        session = self._sessions.get(str(params.get("sessionId")))
        playing = session.open if session is not None else None
        if playing is None or playing.turn.ignores_cancel:
            return
        if playing.turn.cancel_seconds:
            self._agenda.at(
                self._now + playing.turn.cancel_seconds, lambda: self._end(playing, Ending("cancelled"))
            )
        else:
            self._end(playing, Ending("cancelled"))

    # --- playing ----------------------------------------------------------------------------------------------

    def _ask(self, session: _Session, method: str, params: Frame) -> None:
        self._requests += 1
        request_id = f"demo-request-{self._requests}"
        assert session.open is not None
        self._asked[request_id] = session.open
        self._send({"id": request_id, "method": method, "params": params})

    def _resume(self, playing: _Playing, answer: Frame) -> None:
        if playing.session.open is playing and playing.waits:
            playing.turn.due = self._now
            self._advance(playing, answer)

    def _advance(self, playing: _Playing, answer: Frame | None) -> None:
        """Play on until the turn pauses, waits or ends; a turn that is over is left alone."""
        if playing.session.open is not playing:
            return
        playing.waits = False
        try:
            pause = playing.play.send(answer)
        except StopIteration as stop:
            self._end(playing, stop.value)
            return
        if pause is None:
            playing.waits = True
            return
        # Counted from the moment that was due, not from now: pauses do not drift under load.
        playing.turn.due += pause
        self._agenda.at(playing.turn.due, lambda: self._advance(playing, None))

    def _end(self, playing: _Playing, ending: Ending) -> None:
        session, turn = playing.session, playing.turn
        if session.open is not playing:
            return
        playing.play.close()
        session.open = None
        session.turns[-1]["answer"] = turn.answer
        self._save(session)
        for _ in range(0 if ending.silent else 2 if turn.answers_twice else 1):
            if ending.error_code:
                self._fail(turn.request_id, ending.error_code, ending.error_text)
            else:
                self._reply(turn.request_id, {"stopReason": ending.stop_reason})
        for seconds in turn.late_seconds:
            self._agenda.at(self._now + seconds, turn.straggle)

    def _update(self, session: _Session, update: Frame) -> None:
        self._send(
            {"method": "session/update", "params": {"sessionId": session.session_id, "update": update}}
        )

    def _save(self, session: _Session) -> None:
        self._store.save(session.session_id, {"turns": session.turns})


def _state(session: _Session) -> Frame:
    return {"configOptions": config_options(session.settings)}


def _texts(blocks: object) -> list[str]:
    found = blocks if isinstance(blocks, list) else []
    return [
        str(block.get("text", ""))
        for block in found
        if isinstance(block, dict) and block.get("type") == "text"
    ]


_HANDLERS = {
    "initialize": DemoAgent._initialize,
    "session/cancel": DemoAgent._cancel,
    "session/close": DemoAgent._close,
    "session/load": DemoAgent._load,
    "session/new": DemoAgent._new,
    "session/prompt": DemoAgent._prompt,
    "session/resume": DemoAgent._resume_session,
    "session/set_config_option": DemoAgent._set_option,
    "session/set_mode": DemoAgent._set_mode,
}
