"""What of a session's row a client edits: title, pin and settings. Straight to the session's mailbox, like a prompt."""

from runtime.api.requests_context import Handled, Request
from runtime.lifecycle.inputs import PinSession, RenameSession, SessionInput, UpdateSettings
from runtime.wire import requests


def rename(request: Request[requests.SessionRenameParams]) -> Handled:
    """`session/rename`: the user's title, over any of a provider's (RT-047)."""
    return _tell(request, RenameSession(request.sink, request.params.title))


def pin(request: Request[requests.SessionPinParams]) -> Handled:
    """`session/pin`."""
    return _tell(request, PinSession(request.sink, request.params.pinned))


def update_settings(request: Request[requests.SessionUpdateSettingsParams]) -> Handled:
    """`session/updateSettings`: answered once the change is stored, or refused with nothing stored."""
    return _tell(request, UpdateSettings(request.sink, dict(request.params.settings)))


def _tell(
    request: Request[requests.SessionRenameParams]
    | Request[requests.SessionPinParams]
    | Request[requests.SessionUpdateSettingsParams],
    command: SessionInput,
) -> Handled:
    reference = request.services.sessions.reference(request.params.session_key)
    reference.tell(command, source=request.client.source)
    return None
