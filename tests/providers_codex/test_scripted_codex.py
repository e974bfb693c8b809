"""The scripted app-server keeps to what the real one was seen to do: its refusals, its orders, what it takes over."""

import json
from pathlib import Path
from typing import Any

import pytest

from runtime.providers.demo.actions import Action, Exit, WakeAt, Write
from runtime.simulation.scripted_codex import texts
from runtime.simulation.scripted_codex.rollouts import MemoryRollouts
from runtime.simulation.scripted_codex.server import CodexSettings, ScriptedCodex

PAGE = Path(__file__).parents[2] / "docs" / "providers" / "codex-app-server.md"
TOLD_OF_TURN = ("turn/started", "turn/completed")


class Client:
    """Talks to one process on a clock of its own."""

    def __init__(self, rollouts: MemoryRollouts, identity: str = "one", **settings: Any) -> None:
        self.server = ScriptedCodex(CodexSettings(identity=identity, **settings), rollouts)
        self.now = 0.0
        self.wake_at: float | None = None
        self.frames: list[dict[str, Any]] = []
        self.actions: list[Action] = []
        self._ids = 0

    def call(self, method: str, **params: Any) -> dict[str, Any]:
        """The answer to a request, as far as it came at once."""
        self._ids += 1
        self.say({"id": self._ids, "method": method, "params": params})
        return next(
            (frame for frame in self.frames if frame.get("id") == self._ids and "method" not in frame), {}
        )

    def say(self, message: object) -> None:
        self._perform(self.server.receive(json.dumps(message).encode(), self.now))

    def run(self, seconds: float = 1.0) -> "Client":
        until = self.now + seconds
        while self.wake_at is not None and self.wake_at <= until:
            self.now = max(self.now, self.wake_at)
            self._perform(self.server.wake(self.now))
        self.now = until
        return self

    def ready(self) -> "Client":
        self.call("initialize", clientInfo={"name": "greenroom"}, capabilities={"experimentalApi": True})
        return self

    def opened(self, **params: Any) -> str:
        return str(self.call("thread/start", cwd="/w", **params)["result"]["thread"]["id"])

    def prompt(self, thread_id: str, text: str) -> str:
        answer = self.call("turn/start", threadId=thread_id, input=[{"type": "text", "text": text}])
        return str(answer["result"]["turn"]["id"])

    def refusal(self, method: str, **params: Any) -> str:
        return str(self.call(method, **params)["error"]["message"])

    def told(self) -> list[str]:
        """What came, by method, answers as `answer`."""
        return [frame.get("method", "answer") for frame in self.frames]

    def _perform(self, actions: list[Action]) -> None:
        self.wake_at = None
        self.actions += actions
        for action in actions:
            if isinstance(action, Write):
                self.frames.append(json.loads(action.data))
            elif isinstance(action, WakeAt):
                self.wake_at = action.when


@pytest.fixture
def rollouts() -> MemoryRollouts:
    return MemoryRollouts()


@pytest.fixture
def client(rollouts: MemoryRollouts) -> Client:
    return Client(rollouts).ready()


@pytest.mark.parametrize(
    "text",
    [
        texts.NOT_INITIALIZED,
        texts.ALREADY_INITIALIZED,
        texts.unknown_method("X", ("initialize",)),
        texts.missing_field("threadId"),
        texts.needs_experimental("thread/settings/update"),
        texts.thread_not_found("ID"),
        texts.thread_not_loaded("ID"),
        texts.no_rollout("ID"),
        texts.active_writer("ID"),
        texts.NO_TURN_TO_INTERRUPT,
        texts.other_turn_to_interrupt("X", "Y"),
        texts.NO_TURN_TO_STEER,
        texts.other_turn_to_steer("X", "Y"),
        texts.unknown_boundary("ID"),
        texts.running_boundary("ID"),
        texts.EPHEMERAL_NEEDS_NO_TURNS,
        texts.ephemeral_unsupported("..."),
        texts.SIGNED_OUT,
    ],
)
def test_it_refuses_in_the_words_the_real_one_was_seen_to_use(text: str) -> None:
    assert text.rstrip("`") in PAGE.read_text(encoding="utf-8")


def test_it_answers_only_what_is_a_request(rollouts: MemoryRollouts) -> None:
    client = Client(rollouts)
    for said in ("text", [], {}, {"id": None, "method": "initialize"}, {"id": 1.5, "method": "initialize"}):
        client.say(said)
    assert client.frames == []
    assert client.refusal("thread/start") == texts.NOT_INITIALIZED
    client.ready()
    assert client.refusal("initialize") == texts.ALREADY_INITIALIZED
    assert client.refusal("no/such").startswith("Invalid request: unknown variant `no/such`, expected one of")
    assert client.refusal("thread/read") == texts.missing_field("threadId")


def test_commands_are_listed_only_to_who_asked_for_experiments(rollouts: MemoryRollouts) -> None:
    client = Client(rollouts)
    client.call("initialize", clientInfo={"name": "x"})
    method = "thread/backgroundTerminals/list"
    assert client.refusal(method, threadId="thread-x") == texts.needs_experimental(method)


def test_threads_that_are_not_there_are_refused_in_the_words_of_each_method(client: Client) -> None:
    gone = {"threadId": "thread-gone"}
    assert client.refusal("turn/start", **gone, input=[]) == texts.thread_not_found("thread-gone")
    assert client.refusal("turn/interrupt", **gone, turnId="x") == texts.thread_not_found("thread-gone")
    assert client.refusal("thread/read", **gone) == texts.thread_not_loaded("thread-gone")
    assert client.refusal("thread/resume", **gone) == texts.no_rollout("thread-gone")
    assert client.refusal("thread/fork", **gone) == texts.no_rollout("thread-gone")
    assert client.refusal("thread/resume", threadId="a/b").startswith("invalid session id")
    assert client.call("thread/unsubscribe", **gone)["result"] == {"status": "notLoaded"}


def test_a_second_prompt_is_a_steer_and_a_wrong_turn_is_named(client: Client) -> None:
    thread = client.opened()
    assert client.refusal("turn/interrupt", threadId=thread, turnId="x") == texts.NO_TURN_TO_INTERRUPT
    steer = {"threadId": thread, "expectedTurnId": "x", "input": []}
    assert client.refusal("turn/steer", **steer) == texts.NO_TURN_TO_STEER
    turn = client.prompt(thread, "[[say half]] [[hang]]")
    client.run()
    assert client.prompt(thread, "more") == turn
    assert client.refusal("turn/interrupt", threadId=thread, turnId="x") == texts.other_turn_to_interrupt(
        "x", turn
    )
    assert client.refusal("turn/steer", **steer) == texts.other_turn_to_steer("x", turn)
    client.call("turn/interrupt", threadId=thread, turnId=turn)
    assert [name for name in client.told() if name in TOLD_OF_TURN] == ["turn/started", "turn/completed"]
    (kept,) = client.call("thread/turns/list", threadId=thread)["result"]["data"]
    assert kept["status"] == "interrupted"
    assert [item["type"] for item in kept["items"]] == ["userMessage", "userMessage"], (
        "half a text is not kept"
    )


def test_a_fork_takes_over_unevenly_and_knows_its_boundary(client: Client) -> None:
    thread = client.opened(sandbox="workspace-write", approvalPolicy="never", model="m", ephemeral=False)
    fork = {"threadId": thread, "ephemeral": True}
    assert client.refusal("thread/fork", **fork, excludeTurns=True) == texts.no_rollout(thread)
    turn = client.prompt(thread, "[[hang]]")
    assert client.refusal("thread/fork", **fork) == texts.EPHEMERAL_NEEDS_NO_TURNS
    assert client.refusal("thread/fork", threadId=thread, lastTurnId="x") == texts.unknown_boundary("x")
    assert client.refusal("thread/fork", threadId=thread, lastTurnId=turn) == texts.running_boundary(turn)
    side = client.call("thread/fork", **fork, excludeTurns=True)["result"]
    assert (side["thread"]["forkedFromId"], side["thread"]["ephemeral"], side["thread"]["path"]) == (
        thread,
        True,
        None,
    )
    assert (side["approvalPolicy"], side["sandbox"]["type"], side["model"]) == (
        "never",
        "readOnly",
        "gpt-5.5",
    )
    of_side = side["thread"]["id"]
    assert client.refusal("thread/fork", threadId=of_side) == texts.no_rollout(of_side)
    assert client.refusal("thread/turns/list", threadId=of_side) == texts.ephemeral_unsupported(
        "thread/turns/list"
    )


def test_a_thread_has_one_writer_and_outlives_its_process(client: Client, rollouts: MemoryRollouts) -> None:
    empty = client.opened()
    thread = client.opened()
    client.prompt(thread, "[[say one]] [[hang]]")
    client.run()
    other = Client(rollouts, "two").ready()
    assert other.refusal("thread/resume", threadId=thread) == texts.active_writer(thread)
    client.server.ended()
    assert other.refusal("thread/resume", threadId=empty) == texts.no_rollout(empty)
    assert other.call("thread/resume", threadId=thread)["result"]["thread"]["status"] == {"type": "idle"}
    (kept,) = other.call("thread/turns/list", threadId=thread)["result"]["data"]
    assert kept["status"] == "interrupted"
    other.prompt(thread, "[[recall]]")
    other.run()
    assert "I remember 1" in str(other.frames)


@pytest.mark.parametrize(
    ("words", "order"), [("", ["answer", "turn/started"]), ("[[early]]", ["turn/started", "answer"])]
)
def test_the_answer_to_a_prompt_may_come_after_its_turn_began(
    client: Client, words: str, order: list[str]
) -> None:
    thread = client.opened()
    client.frames.clear()
    client.prompt(thread, f"{words} [[say hi]]")
    assert [name for name in client.told() if name in ("answer", "turn/started")] == order


def test_a_notice_of_a_child_may_come_before_its_fork_is_answered(client: Client) -> None:
    thread = client.opened()
    client.prompt(thread, "[[say hi]]")
    client.run().frames.clear()
    client.call("thread/fork", threadId=thread, ephemeral=True, excludeTurns=True, model="[[early]]")
    assert client.told() == ["mcpServer/startupStatus/updated", "answer", "thread/started"]


def test_a_thread_nobody_listens_to_is_let_go_after_a_while(client: Client) -> None:
    thread = client.opened()
    client.prompt(thread, "[[say hi]]")
    client.run()
    assert client.call("thread/unsubscribe", threadId=thread)["result"] == {"status": "unsubscribed"}
    assert client.call("thread/unsubscribe", threadId=thread)["result"] == {"status": "notSubscribed"}
    client.run(59)
    assert client.call("thread/loaded/list")["result"]["data"] == [thread]
    client.run(2)
    assert client.told()[-1] == "thread/closed"
    assert client.call("thread/loaded/list")["result"]["data"] == []
    assert client.call("thread/resume", threadId=thread)["result"]["thread"]["id"] == thread


def test_the_end_of_its_input_ends_it_without_a_farewell(client: Client) -> None:
    thread = client.opened()
    client.prompt(thread, "[[hang]]")
    client.actions.clear()
    assert client.server.end_of_input(client.now) == [Exit(0)]
