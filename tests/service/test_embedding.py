"""The controller inside a program: the whole contract in memory, no socket, no token, the same end as a daemon's."""

from pathlib import Path

import attrs
import pytest
import trio

import greenroom_client
from greenroom_client import (
    BufferLimits,
    Client,
    ConnectionLost,
    DaemonUnreachable,
    GreenroomError,
    TextPiece,
)
from runtime.api.authentication import Principal
from runtime.config import Configuration, Flags, Surroundings, load_configuration
from runtime.service import StartRefused
from runtime.service.embedding import embed


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
    return load_configuration(Flags(), surroundings)


async def say(client: Client, text: str, workspace_id: str = "w") -> tuple[str, str]:
    """A new session with one prompt; its id, and what the agent said."""
    created = await client.session_create(
        workspace_id=workspace_id, agent_target_id="demo", client_submit_id=greenroom_client.new_submit_id()
    )
    session_id = created["session"]["agentSessionId"]
    said = ""
    async with greenroom_client.send_and_stream(
        client, workspace_id=workspace_id, agent_session_id=session_id, content=text
    ) as turn:
        async for piece in turn:
            if isinstance(piece, TextPiece):
                said += piece.text
            elif isinstance(piece, greenroom_client.Asked):
                option = piece.interaction["options"][0]
                await greenroom_client.answer_option(client, piece.interaction, option["optionId"])
    assert turn.turn["outcome"] == "completed"
    return session_id, said


@pytest.mark.rule("RT-145")
async def test_a_prompt_runs_to_its_end_without_a_socket(configuration: Configuration):
    async with embed(configuration) as greenroom, greenroom.connect() as client:
        assert client.hello["scope"] == "admin"
        _, said = await say(client, "[[stream 50]] [[ask allow_once]] [[say done]]")
        assert said.endswith("done")
        assert sorted(path.name for path in configuration.data_dir.iterdir() if path.suffix == ".json") == []
        assert not (configuration.data_dir / "token").exists()


@pytest.mark.rule("RT-145")
async def test_what_was_acknowledged_is_there_in_the_next_run_however_the_last_one_ended(
    configuration: Configuration,
):
    kept = []

    async def fails() -> None:
        async with embed(configuration) as greenroom, greenroom.connect() as client:
            kept.append(await say(client, "[[say kept]]"))
            raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        await fails()
    ((session_id, _),) = kept
    async with embed(configuration) as greenroom, greenroom.connect() as client:
        read = await client.session_messages(workspace_id="w", agent_session_id=session_id, after_version=0)
    assert "kept" in [greenroom_client.text_of(message) for message in read["messages"]]


async def test_each_client_has_the_rights_it_is_given(configuration: Configuration):
    tenant = Principal(name="tenant", scope="control", workspaces=frozenset({"a"}))
    async with embed(configuration) as greenroom, greenroom.connect(principal=tenant) as client:
        assert (await client.session_list(workspace_id="a"))["items"] == []
        with pytest.raises(GreenroomError, match=r"auth\.forbidden"):
            await client.session_list(workspace_id="b")


async def test_clients_hear_of_each_other_and_a_slow_one_loses_no_fact(configuration: Configuration):
    limits = attrs.evolve(configuration.limits, client_queue_bytes=64 * 1024)
    async with (
        embed(attrs.evolve(configuration, limits=limits)) as greenroom,
        greenroom.connect() as watching,
        greenroom.connect() as talking,
        watching.subscribe("w", buffer=BufferLimits(events_max=8)) as events,
    ):
        session_id, said = await say(talking, "[[stream 400]] [[say the end]]")
        view = greenroom_client.SessionView("w", session_id)
        while view.active_turn is not None or not view.turns:
            view.receive(await anext(events))
    texts = [greenroom_client.text_of(one) for one in view.messages if one["role"] == "assistant"]
    assert "".join(texts) == said


async def test_a_data_directory_is_one_programs_alone(configuration: Configuration):
    async with embed(configuration):
        with pytest.raises(StartRefused) as refused:
            async with embed(configuration):
                pass
    assert refused.value.exit_code == 3


@pytest.mark.rule("RT-144")
async def test_a_stop_ends_turns_and_clients_and_lets_nobody_in_again(configuration: Configuration):
    async with embed(configuration) as greenroom:
        async with greenroom.connect() as client:
            created = await client.session_create(
                workspace_id="w",
                agent_target_id="demo",
                client_submit_id="one",
                initial_content=greenroom_client.prompt("[[hang]]"),
            )
            await greenroom.stop()
            with pytest.raises(ConnectionLost) as lost:
                await client.session_close(workspace_id="w", agent_session_id="any")
            assert lost.value.close_code == 1001
        with pytest.raises(DaemonUnreachable, match="stopped"):
            async with greenroom.connect():
                pass
    async with embed(configuration) as greenroom, greenroom.connect() as client:
        turn = await client.turn_get(
            workspace_id="w",
            agent_session_id=created["session"]["agentSessionId"],
            turn_id=created["turn"]["turnId"],
        )
        assert turn["turn"]["outcome"] == "interrupted"


async def test_a_cancelled_program_ends_it_at_once(configuration: Configuration):
    with trio.move_on_after(30) as scope:
        async with embed(configuration) as greenroom, greenroom.connect() as client:
            await say(client, "[[say hello]]")
            scope.cancel()
            await trio.sleep_forever()
    assert scope.cancelled_caught
    async with embed(configuration):
        pass
