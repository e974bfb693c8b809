"""What the scripted app-server does about threads: made, loaded, forked, left, read, and the commands that run in them.

Owns which threads the process holds and who may write to each. Turns within them are `turn_desk`'s.
"""

from runtime.simulation.scripted_codex import texts
from runtime.simulation.scripted_codex.opening import obey_opening
from runtime.simulation.scripted_codex.rollouts import Rollouts
from runtime.simulation.scripted_codex.stage import Handler, Stage
from runtime.simulation.scripted_codex.texts import Frame, Refused
from runtime.simulation.scripted_codex.thread import Thread, asked_settings, from_record


class ThreadDesk:
    """Answers requests about threads."""

    def __init__(self, stage: Stage, rollouts: Rollouts, identity: str, unload_seconds: float) -> None:
        self.threads: dict[str, Thread] = {}
        self._stage = stage
        self._rollouts = rollouts
        self._identity = identity
        self._unload_seconds = unload_seconds

    def handlers(self) -> dict[str, Handler]:
        """By method."""
        return {
            "thread/start": self._start_thread,
            "thread/resume": self._resume_thread,
            "thread/fork": self._fork_thread,
            "thread/unsubscribe": self._unsubscribe,
            "thread/loaded/list": self._loaded,
            "thread/read": self._read_thread,
            "thread/turns/list": self._list_turns,
            "thread/inject_items": self._inject,
            "thread/name/set": self._set_name,
            "thread/backgroundTerminals/list": self._list_commands,
            "thread/backgroundTerminals/terminate": self._terminate_command,
            "thread/backgroundTerminals/clean": self._clean_commands,
        }

    def loaded(self, params: Frame) -> Thread:
        """The thread a request names. Raises Refused."""
        thread_id = params["threadId"]
        thread = self.threads.get(thread_id)
        if thread is None:
            raise Refused(texts.thread_not_found(thread_id))
        return thread

    def left_alone(self, thread: Thread) -> None:
        """Nobody listens to it now: it is let go after a while, if that is so then."""
        self._stage.later(self._unload_seconds, lambda: self._unload(thread))

    def _loaded(self, request_id: object, params: Frame) -> None:
        self._stage.reply(request_id, {"data": list(self.threads)})

    # --- threads ----------------------------------------------------------------------------------------------

    def _open(self, request_id: object, thread: Thread, params: Frame, way: str) -> None:
        """Answer with a thread, in the way that its model's name may ask for."""
        script = self._stage.script(str(params.get("model", "")))
        result = obey_opening(script, way, thread.opened())
        if way == "resume" and not self._rollouts.claim(thread.thread_id, self._identity):
            raise Refused(texts.active_writer(thread.thread_id))
        self.threads[thread.thread_id] = thread
        early = any(step.word == "early" for step in script)
        status = {"name": "toy", "status": "starting", "error": None}
        if early:
            self._stage.notify(thread, "mcpServer/startupStatus/updated", **status)
        if result is not None:
            self._stage.reply(request_id, result)
        if way != "resume":
            self._stage.send({"method": "thread/started", "params": {"thread": thread.view()}})
        if not early:
            self._stage.notify(thread, "mcpServer/startupStatus/updated", **status)

    def _start_thread(self, request_id: object, params: Frame) -> None:
        thread = Thread(self._stage.new_id("thread"), asked_settings(params, None, resumes=False))
        thread.ephemeral = params.get("ephemeral") is True
        self._open(request_id, thread, params, "start")

    def _resume_thread(self, request_id: object, params: Frame) -> None:
        thread_id = params["threadId"]
        thread = self.threads.get(thread_id) or self._from_rollout(thread_id)
        if thread is None or thread.ephemeral or not thread.materialized:
            raise Refused(texts.no_rollout(thread_id))
        thread.settings = asked_settings(params, thread.settings, resumes=True)
        thread.subscribed = True
        self._open(request_id, thread, params, "resume")

    def _fork_thread(self, request_id: object, params: Frame) -> None:
        source_id, ephemeral = params["threadId"], params.get("ephemeral") is True
        source = self.threads.get(source_id) or self._from_rollout(source_id)
        if source is None or source.ephemeral or not source.materialized:
            raise Refused(texts.no_rollout(source_id))
        if ephemeral and params.get("excludeTurns") is not True:
            raise Refused(texts.EPHEMERAL_NEEDS_NO_TURNS)
        turns = [turn for turn in source.turns if turn["status"] != "inProgress"]
        last = params.get("lastTurnId")
        if last is not None:
            ids = [turn["id"] for turn in source.turns]
            if last not in ids:
                raise Refused(texts.unknown_boundary(last))
            if last not in [turn["id"] for turn in turns]:
                raise Refused(texts.running_boundary(last))
            turns = source.turns[: ids.index(last) + 1]
        child = Thread(
            self._stage.new_id("thread"),
            asked_settings(params, source.settings, resumes=False),
            ephemeral=ephemeral,
            forked_from=source_id,
            name=source.name,
            turns=list(turns),
        )
        self._stage.keep(child)
        self._open(request_id, child, params, "fork")

    def _from_rollout(self, thread_id: str) -> Thread | None:
        record = self._rollouts.load(thread_id)
        return None if record is None else from_record(thread_id, record)

    def _unsubscribe(self, request_id: object, params: Frame) -> None:
        thread = self.threads.get(params["threadId"])
        if thread is None:
            self._stage.reply(request_id, {"status": "notLoaded"})
            return
        was, thread.subscribed = thread.subscribed, False
        self._stage.reply(request_id, {"status": "unsubscribed" if was else "notSubscribed"})
        self.left_alone(thread)

    def _unload(self, thread: Thread) -> None:
        """Nobody has wanted it for a while."""
        if thread.subscribed or thread.turn is not None or thread.commands:
            return
        if self.threads.pop(thread.thread_id, None) is not None:
            self._rollouts.release(thread.thread_id, self._identity)
            self._stage.notify(thread, "thread/status/changed", status={"type": "notLoaded"})
            self._stage.notify(thread, "thread/closed")

    def _inject(self, request_id: object, params: Frame) -> None:
        thread = self.loaded(params)
        thread.injected = True
        self._stage.keep(thread)
        self._stage.reply(request_id, {})

    def _read_thread(self, request_id: object, params: Frame) -> None:
        thread = self.threads.get(params["threadId"]) or self._from_rollout(params["threadId"])
        if thread is None:
            raise Refused(texts.thread_not_loaded(params["threadId"]))
        if thread.ephemeral and params.get("includeTurns"):
            raise Refused(texts.ephemeral_unsupported("includeTurns"))
        self._stage.reply(request_id, {"thread": thread.view()})

    def _list_turns(self, request_id: object, params: Frame) -> None:
        thread = self.threads.get(params["threadId"]) or self._from_rollout(params["threadId"])
        if thread is None:
            raise Refused(texts.thread_not_loaded(params["threadId"]))
        if thread.ephemeral:
            raise Refused(texts.ephemeral_unsupported("thread/turns/list"))
        if not thread.materialized:
            raise Refused(texts.not_materialized(thread.thread_id))
        newest_first = thread.turns[::-1][: params.get("limit") or 20]
        self._stage.reply(request_id, {"data": newest_first, "nextCursor": None, "backwardsCursor": None})

    def _set_name(self, request_id: object, params: Frame) -> None:
        thread = self.loaded(params)
        if thread.ephemeral:
            text = f"ephemeral thread does not support metadata updates: {thread.thread_id}"
            raise Refused(text)
        thread.name = str(params["name"])
        self._stage.keep(thread)
        self._stage.reply(request_id, {})
        self._stage.notify(thread, "thread/name/updated", threadName=thread.name)

    # --- commands that run ------------------------------------------------------------------------------------

    def _list_commands(self, request_id: object, params: Frame) -> None:
        commands = [
            {"itemId": item["id"], "processId": process_id, "command": item["command"], "cwd": item["cwd"]}
            for process_id, (_, item) in self.loaded(params).commands.items()
        ]
        self._stage.reply(request_id, {"data": commands, "nextCursor": None})

    def _terminate_command(self, request_id: object, params: Frame) -> None:
        thread = self.loaded(params)
        found = thread.commands.pop(str(params["processId"]), None)
        self._stage.reply(request_id, {"terminated": found is not None})
        if found is not None:
            turn, item = found
            turn.complete(item, status="failed", aggregatedOutput="begun\n", exitCode=-1)

    def _clean_commands(self, request_id: object, params: Frame) -> None:
        thread = self.loaded(params)
        commands, thread.commands = thread.commands, {}
        self._stage.reply(request_id, {})
        for turn, item in commands.values():
            turn.complete(item, status="failed", aggregatedOutput="begun\n", exitCode=-1)
