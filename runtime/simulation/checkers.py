"""The promises of the contract as checks over what is known from outside: history, agents' notes, database, log.

Pure, each one promise, each coded once: simulated runs use them after every crash and at the end, and a test that kills
a real daemon can use them on the same shapes. What one connection shows by itself is checked where it is read
(`link`, `subscription_watch`).
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping

import orjson

from runtime.simulation.agent_notes import AgentNotes
from runtime.simulation.commit_record import CommitRecord
from runtime.simulation.contents import Contents
from runtime.simulation.history import History, Json, SessionName, Violation
from runtime.simulation.subscription_watch import SubscriptionWatch, text_of

_LIFECYCLE = ("session_removed", "session_restored")
"""Changes that show a Session row of their own kind."""
NOT_IN_COMMITS = ("messageVersion", "updatedAt", "runtime")
"""Members of a Session that change without a commit of their own."""


def acknowledged_is_durable(history: History, contents: Contents) -> Iterator[Violation]:
    """Promise 1: what was answered with a result is there, whatever happened since."""
    promise = "acknowledged is durable"
    gone = _meant_to_go(history)
    for request in history.answered("session/create"):
        if request.session in gone:
            continue
        if request.session not in contents.sessions:
            yield Violation(promise, f"session {request.session} of {request.client} is gone")
        turn = request.result.get("turn")
        if turn is not None and (*request.session, turn["turnId"]) not in contents.turns:
            yield Violation(promise, f"first turn {turn['turnId']} of {request.session} is gone")
    for request in history.answered("session/send"):
        turn = contents.turns.get((*request.session, request.result["turn"]["turnId"]))
        if turn is None or turn["clientSubmitId"] != request.params["clientSubmitId"]:
            yield Violation(
                promise, f"{request.params['clientSubmitId']} of {request.client} is gone: {turn}"
            )
        elif not any(
            message["clientSubmitId"] == turn["clientSubmitId"] and message["role"] == "user"
            for name, message in contents.messages.items()
            if name[:2] == request.session
        ):
            yield Violation(promise, f"the prompt of {turn['clientSubmitId']} is gone")
    for request in history.answered("turn/guide"):
        said = [
            message["turnId"]
            for name, message in contents.messages.items()
            if name[:2] == request.session and message["clientSubmitId"] == request.params["clientSubmitId"]
        ]
        if said != [request.params["turnId"]]:
            yield Violation(promise, f"guidance {request.params['clientSubmitId']} is in turns {said}")
    for request in history.answered("turn/cancel"):
        turn = contents.turns.get((*request.session, request.params["turnId"]))
        if turn is None or (turn["cancelRequestedAt"] is None and turn["phase"] != "settled"):
            yield Violation(promise, f"the cancel of turn {request.params['turnId']} is gone: {turn}")
    for request in history.answered("interaction/respond"):
        if contents.deleted(request.session):
            continue
        row = contents.interactions.get(
            (*request.session, request.params["turnId"], request.params["requestId"])
        )
        if row is None or row["status"] != "answered" or not _same_answer(row, request.params["answer"]):
            yield Violation(promise, f"the answer to {request.params['requestId']} is gone: {row}")


def same_submit_same_effect(history: History) -> Iterator[Violation]:
    """Promise 2: a submit id has one turn, whoever asks and however often."""
    turns: dict[tuple[str, str, str], str] = {}
    sessions: dict[tuple[str, str], str] = {}
    for request in history.answered("session/create"):
        claim = (request.session[0], request.params["clientSubmitId"])
        session = request.result["session"]["agentSessionId"]
        if sessions.setdefault(claim, session) != session:
            yield Violation("same submit id, same effect", f"{claim} has {sessions[claim]} and {session}")
    for request in history.answered("session/send"):
        name = (*request.session, request.params["clientSubmitId"])
        turn_id = request.result["turn"]["turnId"]
        if turns.setdefault(name, turn_id) != turn_id:
            yield Violation("same submit id, same effect", f"{name} has turns {turns[name]} and {turn_id}")


def told_at_most_once(notes: AgentNotes) -> Iterator[Violation]:
    """Promise 3: no agent is ever given the same prompt again by itself."""
    for submit_id, count in Counter(prompt.submit_id for prompt in notes.prompts).items():
        if count > 1:
            yield Violation("a submit id is dispatched at most once", f"{submit_id} was told {count} times")


def told_only_what_is_marked(notes: AgentNotes, contents: Contents) -> Iterator[Violation]:
    """Promises 2 and 5: a prompt an agent has was durable and marked as being dispatched before."""
    turns = {turn["clientSubmitId"]: turn for turn in contents.turns.values()}
    for prompt in notes.prompts:
        turn = turns.get(prompt.submit_id)
        if turn is None:
            yield Violation("a prompt is durable before a provider sees it", f"{prompt.submit_id} is unknown")
        elif turn["delivery"] == "not_dispatched":
            yield Violation(
                "a dispatch is marked before it is told", f"{prompt.submit_id} is {turn['delivery']}"
            )


def answered_once(history: History, notes: AgentNotes) -> Iterator[Violation]:
    """The first valid answer wins, and an agent is given one."""
    for (pid, request_id), count in Counter(
        (answer.pid, answer.request_id) for answer in notes.answers
    ).items():
        if count > 1:
            yield Violation("an agent is answered once", f"{request_id} of process {pid}: {count} times")
    accepted: dict[tuple[str, ...], Json] = {}
    for request in history.answered("interaction/respond"):
        name = (*request.session, request.params["turnId"], request.params["requestId"])
        answer = request.params["answer"]
        if accepted.setdefault(name, answer) != answer:
            yield Violation("the first answer wins", f"{name} took {accepted[name]} and {answer}")


def nothing_is_open(contents: Contents, when: str) -> Iterator[Violation]:
    """Promise 5: no turn runs, nothing streams and nothing is asked."""
    promise = f"nothing is open {when}"
    for session in contents.sessions.values():
        if session["activeTurnId"] is not None:
            yield Violation(promise, f"{_name('session', session)} has active turn {session['activeTurnId']}")
    for turn in contents.turns.values():
        if turn["phase"] != "settled" or turn["outcome"] is None or turn["delivery"] == "dispatching":
            state = f"{turn['phase']}, {turn['outcome']}, {turn['delivery']}"
            yield Violation(promise, f"{_name('turn', turn)} is {state}")
    for message in contents.messages.values():
        if message["status"] == "streaming":
            yield Violation(promise, f"{_name('message', message)} streams")
    for row in contents.interactions.values():
        if row["status"] == "pending" or row["answerDelivery"] == "dispatching":
            yield Violation(
                promise, f"{_name('interaction', row)} is {row['status']}, {row['answerDelivery']}"
            )


def streamed_text_survives(
    written_behind: Mapping[tuple[str, str, str], str], contents: Contents
) -> Iterator[Violation]:
    """Promise 4: text that anybody had heard `writeBehindMs` before the end of a life is there after it."""
    for name, text in written_behind.items():
        row = contents.messages.get(name)
        kept = None if row is None else text_of(row)[0]
        if kept is None or not kept.startswith(text):
            yield Violation("streamed text survives", f"{name} was heard with {text!r}, kept is {kept!r}")


def rows_agree_with_log(contents: Contents, log: CommitRecord) -> Iterator[Violation]:
    """Rows and the log that published them are written together, so the newest row of each is the same."""
    newest: dict[tuple[str, ...], Json] = {}
    complete = log.uncertain_up_to == 0
    for _, logged in sorted(log.entries.items()):
        event = orjson.loads(b"{" + logged.body.removesuffix(b"}"))
        # A commit too large for a frame is published as a number alone.
        complete = complete and "changes" in event
        for change in event.get("changes", ()):
            row = change["row"]
            kind = change["type"]
            newest[_name("session" if kind in _LIFECYCLE else kind, row)] = row
    tables = (
        ("session", contents.sessions),
        ("turn", contents.turns),
        ("message", contents.messages),
        ("interaction", contents.interactions),
    )
    for kind, rows in tables:
        for row in rows.values():
            name = _name(kind, row)
            published = newest.get(name)
            if published is None and complete:
                yield Violation("rows and log agree", f"{name} was never published")
            elif published is None or (kind == "message" and row["status"] == "streaming"):
                continue  # its text is written behind
            elif complete and (differences := _differences(published, row)):
                yield Violation("rows and log agree", f"{name}: {differences}")


def roots_settle_last(log: CommitRecord) -> Iterator[Violation]:
    """RT-134: a root's turn does not complete while a turn of a sub-agent that it began is open."""
    root_turns: dict[SessionName, tuple[SessionName, str]] = {}
    opened: dict[tuple[SessionName, str], SessionName] = {}
    for number, logged in sorted(log.entries.items()):
        event = orjson.loads(b"{" + logged.body.removesuffix(b"}"))
        for change in event.get("changes", ()):
            row = change["row"]
            name = (row["workspaceId"], row["agentSessionId"])
            if change["type"] == "session" and row["parent"] is not None:
                parent = row["parent"]
                root_turns[name] = (name[0], parent["rootAgentSessionId"]), parent["rootTurnId"]
            if change["type"] != "turn":
                continue
            if row["phase"] != "settled":
                opened[name, row["turnId"]] = name
                continue
            opened.pop((name, row["turnId"]), None)
            if row["outcome"] == "completed" and any(
                root_turns.get(other) == (name, row["turnId"]) and turn_id != row["turnId"]
                for other, turn_id in opened
            ):
                yield Violation("a root settles last", f"{name} in commit {number}")


def published_is_durable(watches: Iterable[SubscriptionWatch], log: CommitRecord) -> Iterator[Violation]:
    """Promise 1: a commit that anybody was shown is in the log for ever, under its number and unchanged."""
    for watch in watches:
        for commit_seq, body in watch.seen.items():
            logged = log.entries.get(commit_seq)
            if logged is not None and logged.body.decode() != body:
                yield Violation(
                    "a published commit is durable", f"{watch.label}: {commit_seq} is another one now"
                )
            elif log.is_gone(commit_seq):
                yield Violation("a published commit is durable", f"{watch.label}: {commit_seq} is gone")


def nothing_is_missed(watches: Iterable[SubscriptionWatch], log: CommitRecord) -> Iterator[Violation]:
    """Between its beginning and the last number it was told, a subscription got every commit it follows."""
    for watch in watches:
        if watch.skipped:
            continue
        expected = {
            number
            for number, logged in log.entries.items()
            if watch.base < number <= watch.last
            and watch.follows(logged.workspace_id, logged.root_agent_session_id)
        }
        missed = sorted(expected - watch.seen.keys())
        foreign = sorted(number for number in watch.seen.keys() - expected if number in log.entries)
        if missed:
            yield Violation("no commit is missed", f"{watch.label}: {missed} after {watch.base}")
        if foreign:
            yield Violation("only what was asked for is sent", f"{watch.label}: {foreign}")


def _meant_to_go(history: History) -> set[SessionName]:
    """Sessions whose purge was asked for, with whatever outcome: they may be gone."""
    return {
        (request.params.get("workspaceId", ""), name)
        for request in history.requests
        if request.method == "session/purge"
        for name in request.params["agentSessionIds"]
    }


def _same_answer(row: Json, answer: Json) -> bool:
    return row["answer"] is not None and row["answer"].get("optionId") == answer.get("optionId")


def _name(kind: str, row: Json) -> tuple[str, ...]:
    own = {
        "session": (),
        "turn": ("turnId",),
        "message": ("messageId",),
        "interaction": ("turnId", "requestId"),
    }
    return kind, row["workspaceId"], row["agentSessionId"], *(row[key] for key in own.get(kind, ()))


def _differences(published: Json, row: Json) -> dict[str, tuple[object, object]]:
    return {
        key: (published.get(key), value)
        for key, value in row.items()
        if key not in NOT_IN_COMMITS and published.get(key) != value
    }
