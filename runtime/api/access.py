"""What a limited token may do beyond its scope and its workspaces: directories, effects, counts and rates (contract §2).

Owns the rate of each token and the requests of limited tokens that may still begin something. Roots and effects are
judged anew for every request that makes an agent work, since links, settings and tokens change; everything else is
derived. Who a client is, is the business of `authentication`.
"""

import math
from collections.abc import Callable, Sequence
from typing import Any, Protocol

import attrs
import trio

from runtime.api.authentication import Principal
from runtime.api.request_sink import RequestSink
from runtime.effects import Effect, effect_of_answer, exceeds
from runtime.operations.placement import project_of
from runtime.refusal import Refusal
from runtime.side.machine import SideConversation
from runtime.wire import requests
from runtime.wire.method import Method
from store.canonical.common import Settings, SettingValue
from store.canonical.identifiers import SessionKey, TargetId
from store.canonical.session import Session
from store.port import StoreReader


class EffectSource(Protocol):
    """What is known of targets' settings."""

    def effect_of(self, target_id: TargetId, settings: Settings) -> Effect:
        """How far these settings let an agent of this target go."""


@attrs.define
class _Rate:
    """A bucket of requests that fills by the second."""

    left: float
    seen_at_seconds: float


@attrs.frozen
class _Begun:
    """A request of a limited token that was let through and may still bring a session or a turn."""

    sink: RequestSink
    workspace_id: str
    brings_session: bool
    brings_turn: bool


@attrs.define(eq=False)
class AccessControl:
    """Judges the requests of all clients."""

    reader: StoreReader
    targets: EffectSource
    is_within: Callable[[str, Sequence[str]], bool]
    """Whether a path, its links resolved, is one of some directories or below one."""
    unsettled_turns: Callable[[frozenset[str] | None], int]
    """Those of Sides among them."""
    side_of: Callable[[SessionKey], SideConversation | None]
    """An open Side."""
    _rates: dict[str, _Rate] = attrs.field(factory=dict, init=False)
    _begun: list[_Begun] = attrs.field(factory=list, init=False)

    def throttle(self, principal: Principal) -> Refusal | None:
        """Whether this request of the token comes too soon after the others."""
        most = principal.requests_per_second
        if most is None:
            return None
        now, burst = trio.current_time(), max(1.0, most)
        rate = self._rates.setdefault(principal.name, _Rate(burst, now))
        rate.left = min(burst, rate.left + (now - rate.seen_at_seconds) * most)
        rate.seen_at_seconds = now
        if rate.left < 1.0:
            wait_ms = math.ceil((1.0 - rate.left) / most * 1000)
            return Refusal("limit.exceeded", retry_after_ms=wait_ms, details={"limit": "requestsPerSecond"})
        rate.left -= 1.0
        return None

    def refusal(self, principal: Principal, method: Method, params: Any, sink: RequestSink) -> Refusal | None:
        """Whether this request goes beyond the token. Asked in the step in which the request takes effect."""
        if not method.drives_agent or not principal.limited:
            return None
        if isinstance(params, requests.SideParams):
            return self._side_refusal(principal, method, params, sink)
        key: SessionKey = params.session_key
        session = self.reader.session(key).value
        if session is None:
            return Refusal("session.not_found")
        if session.deleted_at is not None:
            return Refusal("session.deleted")
        if isinstance(params, requests.InteractionRespondParams):
            return self._answer_refusal(principal, session, params)
        changes = getattr(params, "settings", None) or {}
        refusal = self._session_refusal(principal, session, changes)
        if refusal is None and method.begins_turn and not self._repeats(key, params):
            return self._turn_refusal(principal, key, sink)
        return refusal

    def allowance(self, principal: Principal, workspace_id: str, sink: RequestSink) -> "TokenAllowance":
        """What `session/create` asks."""
        return TokenAllowance(self, principal, workspace_id, sink)

    def directory_refusal(self, principal: Principal, path: str) -> Refusal | None:
        """Whether `path` is outside of the token's roots."""
        if principal.roots is None or self.is_within(path, principal.roots):
            return None
        return Refusal("auth.forbidden", details={"limit": "roots", "param": "cwd"})

    def effect_refusal(self, principal: Principal, effect: Effect, param: str) -> Refusal | None:
        """Whether `effect` goes beyond the token's."""
        most = principal.max_effect
        if most is None or not exceeds(effect, most):
            return None
        details = {"limit": "maxEffect", "param": param, "effect": effect, "maxEffect": most}
        return Refusal("auth.forbidden", details=details)

    def count_refusal(
        self, principal: Principal, workspace_id: str, sink: RequestSink, *, session: bool, turn: bool
    ) -> Refusal | None:
        """Whether one more session or turn is one too many; if not, it counts until the request is answered."""
        self._begun = [begun for begun in self._begun if not begun.sink.done]
        named = principal.workspaces
        coming = [one for one in self._begun if named is None or one.workspace_id in named]
        if session and principal.max_sessions is not None:
            expected = sum(one.brings_session for one in coming)
            if self.reader.session_count(named) + expected >= principal.max_sessions:
                return Refusal("limit.exceeded", details={"limit": "maxSessions"})
        if turn and principal.max_live_turns is not None:
            expected = sum(one.brings_turn for one in coming)
            if self.unsettled_turns(named) + expected >= principal.max_live_turns:
                return Refusal("limit.exceeded", details={"limit": "maxLiveTurns"})
        if principal.max_sessions is not None or principal.max_live_turns is not None:
            self._begun.append(_Begun(sink, workspace_id, session, turn))
        return None

    def _side_refusal(
        self, principal: Principal, method: Method, params: requests.SideParams, sink: RequestSink
    ) -> Refusal | None:
        """A Side works where its source does, with the settings it was opened with."""
        open_side = self.side_of(params.side_key)
        if open_side is None:
            return None  # its own answer says what became of it
        session = self.reader.session(open_side.side.source).value
        if session is None:
            return Refusal("session.not_found")
        held = attrs.evolve(session, settings=open_side.side.settings)
        if isinstance(params, requests.SideRespondParams):
            asked = open_side.interactions.get((params.turn_id, params.request_id))
            effect = effect_of_answer(asked, params.answer) if asked is not None else None
            if effect is None:
                return None
            refusal = self._session_refusal(principal, held, {})
            return refusal or self.effect_refusal(principal, effect, "answer")
        refusal = self._session_refusal(principal, held, {})
        repeats = getattr(params, "client_submit_id", None) in open_side.submits
        if refusal is None and method.begins_turn and not repeats:
            return self._turn_refusal(principal, params.side_key, sink)
        return refusal

    def _session_refusal(
        self, principal: Principal, session: Session, changes: dict[str, SettingValue | None]
    ) -> Refusal | None:
        refusal = self.directory_refusal(principal, _home(session))
        if refusal is not None or principal.max_effect is None:
            return refusal
        settings = {**session.settings, **changes}
        held = {key: value for key, value in settings.items() if value is not None}
        effect = self.targets.effect_of(session.agent_target_id, held)
        return self.effect_refusal(principal, effect, "settings")

    def _answer_refusal(
        self, principal: Principal, session: Session, params: requests.InteractionRespondParams
    ) -> Refusal | None:
        """An answer that refuses or stops is always let through: it only ever holds an agent back."""
        interaction = self.reader.interaction(session.key, params.turn_id, params.request_id).value
        if interaction is None:
            return None  # the session says what there is
        effect = effect_of_answer(interaction, params.answer)
        if effect is None:
            return None
        refusal = self._session_refusal(principal, session, {})
        return refusal or self.effect_refusal(principal, effect, "answer")

    def _turn_refusal(self, principal: Principal, key: SessionKey, sink: RequestSink) -> Refusal | None:
        return self.count_refusal(principal, key.workspace_id, sink, session=False, turn=True)

    def _repeats(self, key: SessionKey, params: Any) -> bool:
        """A known submit id begins nothing, whatever it is answered."""
        submit_id = getattr(params, "client_submit_id", None)
        return submit_id is not None and self.reader.session_claim(key, submit_id).value is not None


@attrs.frozen
class TokenAllowance:
    """The `Allowance` of one token for one request."""

    access: AccessControl
    principal: Principal
    workspace_id: str
    sink: RequestSink

    def count_refusal(self, *, begins_turn: bool) -> Refusal | None:
        """See `Allowance`."""
        return self.access.count_refusal(
            self.principal, self.workspace_id, self.sink, session=True, turn=begins_turn
        )

    def directory_refusal(self, path: str) -> Refusal | None:
        """See `Allowance`."""
        return self.access.directory_refusal(self.principal, path)

    def effect_refusal(self, target_id: TargetId, settings: Settings) -> Refusal | None:
        """See `Allowance`."""
        if self.principal.max_effect is None:
            return None
        effect = self.access.targets.effect_of(target_id, settings)
        return self.access.effect_refusal(self.principal, effect, "settings")


def _home(session: Session) -> str:
    """What the token's roots are asked about: of a checkout, the project it was made from."""
    project = project_of(session.rail_section_key)
    return project if session.isolation is not None and project is not None else session.cwd
