"""Inquiries: so many at once and no more, each within its deadline, and a place is free once its process is gone."""

from collections.abc import Awaitable, Callable
from typing import Any

import attrs
import pytest
import trio
from trio.testing import wait_all_tasks_blocked

from runtime.catalogue.inquiries import TIMED_OUT, Inquiries
from runtime.catalogue.snapshot import LoadFailed
from runtime.providers.catalogue import ProviderFacts
from runtime.providers.port import Learned, Scope
from store.canonical.identifiers import TargetId

AT_ONCE_MAX = 2
TIMEOUT_SECONDS = 20.0


@attrs.define
class Agents:
    """Every target's process: begun by an inquiry, answers when it is let to, gone when it is let to."""

    nursery: trio.Nursery
    begun: list[Scope] = attrs.field(factory=list)
    left: int = 0
    gone: trio.Event = attrs.field(factory=trio.Event)

    def inquiries(self) -> Inquiries:
        connections: Any = self  # the one call that inquiries make of it
        return Inquiries(connections, self._spawn, TIMEOUT_SECONDS, AT_ONCE_MAX)

    async def acquire_for_inquiry(self, _: TargetId, scope: Scope, *__: object) -> "Agents":
        self.begun.append(scope)
        return self

    def tell(self, _: object) -> bool:
        return True

    def release(self) -> None:
        self.left += 1

    async def wait_gone(self) -> None:
        await self.gone.wait()

    def _spawn(self, function: Callable[..., Awaitable[None]], *arguments: object) -> None:
        self.nursery.start_soon(function, *arguments)


async def ask(inquiries: Inquiries, number: int, results: list[object]) -> None:
    try:
        results.append(await inquiries.ask(TargetId(f"t{number}"), "models", own_process=False))
    except LoadFailed as failed:
        results.append(failed.error)


@pytest.mark.rule("PR-032")
async def test_of_six_agents_two_are_asked_at_once_and_the_next_when_a_process_is_gone(
    nursery: trio.Nursery, autojump_clock: object
) -> None:
    agents, results = Agents(nursery), list[object]()
    inquiries = agents.inquiries()
    for number in range(6):
        nursery.start_soon(ask, inquiries, number, results)
    await wait_all_tasks_blocked()
    assert len(agents.begun) == inquiries.under_way == AT_ONCE_MAX
    facts = ProviderFacts()
    for scope in agents.begun[:AT_ONCE_MAX]:
        assert inquiries.answered(Learned(facts, scope))
    await wait_all_tasks_blocked()
    assert results == [facts, facts]
    assert len(agents.begun) == AT_ONCE_MAX, "what is left of a process counts"
    agents.gone.set()
    await wait_all_tasks_blocked()
    assert len(agents.begun) == 2 * AT_ONCE_MAX
    assert inquiries.under_way == AT_ONCE_MAX


async def test_an_agent_that_says_nothing_and_one_that_is_never_reached_end_at_the_deadline(
    nursery: trio.Nursery, autojump_clock: object
) -> None:
    agents, results = Agents(nursery), list[object]()
    inquiries = agents.inquiries()
    for number in range(AT_ONCE_MAX + 1):
        nursery.start_soon(ask, inquiries, number, results)
    await trio.sleep(TIMEOUT_SECONDS + 1)
    assert results == [TIMED_OUT] * (AT_ONCE_MAX + 1)
    assert (len(agents.begun), agents.left) == (AT_ONCE_MAX, AT_ONCE_MAX)
    agents.gone.set()
    await wait_all_tasks_blocked()
    assert inquiries.under_way == 0
