"""The commands about sessions and their arguments. Each hands over to a module of its own, imported late."""

from typing import Annotated

from cyclopts import App, Parameter

from runtime.cli.words import (
    HERE,
    KEEPING,
    TALKING,
    Json,
    JsonLines,
    Place,
    SessionId,
    SessionIds,
    Workspace,
    example,
)


def run(
    prompt: Annotated[
        str | None, Parameter(help="What the agent is to do; read from stdin when left out.")
    ] = None,
    /,
    *,
    interactive: Annotated[
        bool, Parameter(name=["--interactive", "-i"], negative="", help="A conversation at the terminal.")
    ] = False,
    target: Annotated[str | None, Parameter(help="Which agent; the first enabled one by default.")] = None,
    cwd: Annotated[str | None, Parameter(help="Where it works; a directory of its own by default.")] = None,
    project: Annotated[
        str | None, Parameter(help="The project it belongs to, and works in without --cwd.")
    ] = None,
    worktree: Annotated[
        bool,
        Parameter(negative="", help="In a git checkout of its own, of the project or else of --cwd or here."),
    ] = False,
    session: Annotated[str | None, Parameter(help="Go on with this session.")] = None,
    workspace: Workspace = "default",
    place: Place = HERE,
    json: JsonLines = False,
) -> int:
    """Give an agent one prompt and follow it to its end, or hold a conversation. Exit code 1 when the turn did not complete."""
    from runtime.cli.run_command import RunRequest, run_command

    request = RunRequest(
        prompt, target, cwd, session, workspace_id=workspace, project=project, worktree=worktree
    )
    if interactive:
        from runtime.cli.chat.command import chat_command

        return chat_command(request, place.flags(), as_json=json)
    return run_command(request, place.flags(), as_json=json)


def send(
    session: SessionId,
    prompt: Annotated[
        str | None, Parameter(help="What the agent is to do; read from stdin when left out.")
    ] = None,
    /,
    *,
    guide: Annotated[
        bool, Parameter(negative="", help="Say it within the turn that runs, in place of a turn of its own.")
    ] = False,
    workspace: Workspace = "default",
    place: Place = HERE,
    json: Json = False,
) -> int:
    """Give a session a prompt and leave; the daemon goes on with it."""
    from runtime.cli.turn_commands import SendRequest, send_command

    request = SendRequest(session, workspace, prompt, guide=guide)
    return send_command(request, place.flags(), as_json=json)


def respond(
    session: SessionId,
    /,
    *answers: Annotated[
        str,
        Parameter(help="An option by number, label or id; one for each question. Without: what is asked."),
    ],
    request: Annotated[
        str | None, Parameter(help="Which request, when several wait; the oldest one by default.")
    ] = None,
    feedback: Annotated[
        str | None, Parameter(help="What to tell the agent with an answer that refuses once.")
    ] = None,
    workspace: Workspace = "default",
    place: Place = HERE,
    json: Json = False,
) -> int:
    """Answer what an agent asks: an approval, a plan or questions."""
    from runtime.cli.turn_commands import RespondRequest, respond_command

    asked = RespondRequest(session, workspace, answers, request_id=request, feedback=feedback)
    return respond_command(asked, place.flags(), as_json=json)


def cancel(
    session: SessionId, /, *, workspace: Workspace = "default", place: Place = HERE, json: Json = False
) -> int:
    """Stop the turn that runs in a session."""
    from runtime.cli.turn_commands import cancel_command

    return cancel_command(session, workspace, place.flags(), as_json=json)


def side(
    session: SessionId,
    question: Annotated[str | None, Parameter(help="What to ask; read from stdin when left out.")] = None,
    /,
    *,
    workspace: Workspace = "default",
    place: Place = HERE,
    json: JsonLines = False,
) -> int:
    """Ask something beside a session, in the middle of its turn too; it goes on as if nothing had been asked."""
    from runtime.cli.side_command import SideRequest, side_command

    return side_command(SideRequest(session, question, workspace), place.flags(), as_json=json)


def tail(
    session: Annotated[
        str | None, Parameter(help="One session, by its id or its beginning; all of the workspace without.")
    ] = None,
    /,
    *,
    once: Annotated[
        bool, Parameter(negative="", help="End with the turn that runs now; at once when there is none.")
    ] = False,
    workspace: Workspace = "default",
    place: Place = HERE,
    json: JsonLines = False,
) -> int:
    """Follow a session, or a whole workspace, until Ctrl-C. Stops nothing and answers nothing."""
    from runtime.cli.tail_command import TailRequest, tail_command

    return tail_command(TailRequest(session, workspace, once=once), place.flags(), as_json=json)


def sessions(
    *,
    deleted: Annotated[
        bool, Parameter(negative="", help="Those that were deleted and can be had back.")
    ] = False,
    target: Annotated[str | None, Parameter(help="Only those of this agent.")] = None,
    active: Annotated[bool, Parameter(negative="", help="Only those in which a turn runs.")] = False,
    workspace: Annotated[
        str, Parameter(env_var="GREENROOM_WORKSPACE", help="The workspace to list.")
    ] = "default",
    place: Place = HERE,
    json: Json = False,
) -> int:
    """List the sessions of a workspace, pinned ones first."""
    from runtime.cli.session_commands import ListRequest, sessions_command

    request = ListRequest(
        workspace_id=workspace, deleted=deleted, target_id=target, active=True if active else None
    )
    return sessions_command(request, place.flags(), as_json=json)


def search(
    query: Annotated[str, Parameter(help="Words; one of three letters or more finds what begins with it.")],
    /,
    *,
    workspace: Workspace = "default",
    place: Place = HERE,
    json: Json = False,
) -> int:
    """Find sessions by words of their titles, prompts and answers."""
    from runtime.cli.session_commands import search_command

    return search_command(query, workspace, place.flags(), as_json=json)


def show(
    session: SessionId,
    /,
    *,
    workspace: Workspace = "default",
    newest: Annotated[int, Parameter(help="How many messages at most, the newest ones.")] = 500,
    place: Place = HERE,
    json: Json = False,
) -> int:
    """Show a session: its transcript, its turns, and what waits for an answer."""
    from runtime.cli.session_commands import show_command

    return show_command(session, workspace, place.flags(), newest=max(1, newest), as_json=json)


def rename(
    session: SessionId,
    title: Annotated[str, Parameter(help="The new title; an empty one takes it away.")],
    /,
    *,
    workspace: Workspace = "default",
    place: Place = HERE,
    json: Json = False,
) -> int:
    """Give a session another title."""
    from runtime.cli.change_commands import rename_command

    return rename_command(session, title, workspace, place.flags(), as_json=json)


def pin(
    session: SessionId, /, *, workspace: Workspace = "default", place: Place = HERE, json: Json = False
) -> int:
    """List a session before the others."""
    from runtime.cli.change_commands import pin_command

    return pin_command(session, workspace, place.flags(), pinned=True, as_json=json)


def unpin(
    session: SessionId, /, *, workspace: Workspace = "default", place: Place = HERE, json: Json = False
) -> int:
    """List a session at its place again."""
    from runtime.cli.change_commands import pin_command

    return pin_command(session, workspace, place.flags(), pinned=False, as_json=json)


def change_settings(
    session: SessionId,
    /,
    *changes: Annotated[
        str, Parameter(help="KEY=VALUE, or KEY= to leave it to the agent. Without: what there is to set.")
    ],
    workspace: Workspace = "default",
    place: Place = HERE,
    json: Json = False,
) -> int:
    """Show or change the settings of a session, such as its model."""
    from runtime.cli.change_commands import set_command

    return set_command(session, changes, workspace, place.flags(), as_json=json)


def delete(
    *sessions: SessionIds, workspace: Workspace = "default", place: Place = HERE, json: Json = False
) -> int:
    """Delete sessions; what runs in them is stopped first. For a while they can be had back."""
    from runtime.cli.change_commands import delete_command

    return delete_command(sessions, workspace, place.flags(), as_json=json)


def undelete(
    *sessions: SessionIds, workspace: Workspace = "default", place: Place = HERE, json: Json = False
) -> int:
    """Have deleted sessions back, as they were."""
    from runtime.cli.change_commands import undelete_command

    return undelete_command(sessions, workspace, place.flags(), as_json=json)


def add_session_commands(application: App) -> None:
    """Makes them commands of the application, in the order of its help."""
    add = application.command
    add(
        run,
        group=TALKING,
        help_epilogue=example('run "tidy up the tests"', "run -i --target codex --cwd ."),
    )
    add(send, group=TALKING, help_epilogue=example('send 01a22df4 "and now the docs"'))
    add(tail, group=TALKING, help_epilogue=example("tail 01a22df4", "tail --json"))
    add(side, group=TALKING, help_epilogue=example('side 01a22df4 "what is this test for?"'))
    add(respond, group=TALKING, help_epilogue=example("respond 01a22df4", "respond 01a22df4 1"))
    add(cancel, group=TALKING, help_epilogue=example("cancel 01a22df4"))
    add(sessions, group=KEEPING, help_epilogue=example("sessions", "sessions --deleted"))
    add(show, group=KEEPING, help_epilogue=example("show 01a22df4 --newest 20"))
    add(search, group=KEEPING, help_epilogue=example('search "flaky test"'))
    add(rename, group=KEEPING, help_epilogue=example('rename 01a22df4 "Flaky tests"'))
    add(pin, group=KEEPING, help_epilogue=example("pin 01a22df4"))
    add(unpin, group=KEEPING, help_epilogue=example("unpin 01a22df4"))
    add(
        change_settings,
        name="set",
        group=KEEPING,
        help_epilogue=example("set 01a22df4", "set 01a22df4 model=demo-large"),
    )
    add(delete, group=KEEPING, help_epilogue=example("delete 01a22df4"))
    add(undelete, group=KEEPING, help_epilogue=example("undelete 01a22df4"))
