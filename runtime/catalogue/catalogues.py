"""What is known of each target's agent: its sign-in and its snapshots, from whatever tells of them.

Owns one entry for each target. Facts come from inquiries, from what agents tell on the way, from committed turns and from a
look at this machine; here they are put where they belong, and whoever follows `host.updated` is told to read again. Reading
what is known starts nothing.
"""

from collections.abc import Awaitable, Callable, Hashable
from functools import partial
from typing import Literal, Protocol, TypeAlias, TypeVar

import attrs
import trio

from runtime.catalogue.inquiries import Inquiries
from runtime.catalogue.sign_in import (
    AccountTold,
    CredentialsSeen,
    Evidence,
    RequestSucceeded,
    SignIn,
    Standing,
    evidence_of_failure,
    reduce,
)
from runtime.catalogue.snapshot import LoadFailed, Reading, Snapshot, Spawn
from runtime.ports import WallClock
from runtime.providers.catalogue import (
    NOTHING_TOLD,
    AccountKind,
    CatalogueAbilities,
    ModelOffer,
    SkillOffer,
    UsageReport,
)
from runtime.providers.launch import LaunchSpecification
from runtime.providers.port import Learned
from runtime.providers.programs import ProgramFile
from runtime.targets import TargetCatalogue, TargetDefinition
from store.canonical.change import Committed
from store.canonical.common import TurnError
from store.canonical.identifiers import TargetId
from store.canonical.session import Session
from store.canonical.turn import Turn

HintKind: TypeAlias = Literal["models", "status"]

T = TypeVar("T")

NOT_TOLD = TurnError("provider.protocol", "The agent answered without saying it.", "provider")
UNSUPPORTED_USAGE = UsageReport("unavailable", reason="unsupported")


@attrs.frozen
class NothingSeen:
    """Where there is no machine to look at."""

    def program(self, definition: TargetDefinition) -> ProgramFile | None:
        """See `MachineView`."""
        return None

    def credentials(self, definition: TargetDefinition, abilities: CatalogueAbilities) -> str | None:
        """See `MachineView`."""
        return None


class MachineView(Protocol):
    """What of a target can be seen on this machine. Nothing of it waits."""

    def program(self, definition: TargetDefinition) -> ProgramFile | None:
        """The file that would be started."""

    def credentials(self, definition: TargetDefinition, abilities: CatalogueAbilities) -> str | None:
        """A mark of the sign-in that lies here, another for any other; null when there is none that could be one."""


@attrs.frozen
class CatalogueLimits:
    """Bounds; seconds."""

    fresh_seconds: float = 900.0
    usage_fresh_seconds: float = 60.0


@attrs.frozen
class StatusReading:
    """How a target stands."""

    found: bool
    version: str | None
    standing: Standing
    account: Reading[AccountKind]


@attrs.define(eq=False)
class _Entry:
    definition: TargetDefinition
    abilities: CatalogueAbilities
    account: Snapshot[AccountKind]
    models: Snapshot[tuple[ModelOffer, ...]]
    skills: Snapshot[tuple[SkillOffer, ...]]
    usage: Snapshot[UsageReport]
    declared: Reading[tuple[ModelOffer, ...]] | None
    """The models, where they are known from the target's own definition."""
    sign_in: SignIn = attrs.field(factory=SignIn)


class Catalogues:
    """The entries of all targets.

    Args:
        examine: asks a target's program for its version, once for each file of it.
        note: says that clients may read again.
    """

    def __init__(
        self,
        targets: TargetCatalogue,
        inquiries: Inquiries,
        machine: MachineView,
        examine: Callable[[TargetDefinition], Awaitable[object]],
        limits: CatalogueLimits,
        spawn: Spawn,
        clock: WallClock,
        note: Callable[[HintKind], None],
    ) -> None:
        self._targets = targets
        self._inquiries = inquiries
        self._machine = machine
        self._examine = examine
        self._limits = limits
        self._spawn = spawn
        self._clock = clock
        self._note = note
        self._entries = {target_id: self._entry(target_id) for target_id in targets.target_ids}

    @property
    def inquiries(self) -> Inquiries:
        """Whoever asks, for the figures."""
        return self._inquiries

    # --- reading ----------------------------------------------------------------------------------------------

    def standing(self, target_id: TargetId) -> Standing:
        """How its sign-in stands, as far as is known; looks at this machine, asks nobody."""
        entry = self._entries[target_id]
        self._look(entry)
        return entry.sign_in.shown(trio.current_time())

    async def status(self, target_id: TargetId, *, refresh: bool) -> StatusReading:
        """How it stands. A failure to ask is shown beside what is known, and changes nothing of it."""
        entry = self._entries[target_id]
        self._look(entry)
        found = self._targets.program_found(target_id)
        if found and "account" in entry.abilities.subjects:
            account = await entry.account.read(refresh=refresh)
        else:
            if found:
                await self._examine(entry.definition)
            account = entry.account.peek()
        return StatusReading(found, self._targets.version(target_id), self.standing(target_id), account)

    async def models(self, target_id: TargetId, *, refresh: bool) -> Reading[tuple[ModelOffer, ...]]:
        """The models to choose from."""
        entry = self._entries[target_id]
        if entry.declared is not None:
            return entry.declared
        asks = "models" in entry.abilities.subjects
        return await entry.models.read(refresh=refresh) if asks else entry.models.peek()

    def offered_efforts(self, target_id: TargetId, model: str | None) -> frozenset[str] | None:
        """The efforts that a model offers, null being the agent's own; nothing unless a fresh list says (PR-034, RT-055)."""
        entry = self._entries.get(target_id)
        reading = (entry.declared or entry.models.peek()) if entry is not None else None
        if reading is None or reading.value is None or reading.stale:
            return None
        offers = (one for one in reading.value if (one.is_default if model is None else one.model == model))
        offer = next(offers, None)
        if offer is None or offer.efforts is None:
            return None
        return frozenset(effort.value for effort in offer.efforts)

    async def skills(self, target_id: TargetId, *, refresh: bool) -> Reading[tuple[SkillOffer, ...]]:
        """What prompts can call for."""
        entry = self._entries[target_id]
        asks = "skills" in entry.abilities.subjects
        return await entry.skills.read(refresh=refresh) if asks else entry.skills.peek()

    def skill_trigger(self, target_id: TargetId) -> str:
        """What stands before a skill's name in a prompt."""
        return self._entries[target_id].abilities.skill_trigger

    async def usage(self, target_id: TargetId, *, refresh: bool) -> Reading[UsageReport]:
        """What is left; a family that does not say is asked nothing, and that is no failure (PR-047)."""
        entry = self._entries[target_id]
        if "usage" not in entry.abilities.subjects:
            return Reading(UNSUPPORTED_USAGE, None, stale=False, refreshing=False)
        return await entry.usage.read(refresh=refresh)

    # --- what is told on the way ------------------------------------------------------------------------------

    def learned(self, launch: LaunchSpecification, told: Learned) -> None:
        """An agent told something of itself."""
        entry = self._entries.get(TargetId(launch.shared_key))
        if entry is None:
            return
        facts = told.facts
        if facts.account is not None:
            self._prove(entry, AccountTold(facts.account))
        if facts.reached_provider:
            self._prove(entry, RequestSucceeded())
        if self._inquiries.answered(told):
            return  # the load that asked keeps it
        if facts.account is not None:
            entry.account.learn(facts.account)
        if facts.models is not None:
            entry.models.learn(facts.models)
        if facts.skills is not None:
            entry.skills.learn(facts.skills)

    def committed(self, committed: Committed) -> None:
        """A root turn that came to its end says how the sign-in stands (PR-028)."""
        rows = committed.unit.rows
        turn = next((row for row in rows if isinstance(row, Turn) and row.phase == "settled"), None)
        if turn is None or turn.outcome not in ("completed", "failed"):
            return
        session = next((row for row in rows if isinstance(row, Session)), None)
        entry = self._entries.get(session.agent_target_id) if session is not None else None
        if session is None or entry is None or session.parent is not None:
            return
        if turn.outcome == "completed":
            self._prove(entry, RequestSucceeded())
        elif turn.error is not None:
            self._prove(entry, evidence_of_failure(turn.error.code, turn.error.origin))

    # --- inside -----------------------------------------------------------------------------------------------

    def _prove(self, entry: _Entry, evidence: Evidence) -> None:
        self._look(entry)
        self._take_in(entry, evidence)

    def _look(self, entry: _Entry) -> None:
        """What lies on this machine now. Another sign-in than before is another agent: nothing it told counts any more."""
        mark = self._machine.credentials(entry.definition, entry.abilities)
        if not entry.sign_in.looked or entry.sign_in.mark != mark:
            self._take_in(entry, CredentialsSeen(mark))

    def _take_in(self, entry: _Entry, evidence: Evidence) -> None:
        now = trio.current_time()
        before, entry.sign_in = entry.sign_in.shown(now), reduce(entry.sign_in, evidence, now)
        if entry.sign_in.shown(now) != before:
            self._note("status")

    def _basis(self, definition: TargetDefinition, abilities: CatalogueAbilities) -> Hashable:
        return self._machine.program(definition), self._machine.credentials(definition, abilities)

    def _entry(self, target_id: TargetId) -> _Entry:
        definition, family = self._targets.definition(target_id), self._targets.family_of(target_id)
        abilities = family.catalogue if family is not None else NOTHING_TOLD
        basis = partial(self._basis, definition, abilities)
        fresh, models = self._limits.fresh_seconds, partial(self._note, "models")
        spawn, clock = self._spawn, self._clock
        return _Entry(
            definition,
            abilities,
            Snapshot(
                partial(self._load_account, definition),
                basis,
                fresh,
                spawn,
                clock,
                partial(self._note, "status"),
            ),
            Snapshot(partial(self._load_models, target_id), basis, fresh, spawn, clock, models),
            Snapshot(partial(self._load_skills, target_id), basis, fresh, spawn, clock, models),
            Snapshot(
                partial(self._load_usage, target_id),
                basis,
                self._limits.usage_fresh_seconds,
                spawn,
                clock,
                partial(self._note, "status"),
            ),
            _declared(definition),
        )

    async def _load_account(self, definition: TargetDefinition, own_process: bool) -> AccountKind:
        await self._examine(definition)
        facts = await self._inquiries.ask(definition.target_id, "account", own_process=own_process)
        return _told(facts.account)

    async def _load_models(self, target_id: TargetId, own_process: bool) -> tuple[ModelOffer, ...]:
        return _told((await self._inquiries.ask(target_id, "models", own_process=own_process)).models)

    async def _load_skills(self, target_id: TargetId, own_process: bool) -> tuple[SkillOffer, ...]:
        return _told((await self._inquiries.ask(target_id, "skills", own_process=own_process)).skills)

    async def _load_usage(self, target_id: TargetId, own_process: bool) -> UsageReport:
        return _told((await self._inquiries.ask(target_id, "usage", own_process=own_process)).usage)


def _declared(definition: TargetDefinition) -> Reading[tuple[ModelOffer, ...]] | None:
    setting = next((one for one in definition.settings or () if one.key == "model"), None)
    if setting is None or setting.choices is None:
        return None
    offers = tuple(
        ModelOffer(choice.value, choice.label, is_default=choice.value == setting.default)
        for choice in setting.choices
    )
    return Reading(offers, None, stale=False, refreshing=False)


def _told(fact: T | None) -> T:
    """An answer without a failure has the fact that was asked for; one that has neither keeps to no protocol."""
    if fact is None:
        raise LoadFailed(NOT_TOLD)
    return fact
