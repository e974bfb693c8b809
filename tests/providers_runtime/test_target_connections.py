"""From a session to its process: where it starts, what it is started with, and who may share it."""

import attrs
import pytest

from runtime.providers.codex.descriptor import CodexDescriptor
from runtime.providers.examiner import ProgramExaminer
from runtime.providers.hosting import ConversationLaunch, HostedConversation
from runtime.providers.limits import PoolLimits
from runtime.providers.port import Scope, SettingChoice, SettingDescription
from runtime.providers.programs import ProgramReport
from runtime.providers.registry import ProviderRegistry
from runtime.providers.tenancy import AcquireFailed, ConnectionReference
from runtime.targets import TargetCatalogue, TargetConnections, TargetDefinition
from runtime.wire.rows import TargetSetting, TargetSettingValue
from store.canonical.identifiers import SessionId, TargetId, WorkspaceId
from store.canonical.session import Session, SessionCapabilities
from tests.doubles.line_provider import LineProvider, RecordingSink, scope
from tests.doubles.pool_bench import PoolBench, pooled
from tests.doubles.program_bench import LineExamination, examining

TARGET = TargetId("lines")
COMMAND = ("/opt/line-agent", "serve")
DIRECTORIES = {"/one", "/two"}


def a_session(name: str, cwd: str = "/one", **settings: object) -> Session:
    row = Session(WorkspaceId("w"), SessionId(name), TARGET, "lines", cwd, 0, 0)
    return attrs.evolve(row, settings=settings)


def connections(
    bench: PoolBench, command: tuple[str, ...] = COMMAND, examiner: ProgramExaminer | None = None
) -> TargetConnections:
    definition = TargetDefinition(TARGET, "lines", "Lines", command, {"PATH": "/bin"})
    catalogue = TargetCatalogue([definition], ProviderRegistry([bench.provider]), lambda _: True, examiner)
    return TargetConnections(
        catalogue, bench.pool, DIRECTORIES.__contains__, lambda: "new-1", "/neutral", examiner
    )


async def acquire(bench: PoolBench, session: Session, **options: tuple[str, ...]) -> ConnectionReference:
    name = session.agent_session_id
    return await connections(bench, **options).acquire(session, scope(name), RecordingSink())


def launched(bench: PoolBench) -> list[tuple[tuple[str, ...], str]]:
    requests = [process.agent.request for process in bench.launcher.processes]
    return [(tuple(request.argv), request.cwd) for request in requests]


async def test_sessions_of_a_family_that_shares_get_one_process_wherever_they_work(
    autojump_clock: object,
) -> None:
    async with pooled(sessions_per_connection=2) as bench:
        first = await acquire(bench, a_session("a", "/one"))
        second = await acquire(bench, a_session("b", "/two"))
        assert launched(bench) == [(COMMAND, "/neutral")]
        assert first.connection.pid == second.connection.pid


async def test_a_session_of_a_family_that_does_not_share_starts_its_process_where_it_works(
    autojump_clock: object,
) -> None:
    async with pooled() as bench:
        await acquire(bench, a_session("a", "/one"))
        await acquire(bench, a_session("b", "/gone"))
        assert launched(bench) == [(COMMAND, "/one"), (COMMAND, "/gone")], "the launch itself finds out"


async def test_a_process_of_its_own_starts_in_the_same_place(autojump_clock: object) -> None:
    async with pooled(sessions_per_connection=2) as bench:
        await acquire(bench, a_session("a"))
        await acquire(bench, a_session("b", dedicatedProcess=True))
        assert launched(bench) == [(COMMAND, "/neutral")] * 2


async def test_a_directory_that_is_gone_is_found_out_before_a_shared_process_is_used(
    autojump_clock: object,
) -> None:
    async with pooled(sessions_per_connection=2) as bench:
        with pytest.raises(AcquireFailed) as failed:
            await acquire(bench, a_session("a", "/gone"))
        assert failed.value.error.code == "session.cwd_missing"
        assert launched(bench) == []
        await acquire(bench, a_session("a", "/one"))


@pytest.mark.parametrize(
    ("command", "argv"),
    [
        (COMMAND, (*COMMAND, "--strict")),
        ((*COMMAND, "--strict", "-v"), (*COMMAND, "--strict", "-v")),
    ],
)
async def test_what_a_family_adds_to_the_command_is_added_once(
    command: tuple[str, ...], argv: tuple[str, ...], autojump_clock: object
) -> None:
    async with pooled(provider=LineProvider(launch_arguments=("--strict",))) as bench:
        await acquire(bench, a_session("a"), command=command)
        assert launched(bench) == [(argv, "/one")]


def hosting(conversation: HostedConversation) -> ConversationLaunch:
    word = "resume" if conversation.resumes else "new"
    return ConversationLaunch((f"--{word}={conversation.session_id}",))


async def test_a_process_that_hosts_one_conversation_is_told_which_and_shares_with_nobody(
    autojump_clock: object,
) -> None:
    provider = LineProvider(sessions_per_connection=1, conversation_launch=hosting)
    async with pooled(limits=PoolLimits(sessions_per_connection={"lines": 4}), provider=provider) as bench:
        await acquire(bench, a_session("a", model="small"))
        known = attrs.evolve(a_session("b"), provider_session_id="old-1")
        await acquire(bench, known)
        assert launched(bench) == [
            ((*COMMAND, "--new=new-1"), "/one"),
            ((*COMMAND, "--resume=old-1"), "/one"),
        ]
        told = [
            (each.session_id, each.resumes, dict(each.settings)) for each in provider.conversations if each
        ]
        assert told == [("new-1", False, {"model": "small"}), ("old-1", True, {})]


@pytest.mark.rule("RT-120", "PR-016")
async def test_a_process_for_a_fork_is_told_its_source_what_holds_there_and_a_name_of_its_own(
    autojump_clock: object,
) -> None:
    def forking(conversation: HostedConversation) -> ConversationLaunch:
        fork = conversation.fork.fork_id if conversation.fork else "none"
        return ConversationLaunch((f"--fork={fork}",), {"QUIET": "1"} if conversation.fork else {})

    provider = LineProvider(conversation_launch=forking)
    async with pooled(provider=provider) as bench:
        source = attrs.evolve(a_session("a", model="small"), provider_session_id="old-1")
        held = attrs.evolve(source, settings_source={"model": "provider"})
        targets = connections(bench)
        await targets.acquire_own(held, Scope("side", "w", "side"), RecordingSink(), "In verse.")
        (process,) = bench.launcher.processes
        assert process.agent.request.argv[-1] == "--fork=new-1"
        assert process.agent.request.environment["QUIET"] == "1"
        (hosted,) = provider.conversations
        assert hosted is not None
        assert hosted.fork is not None
        assert (hosted.session_id, hosted.resumes, dict(hosted.settings)) == (
            "old-1",
            True,
            {"dedicatedProcess": True},
        )
        assert (hosted.fork.held["model"], hosted.fork.instructions) == ("small", "In verse.")
        assert not targets.forks_apart(held), "nobody said yet that it is kept"
        kept = attrs.evolve(held, capabilities=SessionCapabilities(load=True))
        assert targets.forks_apart(kept)


async def test_what_a_family_needs_in_the_environment_gives_way_to_the_targets_own(
    autojump_clock: object,
) -> None:
    provider = LineProvider(launch_environment={"EVENTS": "1", "PATH": "/sbin"})
    async with pooled(provider=provider) as bench:
        await acquire(bench, a_session("a"))
        (process,) = bench.launcher.processes
        assert dict(process.agent.request.environment) == {"EVENTS": "1", "PATH": "/bin"}


async def test_the_choices_of_a_setting_are_shown_and_anything_else_is_refused(
    autojump_clock: object,
) -> None:
    choice = SettingChoice("quiet", "Say little", "asks")
    settings = (
        SettingDescription("tone", "now", (choice,), "quiet"),
        SettingDescription("model", "next_turn"),
    )
    async with pooled(provider=LineProvider(settings=settings)) as bench:
        catalogue = connections(bench).catalogue
        (target,) = catalogue.listing()
        values = (TargetSettingValue("quiet", "Say little", "asks"),)
        assert target.settings[0] == TargetSetting("tone", values, "quiet", "now")
        assert catalogue.check_settings(TARGET, {"tone": "quiet", "model": "any"}) is None
        refusal = catalogue.check_settings(TARGET, {"tone": "loud"})
        assert refusal is not None
        assert (refusal.code, refusal.details) == ("settings.invalid", {"key": "tone"})


async def test_what_a_program_says_of_itself_is_shown_and_told_to_its_adapter(autojump_clock: object) -> None:
    provider = LineProvider(examination=LineExamination())
    async with examining() as programs, pooled(provider=provider) as bench:
        wired = connections(bench, examiner=programs.examiner)
        (unknown,) = wired.catalogue.listing()
        assert (unknown.program.version, unknown.capabilities) == (None, None)
        assert programs.commands() == [], "a list asks nobody (RT-041)"
        await wired.catalogue.examine_all()
        (target,) = wired.catalogue.listing()
        assert (target.program.version, target.capabilities) == ("7.1", SessionCapabilities(load=True))
        await wired.acquire(a_session("a"), scope("a"), RecordingSink())
        assert provider.reports == [ProgramReport("7.1", frozenset({"sing", "dance"}))]
        assert programs.commands() == ["version", "document"]


async def test_a_running_program_that_calls_itself_another_version_is_asked_again_next_time(
    autojump_clock: object,
) -> None:
    provider = LineProvider(examination=LineExamination())
    async with examining() as programs, pooled(provider=provider) as bench:
        wired = connections(bench, examiner=programs.examiner)
        await wired.acquire(a_session("a"), scope("a"), RecordingSink())
        assert programs.files.kept == {}
        await wired.acquire(a_session("b"), scope("b"), RecordingSink())
        assert programs.commands() == ["version", "document"] * 2


async def test_a_disabled_target_s_program_is_not_asked(autojump_clock: object) -> None:
    async with examining() as programs, pooled() as bench:
        definition = TargetDefinition(TARGET, "lines", "Lines", COMMAND, {}, enabled=False)
        registry = ProviderRegistry([bench.provider])
        await TargetCatalogue([definition], registry, lambda _: True, programs.examiner).examine_all()
        assert programs.commands() == []


def test_codex_shares_and_does_not_go_on_with_defaults() -> None:
    descriptor = CodexDescriptor("7")
    assert (descriptor.key, descriptor.sessions_per_connection) == ("codex", 16)
    assert descriptor.launch_arguments == ("--strict-config",)
    settings = {setting.key: setting for setting in descriptor.settings}
    assert settings.keys() == {
        "model",
        "reasoningEffort",
        "approvalPolicy",
        "sandbox",
        "collaborationMode",
    }
    effects = {choice.value: choice.effect for choice in settings["sandbox"].choices or ()}
    assert effects == {
        "read-only": "read_only",
        "workspace-write": "edits",
        "danger-full-access": "unrestricted",
    }
    assert (settings["sandbox"].default, settings["approvalPolicy"].default) == (
        "workspace-write",
        "on-request",
    )
