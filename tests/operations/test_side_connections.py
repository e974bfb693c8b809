"""Where a fork is made: with its source, in a process of its own, or with its source after all."""

from typing import Any

import attrs
import pytest

from runtime.operations.side_connections import connection_for_fork
from runtime.providers.port import Scope
from runtime.providers.routes import ScopeSink
from runtime.providers.tenancy import AcquireFailed
from store.canonical.common import TurnError
from store.canonical.identifiers import SessionId, TargetId, WorkspaceId
from store.canonical.session import Session

SIDE = Scope("side", "w", "side")
SESSION = Session(WorkspaceId("w"), SessionId("s"), TargetId("t"), "any", "/w", 0, 0)
SINK: Any = object()


@attrs.define(eq=False)
class Connections:
    """What a source has, and what a process of the fork's own would come to."""

    live: bool
    apart: bool
    own_fails_with: str | None = None
    asked: list[str] = attrs.field(factory=list)

    def forks_apart(self, session: Session) -> bool:
        return self.apart

    def join(self, session: Session, scope: Scope, sink: ScopeSink) -> Any:
        self.asked.append("join")
        return "joined" if self.live else None

    async def acquire_own(
        self, session: Session, scope: Scope, sink: ScopeSink, instructions: str | None
    ) -> Any:
        self.asked.append(f"own {instructions}")
        if self.own_fails_with is not None:
            raise AcquireFailed(TurnError(self.own_fails_with, "no", "provider"))
        return "own"

    async def left(self, scope: Scope) -> None:
        self.asked.append("left")

    async def found(self) -> Any:
        return await connection_for_fork(self, SESSION, SIDE, SINK, "verse")


@pytest.mark.rule("RT-119", "RT-120")
@pytest.mark.parametrize(
    ("live", "apart", "asked", "found"),
    [
        (True, False, ["join"], "joined"),
        (False, False, ["join", "own verse"], "own"),
        (True, True, ["own verse"], "own"),
        (False, True, ["own verse"], "own"),
    ],
)
async def test_a_fork_joins_its_source_unless_it_is_made_apart(
    live: bool, apart: bool, asked: list[str], found: str
) -> None:
    connections = Connections(live, apart)
    assert await connections.found() == found
    assert connections.asked == asked


@pytest.mark.rule("RT-110")
async def test_a_conversation_that_is_not_kept_yet_is_asked_where_it_lives() -> None:
    connections = Connections(live=True, apart=True, own_fails_with="session.not_resumable")
    assert await connections.found() == "joined"
    assert connections.asked == ["own verse", "left", "join"], "one claim of the scope after the other"


@pytest.mark.rule("RT-111", "RT-130")
@pytest.mark.parametrize(
    ("live", "apart", "code"),
    [
        (False, True, "session.not_resumable"),
        (True, True, "provider.timeout"),
        (False, False, "session.not_resumable"),
    ],
)
async def test_there_is_no_side_where_neither_can_be_had(live: bool, apart: bool, code: str) -> None:
    connections = Connections(live, apart, code)
    with pytest.raises(AcquireFailed) as failed:
        await connections.found()
    assert failed.value.error.code == code
