"""`greenroom send`, `respond` and `cancel`: what a person does to a turn that a running daemon goes on with.

Owns which turn and which request is meant when none is named. Nothing here waits for a turn to end.
"""

from functools import partial
from typing import Any

import attrs

from greenroom_client import Client, new_submit_id, prompt, repeat_until_answered
from greenroom_client.contract.models import Answer, Interaction, SessionGetReply, Turn
from runtime.cli import questions
from runtime.cli.commands import about, load, perform_async
from runtime.cli.daemon_access import RUNNING, open_daemon
from runtime.cli.failures import EXIT_ARGUMENTS, CommandFailed, Subject
from runtime.cli.lookup import find_session_detail
from runtime.cli.output import Output
from runtime.config import Flags


@attrs.frozen
class SendRequest:
    """The arguments of `greenroom send`."""

    session_id: str
    workspace_id: str
    prompt: str | None
    """None: it comes from stdin."""
    guide: bool = attrs.field(kw_only=True)


@attrs.frozen
class RespondRequest:
    """The arguments of `greenroom respond`."""

    session_id: str
    workspace_id: str
    answers: tuple[str, ...]
    request_id: str | None = attrs.field(kw_only=True)
    feedback: str | None = attrs.field(kw_only=True)


def send_command(request: SendRequest, flags: Flags, *, as_json: bool) -> int:
    """Sends one prompt, or guidance; 0 once it is durable."""
    output = Output(as_json)
    return perform_async(partial(send_prompt, request, flags, output), output)


def respond_command(request: RespondRequest, flags: Flags, *, as_json: bool) -> int:
    """Answers one request, or lists what is asked."""
    output = Output(as_json)
    return perform_async(partial(respond, request, flags, output), output)


def cancel_command(session_id: str, workspace_id: str, flags: Flags, *, as_json: bool) -> int:
    """Asks the running turn to stop; 0 also when none runs."""
    output = Output(as_json)
    return perform_async(partial(cancel_turn, session_id, workspace_id, flags, output), output)


# --- send -------------------------------------------------------------------------------------------------------


async def send_prompt(request: SendRequest, flags: Flags, output: Output) -> int:
    """The sending within a loop."""
    text = prompt_text(request.prompt, output)
    async with open_daemon(load(flags), RUNNING) as daemon:
        found = await find_session_detail(daemon.client, request.workspace_id, request.session_id)
        turn = await (_guide if request.guide else _send)(daemon.client, found, text)
    if output.as_json:
        output.document({"turn": turn})
        return 0
    session_id, turn_id = turn["agentSessionId"], turn["turnId"]
    verb = "guided" if request.guide else "sent as"
    output.text(f"{verb} turn {turn_id} of session {session_id}")
    output.hint(f"follow it with: greenroom tail {session_id}", style="dim")
    return 0


def prompt_text(given: str | None, output: Output) -> str:
    """The prompt, from stdin when none was given. Raises `CommandFailed` with exit code 2 for an empty one."""
    text = given
    if text is None:
        text = "" if output.stdin.isatty() else output.stdin.read()
    if not text.strip():
        raise CommandFailed("the prompt is empty", 'greenroom run "what to do"', exit_code=EXIT_ARGUMENTS)
    return text


async def _send(client: Client, found: SessionGetReply, text: str) -> Turn:
    session, submit_id = found["session"], new_submit_id()
    with about(subject_of(found)):
        reply = await repeat_until_answered(
            lambda: client.session_send(
                workspace_id=session["workspaceId"],
                agent_session_id=session["agentSessionId"],
                client_submit_id=submit_id,
                content=prompt(text),
            )
        )
    return reply["turn"]


async def _guide(client: Client, found: SessionGetReply, text: str) -> Turn:
    session, submit_id, turn = found["session"], new_submit_id(), found["activeTurn"]
    if turn is None:
        session_id = session["agentSessionId"]
        raise CommandFailed(
            f"session {session_id}: no turn runs that could be guided", "leave out --guide to begin one"
        )
    turn_id = turn["turnId"]
    with about(subject_of(found)):
        reply = await repeat_until_answered(
            lambda: client.turn_guide(
                workspace_id=session["workspaceId"],
                agent_session_id=session["agentSessionId"],
                turn_id=turn_id,
                client_submit_id=submit_id,
                content=prompt(text),
            )
        )
    return reply["turn"]


# --- respond ----------------------------------------------------------------------------------------------------


async def respond(request: RespondRequest, flags: Flags, output: Output) -> int:
    """The answer within a loop."""
    async with open_daemon(load(flags), RUNNING) as daemon:
        found = await find_session_detail(daemon.client, request.workspace_id, request.session_id)
        pending = [one for one in found["interactions"] if one["status"] == "pending"]
        if not request.answers:
            _list_pending(pending, found, output)
            return 0
        interaction = _meant(pending, request, found)
        answer = answer_of(interaction, request.answers, request.feedback)
        with about(subject_of(found)):
            reply = await repeat_until_answered(
                lambda: daemon.client.interaction_respond(
                    workspace_id=interaction["workspaceId"],
                    agent_session_id=interaction["agentSessionId"],
                    turn_id=interaction["turnId"],
                    request_id=interaction["requestId"],
                    answer=answer,
                )
            )
    if output.as_json:
        output.document({"interaction": reply["interaction"]})
    else:
        session_id = found["session"]["agentSessionId"]
        output.text(f"answered request {interaction['requestId']} of session {session_id}")
        output.hint(f"follow it with: greenroom tail {session_id}", style="dim")
    return 0


def answer_of(interaction: Interaction, typed: tuple[str, ...], feedback: str | None) -> Answer:
    """What was typed as an answer of the contract. Raises `CommandFailed` with exit code 2, saying what is offered."""
    offered = "; ".join(line.strip() for line in questions.asked_lines(interaction))
    who = f"request {interaction['requestId']}"
    asked = questions.questions_of(interaction)
    if not asked:
        answer = questions.chosen_option(typed[0], interaction["options"]) if len(typed) == 1 else None
        if answer is None:
            raise CommandFailed(f"{who} takes one of its options: {offered}", exit_code=EXIT_ARGUMENTS)
        if feedback is not None:
            answer["feedback"] = feedback
        return answer
    if len(typed) != len(asked):
        raise CommandFailed(f"{who} takes {len(asked)} answers: {offered}", exit_code=EXIT_ARGUMENTS)
    answers: dict[str, Any] = {}
    for question, line in zip(asked, typed, strict=True):
        found = questions.question_answer(line, question)
        if found is None:
            raise CommandFailed(f"{who} does not take {line!r}: {offered}", exit_code=EXIT_ARGUMENTS)
        answers[question["id"]] = found
    return {"answersByQuestionId": answers}


def _meant(pending: list[Interaction], request: RespondRequest, found: SessionGetReply) -> Interaction:
    session_id = found["session"]["agentSessionId"]
    for interaction in sorted(pending, key=lambda one: one["createdAt"]):
        if request.request_id in (None, interaction["requestId"]):
            return interaction
    named = "" if request.request_id is None else f" under request {request.request_id}"
    raise CommandFailed(
        f"session {session_id} asks nothing{named}", f"see what it does: greenroom show {session_id}"
    )


def _list_pending(pending: list[Interaction], found: SessionGetReply, output: Output) -> None:
    session_id = found["session"]["agentSessionId"]
    if output.as_json:
        output.document({"interactions": pending})
    elif not pending:
        output.hint(f"session {session_id} asks nothing")
    for interaction in () if output.as_json else pending:
        output.text(f"request {interaction['requestId']} of turn {interaction['turnId']}", "yellow")
        for line in questions.asked_lines(interaction):
            output.text(f"  {line}")
        output.hint(
            f"answer with: greenroom respond {session_id} --request {interaction['requestId']} ANSWER"
        )


# --- cancel -----------------------------------------------------------------------------------------------------


async def cancel_turn(session_id: str, workspace_id: str, flags: Flags, output: Output) -> int:
    """The stop within a loop."""
    async with open_daemon(load(flags), RUNNING) as daemon:
        client = daemon.client
        found = await find_session_detail(client, workspace_id, session_id)
        whole_id, turn = found["session"]["agentSessionId"], found["activeTurn"]
        if turn is not None:
            turn_id = turn["turnId"]
            with about(subject_of(found)):
                reply = await repeat_until_answered(
                    lambda: client.turn_cancel(
                        workspace_id=workspace_id, agent_session_id=whole_id, turn_id=turn_id
                    )
                )
            turn = reply["turn"]
    if output.as_json:
        output.document({"turn": turn})
    elif turn is None:
        output.hint(f"session {whole_id}: no turn runs, so there is nothing to stop")
    else:
        output.text(f"stopping turn {turn['turnId']} of session {whole_id}")
    return 0


def subject_of(found: SessionGetReply) -> Subject:
    """What messages say of a session that was found."""
    session = found["session"]
    return Subject(
        session_id=session["agentSessionId"], workspace_id=session["workspaceId"], cwd=session["cwd"]
    )
