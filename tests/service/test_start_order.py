"""In which order a daemon starts: nothing is touched before it is known to be alone, and clients come last."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import trio

from runtime.api.listener import SocketListener
from runtime.config import Configuration, Flags, Surroundings, load_configuration
from runtime.service import composition, daemon
from store.open import Store
from supervisor.process_guard import ProcessGuard

STEPS = (
    "the data folder is locked",
    "the address is taken",
    "leftover processes are ended",
    "agents can be started",
    "the database is opened and checked",
    "what was left open is settled",
    "clients may connect",
    "it is announced",
    "ready",
)


class NoPrograms:
    def find(self, program: str) -> str | None:
        return None


@pytest.fixture
def configuration(tmp_path: Path) -> Configuration:
    surroundings = Surroundings(
        config_file=tmp_path / "none.toml",
        data_dir=tmp_path / "data",
        work_root=tmp_path / "work",
        working_directory=tmp_path,
        programs=NoPrograms(),
    )
    return load_configuration(Flags(listen="127.0.0.1:0"), surroundings)


@pytest.mark.rule("RT-076")
@pytest.mark.case("FC-06", "FC-32", "FC-33")
async def test_each_step_of_a_start_comes_in_its_place(
    configuration: Configuration, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[str] = []

    def note(owner: Any, name: str, step: str) -> None:
        original: Callable[..., Any] = getattr(owner, name)

        def noted(*arguments: Any, **named: Any) -> Any:
            seen.append(step)
            return original(*arguments, **named)

        monkeypatch.setattr(owner, name, noted)

    note(composition, "acquire_instance_lock", STEPS[0])
    note(daemon, "bind", STEPS[1])
    note(composition, "sweep", STEPS[2])
    note(ProcessGuard, "start", STEPS[3])
    note(composition, "open_store", STEPS[4])
    note(Store, "recover", STEPS[5])
    note(SocketListener, "listen", STEPS[6])
    note(daemon, "announce", STEPS[7])
    stop = trio.Event()

    def ready(_: object) -> None:
        seen.append(STEPS[8])
        stop.set()

    with trio.fail_after(60):
        await daemon.serve(configuration, ready=ready, stop=stop)
    assert tuple(dict.fromkeys(seen)) == STEPS, "`listen` is called again where it is served"
