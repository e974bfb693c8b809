"""The one lane in which a session's settings change: one change after the other, each with an answer (`contract §3`).

What a live conversation takes at once is asked of it first and stored only when it agrees; everything else is stored at
once and goes along with the next turn or the next opening. A prompt waits for the changes before it. Whatever ends the
link, the time or the session answers those who wait (`architecture rule 16`).
"""

import attrs

from runtime.lifecycle import effects as fx
from runtime.lifecycle import inputs as i
from runtime.lifecycle import settings
from runtime.lifecycle.admission import edit_refusal
from runtime.lifecycle.inputs import Timer
from runtime.lifecycle.state import SettingsChange, Step
from runtime.providers import normalized as n
from runtime.providers.port import ApplySettings
from runtime.refusal import Refusal
from store.canonical.common import Settings, TurnError


def update(step: Step, command: i.UpdateSettings) -> None:
    """Queue a change behind those under way; `advance` takes it up, in this decision if nothing is in its way."""
    refusal = edit_refusal(step) or step.context.target_refusal
    if refusal is not None:
        step.do(fx.Refuse(command.reply, refusal))
        return
    change = SettingsChange(step.context.new_id(), command.reply, command.settings)
    step.change(settings_lane=(*step.state.settings_lane, change))
    advance(step)
    if change.update_id in {waiting.update_id for waiting in step.state.settings_lane}:
        timer = Timer("settings", update_id=change.update_id)
        step.do(fx.ArmTimer(timer, step.context.policy.settings_timeout_seconds))


def advance(step: Step) -> None:
    """Carry out what can be, in order, up to the first change that has to wait for its provider."""
    while step.state.settings_lane and _carried_out(step, step.state.settings_lane[0]):
        pass


def applied(step: Step, event: n.SettingsApplied) -> None:
    """The provider took the change: it is stored. A late word of it is a fact about what holds (RT-049)."""
    change = _in_flight(step)
    if change is not None and change.update_id == event.update_id:
        _leave_lane(step, change)
        taken = {key: value for key, value in (change.asked or {}).items() if value is not None}
        step.change(held=dict(step.state.held) | taken)
        _store(step, change)
        _report(step, event.settings)
        step.do(fx.ReplySession(change.reply, step.state.session))
    else:
        _late(step, event.update_id)
        _report(step, event.settings)


def refused(step: Step, event: n.SettingsRefused) -> None:
    """The provider did not take it: nothing of the change is stored."""
    change = _in_flight(step)
    if change is None or change.update_id != event.update_id:
        _late(step, event.update_id)
    else:
        details = {"key": event.key} if event.key is not None else {}
        _refuse(step, change, Refusal(event.error.code, delivery="rejected", details=details))
    if event.settings is not None:
        _report(step, event.settings)


def reported(step: Step, event: n.SettingsReported) -> None:
    """The provider says what holds, unasked."""
    _report(step, event.settings)


def opened(step: Step, told: Settings | None) -> None:
    """The conversation is open with what was chosen, or with what the provider says instead."""
    if told is not None:
        _report(step, told)


def timed_out(step: Step, update_id: str) -> None:
    """Its time is over. What was asked of the provider may have taken effect; what it then says of it is a fact."""
    for change in step.state.settings_lane:
        if change.update_id == update_id:
            refusal = Refusal("provider.timeout")
            if change.asked is not None:
                refusal = attrs.evolve(refusal, delivery="unknown")
                unsure = {**step.state.unsure_settings, update_id: frozenset(change.asked)}
                step.change(unsure_settings=unsure)
            _refuse(step, change, refusal)


def link_lost(step: Step) -> None:
    """Nobody answers any more what was asked on this link. Changes behind it go on without one."""
    step.change(held={}, unsure_settings={})
    change = _in_flight(step)
    if change is not None:
        _refuse(step, change, Refusal("provider.lost", delivery="unknown"))


def start_failed(step: Step, error: TurnError) -> None:
    """The runtime that these waited for did not come: an error, never a silent nothing (RT-043)."""
    refuse_all(step, Refusal(error.code, retry_after_ms=error.retry_after_ms))


def refuse_all(step: Step, refusal: Refusal) -> None:
    """The session takes no changes any more."""
    for change in step.state.settings_lane:
        _refuse(step, change, refusal)


def _carried_out(step: Step, change: SettingsChange) -> bool:
    """Whether the change has its answer; otherwise it waits for its provider, asked or about to be."""
    if change.asked is not None:
        return False
    state, known, offered = step.state, step.context.known_settings, step.context.offered_efforts
    wanted = settings.with_dependents(state.session, change.settings, known, offered, launched=state.launched)
    if wanted != change.settings:
        change = attrs.evolve(change, settings=wanted)
        step.change(settings_lane=(change, *state.settings_lane[1:]))
        state = step.state
    refusal = settings.refusal_of(state.session, change.settings, known, launched=state.launched)
    if refusal is not None:
        _refuse(step, change, refusal)
        return True
    live = settings.live_part(state.session, change.settings, known, _surely_held(step))
    if live and state.link.phase == "opening":
        return False
    if live and state.link.phase == "open":
        step.change(settings_lane=(attrs.evolve(change, asked=live), *state.settings_lane[1:]))
        command = ApplySettings(state.scope, change.update_id, live)
        step.do(fx.TellConnection(state.link.generation, command))
        return False
    _leave_lane(step, change)
    _store(step, change)
    step.do(fx.ReplySession(change.reply, step.state.session))
    return True


def _store(step: Step, change: SettingsChange) -> None:
    session, held = step.state.session, step.state.held
    after = settings.merged(session, change.settings)
    if step.state.link.phase == "open":
        # What is no longer chosen is shown as what it is until the next turn: the value that still holds.
        after = settings.reported(after, held, held, step.context.known_settings, {}).session
    if after != session:
        step.set_session(after)


def _report(step: Step, told: Settings) -> None:
    session, change = step.state.session, _in_flight(step)
    asked = (change.asked or {}) if change is not None else {}
    report = settings.reported(session, step.state.held, told, step.context.known_settings, asked)
    step.change(held=report.held)
    if report.session != session:
        step.set_session(report.session)


def _late(step: Step, update_id: str) -> None:
    step.do(fx.Count("late_settings"))
    unsure = {each: keys for each, keys in step.state.unsure_settings.items() if each != update_id}
    step.change(unsure_settings=unsure)


def _surely_held(step: Step) -> Settings:
    """What holds, without what an answer that is still to come may change."""
    unsure = frozenset[str]().union(*step.state.unsure_settings.values())
    return {key: value for key, value in step.state.held.items() if key not in unsure}


def _in_flight(step: Step) -> SettingsChange | None:
    lane = step.state.settings_lane
    return lane[0] if lane and lane[0].asked is not None else None


def _leave_lane(step: Step, change: SettingsChange) -> None:
    lane = step.state.settings_lane
    step.change(settings_lane=tuple(other for other in lane if other.update_id != change.update_id))
    step.do(fx.DisarmTimer(Timer("settings", update_id=change.update_id)))


def _refuse(step: Step, change: SettingsChange, refusal: Refusal) -> None:
    _leave_lane(step, change)
    step.do(fx.Refuse(change.reply, refusal))
