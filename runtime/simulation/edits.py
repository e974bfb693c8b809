"""What simulated clients edit of a session: title, pin and settings; and that what was acknowledged of it stands.

An edit is repeated like any command until its answer stands, so the newest acknowledged one decides, unless one whose
outcome nobody knows came after it.
"""

import random
from collections.abc import Iterator, Mapping
from typing import Final

import attrs

from runtime.simulation.client import SimulatedClient
from runtime.simulation.contents import Contents
from runtime.simulation.history import History, Json, Request, SessionName, Violation
from runtime.simulation.link import LinkLost

SETTINGS: Final = ("model",)
"""Settings no agent of a run changes by itself or takes late: what was chosen of them stays chosen."""

_TITLES: Final = ("Mine", "Another of mine", "")
_CHANGES: Final[tuple[Mapping[str, str | bool | None], ...]] = (
    {"model": "demo-large"},
    {"model": "demo-small"},
    {"model": None},
    {"mode": "auto"},
    {"mode": "ask", "model": "demo-large"},
    {"mode": None},
    {"dedicatedProcess": True},
    {"colour": "red"},
)


@attrs.frozen
class Edit:
    """Rename, pin or set a session, once."""

    session: str
    method: str
    params: Mapping[str, object]

    async def perform(self, client: SimulatedClient) -> None:
        """See `Operation`."""
        params = {"agentSessionId": self.session, **self.params}
        try:
            request = await client.once(self.method, params)
        except LinkLost:
            return
        client.note(f"{client.name} {self.method} {self.session}: {request.state} {request.code}")


def some_edit(session: str, chance: random.Random) -> Edit:
    """Any of them."""
    match chance.choice(("rename", "pin", "settings", "settings")):
        case "rename":
            return Edit(session, "session/rename", {"title": chance.choice(_TITLES)})
        case "pin":
            return Edit(session, "session/pin", {"pinned": chance.random() < 0.6})
        case _:
            return Edit(session, "session/updateSettings", {"settings": chance.choice(_CHANGES)})


def edits_stand(history: History, contents: Contents) -> Iterator[Violation]:
    """Promise 1 for what users edit: it is as the newest acknowledged edit left it, whatever agents and turns did."""
    for name, row in contents.sessions.items():
        for what, stands in (
            (_Edited("session/rename", "title"), row["title"] if row["titleSource"] == "user" else ""),
            (_Edited("session/pin", "pinned"), row["pinned"]),
            *((_Edited("session/updateSettings", key), _choice(row, key)) for key in SETTINGS),
        ):
            allowed = what.may_stand(history, name)
            if allowed is not None and stands not in allowed:
                yield Violation(
                    "an acknowledged edit stands",
                    f"{what.member} of {name} is {stands!r}, it may be {sorted(map(str, allowed))}",
                )


@attrs.frozen
class _Edited:
    """One thing that is edited: the method, and the member or the setting."""

    method: str
    member: str

    def may_stand(self, history: History, session: SessionName) -> set[object] | None:
        """The values of the newest acknowledged edit, and of those whose outcome nobody knows; None without any."""
        edits = [
            request
            for request in history.requests
            if request.method == self.method and request.session == session and self._names_it(request)
        ]
        answered = [request for request in edits if request.state == "answered"]
        if not answered:
            return None
        newest = max(request.result["commitSeq"] for request in answered)
        return {
            self._value(request)
            for request in edits
            if (request.state == "answered" and request.result["commitSeq"] == newest) or _is_unknown(request)
        }

    def _names_it(self, request: Request) -> bool:
        return self.method != "session/updateSettings" or self.member in request.params["settings"]

    def _value(self, request: Request) -> object:
        if self.method == "session/updateSettings":
            return request.params["settings"][self.member]
        return request.params[self.member]


def _is_unknown(request: Request) -> bool:
    return request.state in ("open", "unknown") or (
        request.state == "refused" and request.delivery != "not_dispatched"
    )


def _choice(row: Json, key: str) -> object:
    """What was chosen of a setting; None when nobody chose."""
    return row["settings"][key] if row["settingsSource"].get(key) == "explicit" else None
