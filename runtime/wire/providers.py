"""What agents tell of themselves, beside any session: the rows and results of `provider/*` (`contract §4`).

Nothing in here names an account, a path or an endpoint, and no text of a failure is a provider's (PR-048).
"""

from typing import Literal

import attrs

from runtime.wire.rows import Count, TargetProgram
from store.canonical.identifiers import TargetId


@attrs.frozen
class ProviderProblem:
    """Why the agent could not be asked just now; what is shown beside it is what was known before."""

    code: str
    retryable: bool


@attrs.frozen
class ModelEffort:
    """A value `reasoningEffort` may have with a model."""

    value: str
    description: str | None


@attrs.frozen
class ProviderModel:
    """A model an agent offers."""

    model: str
    """The value of the setting `model`."""
    label: str
    description: str | None
    is_default: bool
    """It is what the agent takes when nobody chooses."""
    hidden: bool
    """Not meant for lists to choose from."""
    reasoning_efforts: tuple[ModelEffort, ...] | None
    """Null when the agent does not say; none when it takes none."""
    default_reasoning_effort: str | None


@attrs.frozen
class ProviderSkill:
    """Something a prompt can call for by its name."""

    name: str
    description: str | None
    source: Literal["builtin", "user", "project", "other"]
    enabled: bool


@attrs.frozen
class UsageLimit:
    """One bound on an account's use."""

    name: str
    used_percent: float
    window_minutes: int | None
    resets_at: int | None


@attrs.frozen(kw_only=True)
class ProviderStatusReply:
    """How an agent's program and sign-in stand."""

    agent_target_id: TargetId
    program: TargetProgram
    auth: Literal["authenticated", "configured", "required", "unknown"]
    """`authenticated`: a request with it succeeded lately. `configured`: there is one, of which no more is known.
    `required`: the agent has none, or its provider refused it. Failures that are no word on the sign-in change nothing."""
    account: Literal["none", "not_needed", "key", "subscription"] | None
    """What the agent says it works with; null when it does not say."""
    read_at: int | None
    """When the agent last said so; null when it never did."""
    stale: bool
    refreshing: bool
    problem: ProviderProblem | None
    commit_seq: Count


@attrs.frozen(kw_only=True)
class ProviderModelsReply:
    """The models of an agent, as it last listed them."""

    agent_target_id: TargetId
    state: Literal["complete", "unavailable"]
    """`unavailable`: the agent lists its models within a session only, and none has told yet."""
    models: tuple[ProviderModel, ...]
    read_at: int | None
    """Null for a list that is the target's own definition, or that there is none."""
    stale: bool
    """It is older than `catalogueFreshSeconds`; it is being read again."""
    refreshing: bool
    problem: ProviderProblem | None
    commit_seq: Count


@attrs.frozen(kw_only=True)
class ProviderSkillsReply:
    """The skills of an agent, as it last listed them."""

    agent_target_id: TargetId
    state: Literal["complete", "unavailable"]
    trigger: str
    """What stands before a skill's name in a prompt."""
    skills: tuple[ProviderSkill, ...]
    read_at: int | None
    stale: bool
    refreshing: bool
    problem: ProviderProblem | None
    commit_seq: Count


@attrs.frozen(kw_only=True)
class ProviderUsageReply:
    """What is left of an agent's account."""

    agent_target_id: TargetId
    state: Literal["complete", "unavailable", "not_applicable"]
    """Only a `complete` one has limits; `not_applicable`: this kind of account has none."""
    reason: Literal["auth_required", "unsupported", "parse_failed"] | None
    """Why it is unavailable."""
    limits: tuple[UsageLimit, ...]
    read_at: int | None
    stale: bool
    refreshing: bool
    problem: ProviderProblem | None
    commit_seq: Count
