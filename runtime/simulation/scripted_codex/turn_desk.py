"""What the scripted app-server does about turns: begun, played in time, steered, stopped and ended.

Owns which turn is open in a thread and the order of what is told at its beginning and its end.
"""

from typing import Final

from runtime.providers.demo.script import Step, read_prompt
from runtime.simulation.scripted_codex import texts
from runtime.simulation.scripted_codex.directives import DIRECTIVES
from runtime.simulation.scripted_codex.rollouts import Rollouts
from runtime.simulation.scripted_codex.stage import Handler, Stage
from runtime.simulation.scripted_codex.texts import INPUT_CHARACTERS_MAX, Frame, Refused
from runtime.simulation.scripted_codex.thread import Thread
from runtime.simulation.scripted_codex.thread_desk import ThreadDesk
from runtime.simulation.scripted_codex.turn import Ending, Turn

_BEFORE_THE_TURN: Final = frozenset({"early", "reject", "silent-start"})
"""Directives that are obeyed before the turn plays."""


class TurnDesk:
    """Answers requests about turns, and plays them."""

    def __init__(self, stage: Stage, desk: ThreadDesk, rollouts: Rollouts, identity: str) -> None:
        self._stage = stage
        self._desk = desk
        self._rollouts = rollouts
        self._identity = identity

    def handlers(self) -> dict[str, Handler]:
        """By method."""
        return {"turn/start": self._start_turn, "turn/steer": self._steer, "turn/interrupt": self._interrupt}

    def answered(self, turn: Turn, answer: Frame) -> None:
        """A request of this turn has its answer."""
        if turn.thread.turn is turn and turn.waits:
            turn.due = self._stage.now
            self._advance(turn, answer)

    def spawn(self, parent: Turn, step: Step) -> None:
        """A sub-agent begins within a turn, and works by itself from then on: it outlives that turn."""
        name = step.text.split()[0] if step.text else "digger"
        child = Thread(self._stage.new_id("thread"), parent.thread.settings, name=f"/root/{name}")
        child.begun_in = None if step.flag("unshown") else parent
        self._desk.threads[child.thread_id] = child
        does = step.options.get("does", "say done")
        call = None
        if step.flag("called"):
            call = parent.begin(_call_of(parent, does))
            view = child.view() | {"parentThreadId": parent.thread.thread_id}
            self._stage.send({"method": "thread/started", "params": {"thread": view}})
        elif not step.flag("unshown"):
            activity = _activity(parent.new_id("call"), child, "started")
            parent.complete(parent.begin(activity))
        self._stage.status_changed(child)
        turn = self._make_turn(child, does)
        self._announce(turn)
        if call is not None:
            parent.complete(call, status="completed", receiverThreadIds=[child.thread_id])
        self._play(turn, read_prompt("".join(f"[[{part.strip()}]]" for part in does.split(";"))))

    def _start_turn(self, request_id: object, params: Frame) -> None:
        thread = self._desk.loaded(params)
        text = _input_text(params)
        if len(text) > INPUT_CHARACTERS_MAX:
            raise texts.input_too_large(len(text))
        client_id = params.get("clientUserMessageId")
        if thread.turn is not None:
            # A second prompt is a steer of the first, without a word.
            thread.turn.said(text, client_id)
            self._stage.reply(request_id, {"turn": thread.turn.view()})
            return
        script = self._stage.script(text)
        words = {step.word: step for step in script}
        if "reject" in words:
            step = words["reject"]
            raise Refused(step.text, step.number("code", texts.INVALID_REQUEST))
        turn = self._make_turn(thread, text)
        self._stage.keep(thread)
        if "early" not in words and "silent-start" not in words:
            self._stage.reply(request_id, {"turn": turn.view()})
        self._announce(turn)
        if "early" in words:
            self._stage.reply(request_id, {"turn": turn.view()})
        turn.said(text, client_id)
        self._play(turn, [step for step in script if step.word not in _BEFORE_THE_TURN])

    def _make_turn(self, thread: Thread, text: str) -> Turn:
        turn = thread.turn = Turn(self._stage.new_id("turn"), text, thread, self._stage)
        thread.turns.append(turn.record)
        self._rollouts.claim(thread.thread_id, self._identity)
        return turn

    def _announce(self, turn: Turn) -> None:
        self._stage.status_changed(turn.thread)
        self._stage.notify(turn.thread, "turn/started", turn=turn.view(id=turn.announced_id))

    def _play(self, turn: Turn, script: list[Step]) -> None:
        turn.due = self._stage.now
        turn.playing = turn.play(script, DIRECTIVES)
        self._stage.later(0.0, lambda: self._advance(turn, None))

    def _advance(self, turn: Turn, answer: Frame | None) -> None:
        """Play on until the turn pauses, waits or ends; a turn that is over is left alone."""
        if turn.thread.turn is not turn or turn.playing is None:
            return
        turn.waits = False
        try:
            pause = turn.playing.send(answer)
        except StopIteration as stop:
            self._end(turn, stop.value)
            return
        if pause is None:
            turn.waits = True
            return
        turn.due += pause
        self._stage.at(turn.due, lambda: self._advance(turn, None))

    def _end(self, turn: Turn, ending: Ending) -> None:
        thread = turn.thread
        if thread.turn is not turn:
            return
        if turn.playing is not None:
            turn.playing.close()
        if ending.status == "interrupted":
            turn.abandon_text()
        else:
            turn.finish_text()
        thread.turn = None
        turn.record |= {"status": ending.status, "error": ending.error}
        self._stage.keep(thread)
        if ending.error is not None:
            turn.notify("error", error=ending.error, willRetry=False)
        self._stage.status_changed(thread)
        if not ending.silent:
            words = turn.last_words if ending.status == "completed" else []
            for _ in range(2 if turn.answers_twice else 1):
                ended = turn.view(items=words, error=ending.error)
                self._stage.notify(thread, "turn/completed", turn=ended)
        for number in turn.asks:
            self._stage.notify(thread, "serverRequest/resolved", requestId=number)
        turn.asks.clear()
        if thread.begun_in is not None and ending.status == "completed":
            parent = thread.begun_in
            parent.complete(
                parent.begin(_activity(f"subagent-completed-{turn.turn_id}", thread, "completed"))
            )
        for seconds in turn.late_seconds:
            self._stage.later(seconds, lambda: turn.text("(late words)"))
        if thread.own_turns and ending.status == "completed":
            self._begin_by_itself(thread, *thread.own_turns.pop(0))
        elif not thread.subscribed:
            self._desk.left_alone(thread)

    def _begin_by_itself(self, thread: Thread, kind: str, lasts_ms: int) -> None:
        turn = self._make_turn(thread, kind)
        if kind == "review":
            turn.announced_id = self._stage.new_id("turn")
            turn.begin({"type": "enteredReviewMode", "id": turn.new_id("review"), "review": "changes"})
        self._announce(turn)
        self._play(turn, read_prompt(f"[[say {kind} of my own]] [[sleep {lasts_ms}]]"))

    def _interrupt(self, request_id: object, params: Frame) -> None:
        turn = self._desk.loaded(params).turn
        if turn is None:
            raise Refused(texts.NO_TURN_TO_INTERRUPT)
        if turn.refused_stops:
            turn.refused_stops -= 1
            turn.announced_id = self._stage.new_id("turn")
        if params["turnId"] != turn.announced_id:
            raise Refused(texts.other_turn_to_interrupt(params["turnId"], turn.announced_id))
        self._stage.reply(request_id, {})
        if turn.cancel_seconds:
            self._stage.later(turn.cancel_seconds, lambda: self._end(turn, Ending("interrupted")))
        elif not turn.ignores_cancel:
            self._end(turn, Ending("interrupted"))

    def _steer(self, request_id: object, params: Frame) -> None:
        turn = self._desk.loaded(params).turn
        if turn is None:
            raise Refused(texts.NO_TURN_TO_STEER)
        if params["expectedTurnId"] != turn.announced_id:
            raise Refused(texts.other_turn_to_steer(params["expectedTurnId"], turn.announced_id))
        self._stage.reply(request_id, {"turnId": turn.turn_id})
        turn.said(_input_text(params), params.get("clientUserMessageId"))


def _activity(item_id: str, child: Thread, kind: str) -> Frame:
    return {
        "type": "subAgentActivity",
        "id": item_id,
        "kind": kind,
        "agentThreadId": child.thread_id,
        "agentPath": child.name,
    }


def _call_of(parent: Turn, prompt: str) -> Frame:
    return {
        "type": "collabAgentToolCall",
        "id": parent.new_id("call"),
        "tool": "spawnAgent",
        "status": "inProgress",
        "senderThreadId": parent.thread.thread_id,
        "receiverThreadIds": [],
        "prompt": prompt,
        "agentsStates": {},
    }


def _input_text(params: Frame) -> str:
    blocks = params.get("input")
    return "\n".join(str(block.get("text", "")) for block in blocks) if isinstance(blocks, list) else ""
