"""What a Codex tells beside its threads: its account, its models, its skills, the usage left.

Owns the requests and the reading of what they give; it starts no thread (PR-037) and never asks for a token to be renewed
(PR-030). Nothing of an account but its kind is kept.
"""

from collections.abc import Callable
from functools import partial
from typing import Final

import attrs

from runtime.providers.catalogue import (
    LIMITS_MAX,
    AccountKind,
    EffortOffer,
    ModelOffer,
    ProviderFacts,
    SkillOffer,
    SkillSource,
    Subject,
    UsageLimit,
    UsageReport,
    as_text,
    as_word,
    first_of_each,
    skills_once,
)
from runtime.providers.codex.failures import provider_error, request_failure
from runtime.providers.jsonrpc.calls import Answer, OpenCalls
from runtime.providers.jsonrpc.members import Members, count_of, list_of, object_of, text_of
from runtime.providers.jsonrpc.peer import ErrorResponse
from runtime.providers.output_batch import OutputBatch
from runtime.providers.port import Inquire, Learned
from store.canonical.common import Json, TurnError

MODEL_PAGES_MAX: Final = 10

_ACCOUNTS: Final[dict[str, AccountKind]] = {
    "apiKey": "key",
    "chatgpt": "subscription",
    "amazonBedrock": "key",
    "gcp": "key",
}
_SOURCES: Final[dict[str, SkillSource]] = {"system": "builtin", "user": "user", "repo": "project"}


@attrs.define(eq=False)
class Inquiry:
    """One inquiry: each subject is asked for by itself, and told when all have their answer."""

    command: Inquire
    calls: OpenCalls
    _facts: ProviderFacts = attrs.field(factory=ProviderFacts, init=False)
    _open: set[Subject] = attrs.field(factory=set, init=False)
    _models: list[ModelOffer] = attrs.field(factory=list, init=False)

    def begin(self, out: OutputBatch) -> None:
        """Ask for all of it."""
        self._open = set(self.command.subjects)
        asked: dict[Subject, Callable[[OutputBatch], None]] = {
            "account": partial(self._ask_account, self._account_told),
            "models": partial(self._ask_models, None, MODEL_PAGES_MAX),
            "skills": self._ask_skills,
            "usage": partial(self._ask_account, self._usage_account_told),
        }
        for subject, ask in asked.items():
            if subject in self.command.subjects:
                ask(out)

    def _ask_account(self, told: Callable[[Answer, OutputBatch], None], out: OutputBatch) -> None:
        self.calls.send("account/read", {"refreshToken": False}, told, out)

    def _ask_models(self, cursor: str | None, pages_left: int, out: OutputBatch) -> None:
        params: dict[str, Json] = {"includeHidden": True}
        if cursor is not None:
            params["cursor"] = cursor
        self.calls.send("model/list", params, partial(self._models_told, pages_left), out)

    def _ask_skills(self, out: OutputBatch) -> None:
        self.calls.send("skills/list", {"cwds": [], "forceReload": True}, self._skills_told, out)

    def _account_told(self, answer: Answer, out: OutputBatch) -> None:
        account = None if isinstance(answer, ErrorResponse) else read_account(answer.result)
        self._facts = attrs.evolve(self._facts, account=account)
        self._settle("account", _failure(answer, account is not None), out)

    def _models_told(self, pages_left: int, answer: Answer, out: OutputBatch) -> None:
        if isinstance(answer, ErrorResponse):
            self._settle("models", _failure(answer, False), out)
            return
        page = object_of(answer.result)
        self._models += map(read_model, map(object_of, list_of(page.get("data"))))
        cursor = text_of(page.get("nextCursor"))
        if cursor is not None and pages_left > 1:
            self._ask_models(cursor, pages_left - 1, out)
            return
        models = first_of_each(offer for offer in self._models if offer.model)
        self._facts = attrs.evolve(self._facts, models=models or None)
        self._settle("models", _failure(answer, bool(models)), out)

    def _skills_told(self, answer: Answer, out: OutputBatch) -> None:
        skills = None if isinstance(answer, ErrorResponse) else read_skills(answer.result)
        self._facts = attrs.evolve(self._facts, skills=skills)
        self._settle("skills", _failure(answer, skills is not None), out)

    def _usage_account_told(self, answer: Answer, out: OutputBatch) -> None:
        """Only a subscription has limits that Codex can name; without one nothing goes to the provider."""
        account = None if isinstance(answer, ErrorResponse) else read_account(answer.result)
        if account is None:
            self._settle("usage", _failure(answer, False), out)
        elif account == "subscription":
            self.calls.send("account/rateLimits/read", None, self._usage_told, out)
        else:
            unavailable = UsageReport("unavailable", reason="auth_required")
            usage = unavailable if account == "none" else UsageReport("not_applicable")
            self._facts = attrs.evolve(self._facts, usage=usage)
            self._settle("usage", None, out)

    def _usage_told(self, answer: Answer, out: OutputBatch) -> None:
        if isinstance(answer, ErrorResponse):
            self._settle("usage", _failure(answer, False), out)
            return
        self._facts = attrs.evolve(self._facts, usage=read_usage(answer.result), reached_provider=True)
        self._settle("usage", None, out)

    def _settle(self, subject: Subject, failure: TurnError | None, out: OutputBatch) -> None:
        if failure is not None:
            failures = {**self._facts.failures, subject: failure}
            self._facts = attrs.evolve(self._facts, failures=failures)
        self._open.discard(subject)
        if not self._open:
            out.add(Learned(self._facts, self.command.scope))


def read_account(result: Json) -> AccountKind | None:
    """What kind of account `account/read` tells of; null when that cannot be told."""
    members = object_of(result)
    needed = members.get("requiresOpenaiAuth")
    kind = text_of(object_of(members.get("account")).get("type"))
    if needed is False:
        return "not_needed"
    if kind is not None:
        return _ACCOUNTS.get(kind)
    return "none" if needed is True and members.get("account") is None else None


def read_model(members: Members) -> ModelOffer:
    """One entry of `model/list`; without a model when it has no usable name."""
    efforts = map(object_of, list_of(members.get("supportedReasoningEfforts")))
    offered = tuple(
        EffortOffer(value, as_text(effort.get("description")))
        for effort in efforts
        if (value := as_word(effort.get("reasoningEffort"))) is not None
    )
    model = as_word(members.get("model")) or ""
    return ModelOffer(
        model=model,
        label=as_word(members.get("displayName")) or model,
        description=as_text(members.get("description")),
        is_default=members.get("isDefault") is True,
        hidden=members.get("hidden") is True,
        efforts=offered if isinstance(members.get("supportedReasoningEfforts"), list) else None,
        default_effort=as_word(members.get("defaultReasoningEffort")),
    )


def read_skills(result: Json) -> tuple[SkillOffer, ...] | None:
    """All skills of `skills/list`; null when there is no list."""
    entries = object_of(result).get("data")
    if not isinstance(entries, list):
        return None
    listed = [skill for entry in entries for skill in list_of(object_of(entry).get("skills"))]
    return skills_once(
        SkillOffer(
            name,
            as_text(object_of(members.get("interface")).get("shortDescription"))
            or as_text(members.get("description")),
            _SOURCES.get(text_of(members.get("scope")) or "", "other"),
            members.get("enabled") is not False,
        )
        for members in map(object_of, listed)
        if (name := as_word(members.get("name"))) is not None
    )


def read_usage(result: Json) -> UsageReport:
    """The limits of `account/rateLimits/read`; a shape nobody knows is told as that, never as none left (PR-046)."""
    members = object_of(result)
    by_id = object_of(members.get("rateLimitsByLimitId"))
    snapshots = [object_of(one) for one in by_id.values()] or [object_of(members.get("rateLimits"))]
    limits = [
        limit
        for snapshot in snapshots
        for window in ("primary", "secondary")
        if (limit := _read_window(snapshot, window)) is not None
    ]
    if not limits:
        return UsageReport("unavailable", reason="parse_failed")
    return UsageReport("complete", tuple(limits[:LIMITS_MAX]))


def _read_window(snapshot: Members, window: str) -> UsageLimit | None:
    members = object_of(snapshot.get(window))
    used = members.get("usedPercent")
    if not isinstance(used, int | float) or isinstance(used, bool) or used < 0:
        return None
    name = as_word(snapshot.get("limitName")) or as_word(snapshot.get("limitId"))
    resets = count_of(members.get("resetsAt"))
    return UsageLimit(
        name=f"{name} {window}" if name is not None else window,
        used_percent=float(used),
        window_minutes=count_of(members.get("windowDurationMins")),
        resets_at=resets * 1000 if resets is not None else None,
    )


def _failure(answer: Answer, understood: bool) -> TurnError | None:
    if isinstance(answer, ErrorResponse):
        return request_failure(answer)
    return None if understood else provider_error("provider.protocol")
