"""What agents tell of themselves: each read as a task of its own, for it may have to ask (`contract §4`, provider/*)."""

from collections.abc import Awaitable, Callable
from typing import TypeAlias, TypedDict, TypeVar

from runtime.api.requests_context import Handled, Request
from runtime.catalogue.snapshot import Reading
from runtime.operations.operation import NoMark, WatchedSink
from runtime.providers.catalogue import ModelOffer
from runtime.refusal import Refusal
from runtime.wire import providers, replies, requests
from runtime.wire.rows import TargetProgram
from store.canonical.common import TurnError

ProviderRequest: TypeAlias = Request[requests.ProviderParams]
T = TypeVar("T")


class _Standing(TypedDict):
    """What every read says of its snapshot."""

    read_at: int | None
    stale: bool
    refreshing: bool
    problem: providers.ProviderProblem | None
    commit_seq: int


def status(request: ProviderRequest) -> Handled:
    """`provider/status`: what is known, and beside it why the agent could not be asked (PR-029, AP-035)."""

    async def read() -> replies.Reply:
        services, target_id = request.services, request.params.agent_target_id
        reading = await services.catalogues.status(target_id, refresh=request.params.refresh)
        account = reading.account
        return providers.ProviderStatusReply(
            agent_target_id=target_id,
            program=TargetProgram(reading.found, reading.version),
            auth=reading.standing,
            account=account.value,
            **_standing(account, services.writer.head_commit_seq),
        )

    return _read(request, read)


def models(request: ProviderRequest) -> Handled:
    """`provider/models`: the snapshot; with none and no way to one, why (PR-034, PR-035)."""

    async def read() -> replies.Reply | Refusal:
        services, target_id = request.services, request.params.agent_target_id
        reading = await services.catalogues.models(target_id, refresh=request.params.refresh)
        return _failed(reading) or providers.ProviderModelsReply(
            agent_target_id=target_id,
            state="unavailable" if reading.value is None else "complete",
            models=tuple(map(_shown_model, reading.value or ())),
            **_standing(reading, services.writer.head_commit_seq),
        )

    return _read(request, read)


def skills(request: ProviderRequest) -> Handled:
    """`provider/skills`: the snapshot, and how a prompt calls for one of them (PR-038)."""

    async def read() -> replies.Reply | Refusal:
        services, target_id = request.services, request.params.agent_target_id
        reading = await services.catalogues.skills(target_id, refresh=request.params.refresh)
        return _failed(reading) or providers.ProviderSkillsReply(
            agent_target_id=target_id,
            state="unavailable" if reading.value is None else "complete",
            trigger=services.catalogues.skill_trigger(target_id),
            skills=tuple(
                providers.ProviderSkill(skill.name, skill.description, skill.source, skill.enabled)
                for skill in reading.value or ()
            ),
            **_standing(reading, services.writer.head_commit_seq),
        )

    return _read(request, read)


def usage(request: ProviderRequest) -> Handled:
    """`provider/usage`: what cannot be told is told as that; only a failure to ask is one (PR-046, PR-047)."""

    async def read() -> replies.Reply | Refusal:
        services, target_id = request.services, request.params.agent_target_id
        reading = await services.catalogues.usage(target_id, refresh=request.params.refresh)
        report = reading.value
        return _failed(reading) or providers.ProviderUsageReply(
            agent_target_id=target_id,
            state=report.state if report is not None else "unavailable",
            reason=report.reason if report is not None else None,
            limits=tuple(
                providers.UsageLimit(limit.name, limit.used_percent, limit.window_minutes, limit.resets_at)
                for limit in (report.limits if report is not None else ())
            ),
            **_standing(reading, services.writer.head_commit_seq),
        )

    return _read(request, read)


def _read(request: ProviderRequest, read: Callable[[], Awaitable[replies.Reply | Refusal]]) -> Handled:
    params, services = request.params, request.services
    if params.refresh and not request.client.principal.allows("admin"):
        return Refusal("auth.forbidden", details={"param": "refresh", "scope": "admin"})
    refusal = services.targets.refusal_for(params.agent_target_id)
    if refusal is not None:
        return refusal

    async def body(sink: WatchedSink) -> None:
        answer = await read()
        if isinstance(answer, Refusal):
            request.sink.refuse(answer)
        else:
            request.sink.reply(answer)
        sink.answered.set()

    services.start_operation(body, request.sink, NoMark())
    return None


def _failed(reading: Reading[T]) -> Refusal | None:
    """Nothing is known and nothing could be had; nothing was started either, so it may be asked again."""
    if reading.value is not None or reading.problem is None:
        return None
    return Refusal(reading.problem.code)


def _standing(reading: Reading[T], commit_seq: int) -> _Standing:
    return _Standing(
        read_at=reading.read_at,
        stale=reading.stale,
        refreshing=reading.refreshing,
        problem=_problem(reading.problem),
        commit_seq=commit_seq,
    )


def _problem(error: TurnError | None) -> providers.ProviderProblem | None:
    return None if error is None else providers.ProviderProblem(error.code, error.retryable)


def _shown_model(offer: ModelOffer) -> providers.ProviderModel:
    efforts = None
    if offer.efforts is not None:
        efforts = tuple(providers.ModelEffort(effort.value, effort.description) for effort in offer.efforts)
    return providers.ProviderModel(
        model=offer.model,
        label=offer.label,
        description=offer.description,
        is_default=offer.is_default,
        hidden=offer.hidden,
        reasoning_efforts=efforts,
        default_reasoning_effort=offer.default_effort,
    )
