"""What a user calls a session and where it stands in lists: title and pin, and who owns the title.

A title of the user's stands for ever over a provider's; a provider's fills only what no user named (RT-047..RT-050).
Neither asks a provider nor waits for one, whatever the session is doing.
"""

import attrs

from runtime.lifecycle import effects as fx
from runtime.lifecycle import inputs as i
from runtime.lifecycle.admission import edit_refusal
from runtime.lifecycle.state import Step
from store.canonical.session import TITLE_CHARACTERS_MAX, TitleSource


def rename(step: Step, command: i.RenameSession) -> None:
    """The user's title, or none: then the provider may give one again (`contract §4`)."""
    refusal = edit_refusal(step)
    if refusal is not None:
        step.do(fx.Refuse(command.reply, refusal))
        return
    title = command.title or None
    source: TitleSource = "user" if title else "none"
    session = step.state.session
    step.change(title_locked=title is not None)
    if (title, source) != (session.title, session.title_source):
        step.set_session(attrs.evolve(session, title=title, title_source=source))
    step.do(fx.ReplySession(command.reply, step.state.session))


def pin(step: Step, command: i.PinSession) -> None:
    """Pinned sessions keep the order in which they were pinned: pinning again moves nothing (ST-042)."""
    refusal = edit_refusal(step)
    if refusal is not None:
        step.do(fx.Refuse(command.reply, refusal))
        return
    session = step.state.session
    if session.pinned != command.pinned:
        step.set_session(attrs.evolve(session, pinned=command.pinned))
    step.do(fx.ReplySession(command.reply, step.state.session))


def provider_title(step: Step, title: str) -> None:
    """A provider's idea of a title, cut to the longest there may be."""
    session = step.state.session
    title = title[:TITLE_CHARACTERS_MAX]
    if not step.state.title_locked and session.title_source != "user" and title and title != session.title:
        step.set_session(attrs.evolve(session, title=title, title_source="provider"))
