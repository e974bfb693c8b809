"""Where a value comes from: defaults, then the file, then the flags; and what the defaults are."""

from pathlib import Path

import pytest

from runtime.api.listen_address import TcpAddress, UnixAddress
from runtime.config import ConfigurationInvalid, ProgramsOnPath, Surroundings, TargetConfiguration
from runtime.wire.limits import Limits, RestartLimit
from tests.config.config_bench import Bench, ProgramsInMemory


@pytest.fixture
def bench(tmp_path):
    return Bench(tmp_path)


def test_without_a_file_everything_has_its_default(bench):
    configuration = bench.load()
    assert configuration.data_dir == bench.folder / "data"
    assert configuration.work_root == bench.folder / "home" / "greenroom"
    assert configuration.listen == TcpAddress("127.0.0.1", 4517)
    assert configuration.targets == ()
    assert configuration.demo
    assert configuration.limits == Limits()
    assert configuration.transport == "wsproto"
    assert configuration.console
    assert not configuration.enable_faults
    assert not configuration.allow_remote
    assert configuration.interaction_timeout_seconds == 0
    assert configuration.interaction_timeout_answer == "stop"
    assert configuration.config_file is None


def test_an_empty_file_changes_nothing_but_that_it_was_read(bench):
    defaults = bench.load()
    configured = bench.load("")
    assert configured.config_file == bench.config_file
    assert (configured.listen, configured.limits, configured.targets) == (
        defaults.listen,
        defaults.limits,
        defaults.targets,
    )


def test_every_key_of_the_documented_file_is_taken(bench):
    configuration = bench.load(
        """
        dataDir = "/srv/greenroom/data"
        workRoot = "/srv/greenroom/work"
        listen = "[::1]:9000"
        transport = "trio-websocket"
        console = false
        demo = false
        interactionTimeoutSeconds = 1.5
        interactionTimeoutAnswer = "reject_once"
        inheritEnv = ["HTTPS_PROXY"]
        allowedOrigins = ["https://console.example:8443"]
        allowedHosts = ["console.example"]
        allowRemote = true
        tlsCertificate = "certificate.pem"
        tlsKey = "/etc/key.pem"

        [[targets]]
        id = "codex"
        provider = "codex"
        name = "Codex"
        command = ["codex", "app-server"]
        env = { CODEX_HOME = "/srv/codex" }
        enabled = false

        [[tokens]]
        name = "api"
        tokenFile = "api.token"
        scope = "control"
        workspaces = ["w1"]
        roots = ["/srv/work"]
        maxEffect = "edits"
        maxSessions = 10
        maxLiveTurns = 2
        maxConnections = 3
        requestsPerSecond = 0.5

        [limits]
        maxLiveConnections = 5
        cancelGraceSeconds = 3
        sessionsPerConnection = { codex = 4 }
        sessionRestarts = { count = 7, periodSeconds = 1 }
        storeReserveBytes = 0
        """
    )
    assert configuration.data_dir == Path("/srv/greenroom/data")
    assert configuration.work_root == Path("/srv/greenroom/work")
    assert configuration.listen == TcpAddress("::1", 9000)
    assert configuration.transport == "trio-websocket"
    assert not configuration.console
    assert not configuration.demo
    assert configuration.interaction_timeout_seconds == 1.5
    assert configuration.interaction_timeout_answer == "reject_once"
    assert configuration.inherit_env == ("HTTPS_PROXY",)
    assert configuration.allowed_origins == ("https://console.example:8443",)
    assert configuration.allowed_hosts == ("console.example",)
    assert configuration.allow_remote
    assert configuration.tls_certificate == bench.config_file.parent / "certificate.pem"
    assert configuration.tls_key == Path("/etc/key.pem")
    (target,) = configuration.targets
    assert target == TargetConfiguration(
        id="codex",
        provider="codex",
        name="Codex",
        command=("codex", "app-server"),
        env={"CODEX_HOME": "/srv/codex"},
        enabled=False,
    )
    (token,) = configuration.tokens
    assert token.name == "api"
    assert token.token_file == bench.config_file.parent / "api.token"
    assert token.scope == "control"
    assert token.workspaces == ("w1",)
    assert token.roots == ("/srv/work",)
    assert token.max_effect == "edits"
    assert (token.max_sessions, token.max_live_turns, token.max_connections) == (10, 2, 3)
    assert token.requests_per_second == 0.5
    assert configuration.limits.max_live_connections == 5
    assert configuration.limits.cancel_grace_seconds == 3.0
    assert configuration.limits.session_restarts == RestartLimit(7, 1.0)
    assert configuration.limits.store_reserve_bytes == 0


def test_a_share_that_is_not_named_keeps_its_default(bench):
    limits = bench.load("limits = { sessionsPerConnection = { acp = 3 } }").limits
    assert limits.sessions_per_connection == {"codex": 16, "claude": 1, "acp": 3}


def test_flags_win_over_the_file(bench):
    bench.write('dataDir = "/a"\nlisten = "127.0.0.1:1"\ntransport = "wsproto"\nconsole = true')
    configuration = bench.load(
        data_dir="/b", listen="localhost:2", transport="trio-websocket", console=False, enable_faults=True
    )
    assert configuration.data_dir == Path("/b")
    assert configuration.listen == TcpAddress("127.0.0.1", 2)
    assert configuration.transport == "trio-websocket"
    assert not configuration.console
    assert configuration.enable_faults


def test_the_file_named_by_the_flag_is_read_in_place_of_the_users_own(bench):
    bench.write("demo = false")
    bench.surroundings.working_directory.mkdir()
    (bench.surroundings.working_directory / "other.toml").write_text(
        'interactionTimeoutAnswer = "reject_once"'
    )
    configuration = bench.load(config_file="other.toml")
    assert configuration.demo
    assert configuration.interaction_timeout_answer == "reject_once"
    assert configuration.config_file == bench.surroundings.working_directory / "other.toml"


def test_paths_of_flags_are_relative_to_the_working_directory_those_of_the_file_to_its_folder(bench):
    configuration = bench.load('workRoot = "work"', data_dir="data", listen="unix:socket")
    assert configuration.data_dir == bench.folder / "here" / "data"
    assert configuration.work_root == bench.config_file.parent / "work"
    assert configuration.listen == UnixAddress(str(bench.folder / "here" / "socket"))


def test_a_tilde_is_the_home_of_the_user(bench, monkeypatch, tmp_path):
    monkeypatch.setenv("HOME", str(tmp_path))
    configuration = bench.load(
        'workRoot = "~/w"\nlisten = "unix:~/s"\n'
        '[[targets]]\nid = "x"\nprovider = "acp"\ncommand = ["~/bin/x", "~/kept"]'
    )
    assert configuration.work_root == tmp_path / "w"
    assert configuration.listen == UnixAddress(str(tmp_path / "s"))
    assert configuration.targets[0].command == (f"{tmp_path}/bin/x", "~/kept")


def test_the_directories_of_the_platform_are_the_defaults(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "c"))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "d"))
    monkeypatch.setenv("HOME", str(tmp_path / "h"))
    surroundings = Surroundings.of_this_process()
    assert surroundings.config_file == tmp_path / "c" / "greenroom" / "config.toml"
    assert surroundings.data_dir == tmp_path / "d" / "greenroom"
    assert surroundings.work_root == tmp_path / "h" / "greenroom"
    assert surroundings.working_directory == Path.cwd()


def test_a_user_without_a_home_is_told_so_in_one_line(monkeypatch):
    def no_home():
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.setattr(Path, "home", no_home)
    with pytest.raises(ConfigurationInvalid) as raised:
        Surroundings.of_this_process()
    assert (
        str(raised.value) == "environment: HOME: is not set, and this user has no home; for example /home/me"
    )


def test_agents_found_on_path_become_targets_in_a_fixed_order(tmp_path):
    programs = ProgramsInMemory(dict.fromkeys(("qwen", "opencode", "codex-acp", "codex", "claude"), "/x"))
    targets = Bench(tmp_path, programs).load().targets
    assert [(target.id, target.provider, target.command) for target in targets] == [
        ("codex", "codex", ("codex", "app-server")),
        ("claude", "claude", ("claude",)),
        ("codex-acp", "acp", ("codex-acp",)),
        ("opencode", "acp", ("opencode", "acp")),
        ("qwen", "acp", ("qwen", "--acp")),
    ]
    assert all(target.enabled for target in targets)


def test_configured_targets_stand_alone_even_when_there_are_none(tmp_path):
    bench = Bench(tmp_path, ProgramsInMemory({"qwen": "/x"}))
    configured = bench.load('[[targets]]\nid = "a"\nprovider = "claude"\ncommand = ["claude"]')
    assert [(target.id, target.name) for target in configured.targets] == [("a", "a")]
    assert bench.load("targets = []").targets == ()


def test_programs_are_looked_for_on_the_path_given(tmp_path):
    program = tmp_path / "qwen"
    program.write_text("#!/bin/sh\n")
    finder = ProgramsOnPath(str(tmp_path))
    assert finder.find("qwen") is None  # not executable
    program.chmod(0o755)
    assert finder.find("qwen") == str(program)
    assert finder.find("gemini") is None


def test_commands_and_variables_do_not_show_in_a_printed_configuration(bench):
    configuration = bench.load(
        '[[targets]]\nid = "a"\nprovider = "acp"\ncommand = ["a", "--key=hidden1"]\nenv = { KEY = "hidden2" }'
    )
    assert "hidden" not in repr(configuration)
