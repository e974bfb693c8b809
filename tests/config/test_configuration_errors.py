"""What is wrong with a configuration is one line: which key, what is wrong, what would be right (contract §1)."""

import pytest

from runtime.config import ConfigurationInvalid
from tests.config.config_bench import Bench

SERVER = '[[targets]]\nid = "a"\nprovider = "codex"\nurl = "ws://127.0.0.1:4500"\n'
TARGET = '[[targets]]\nid = "a"\nprovider = "acp"\ncommand = ["a"]\n'
TOKEN = '[[tokens]]\nname = "t"\ntokenFile = "/t"\nscope = "read"\n'
TOP_KEYS = (
    "allowRemote, allowedHosts, allowedOrigins, console, dataDir, demo, inheritEnv, interactionTimeoutAnswer, "
    "interactionTimeoutSeconds, limits, listen, targets, tlsCertificate, tlsKey, tokens, transport, workRoot"
)
NO_TLS = "allowRemote: needs tlsCertificate and tlsKey; set both, or allowRemote = false"
LISTEN_EXAMPLE = 'for example "127.0.0.1:4517", "[::1]:4517" or "unix:/run/greenroom.sock"'

MATRIX = {
    # The document.
    "colour = 1": f"colour: is unknown; known here are {TOP_KEYS}",
    "allow_remote = true": "allow_remote: is unknown; did you mean allowRemote?",
    '"a b" = 1': f"['a b']: is unknown; known here are {TOP_KEYS}",
    "demo =": "is not TOML: Invalid value (at end of document)",
    "demo = true\ndemo = true": "is not TOML: Cannot overwrite a value (at end of document)",
    # Types.
    'demo = "yes"': "demo: must be a boolean, not a string; for example false",
    "demo = 1": "demo: must be a boolean, not an integer; for example false",
    "demo = 2020-01-01": "demo: must not be a date or time; for example false",
    "workRoot = 3": 'workRoot: must be a string, not an integer; for example "~/greenroom"',
    'workRoot = ""': 'workRoot: must have at least 1 characters; for example "~/greenroom"',
    'workRoot = "a\\u0000"': 'workRoot: must be a path: not empty, without NUL characters; for example "~/greenroom"',
    'workRoot = "~nobody-here/x"': 'workRoot: ~nobody-here/x: there is no such user\'s home; for example "~/greenroom"',
    'inheritEnv = "HOME"': 'inheritEnv: must be an array, not a string; for example ["HTTPS_PROXY"]',
    "inheritEnv = [1]": 'inheritEnv[0]: must be a string, not an integer; for example "HTTPS_PROXY"',
    'inheritEnv = ["A=1"]': "inheritEnv[0]: must be the name of a variable: not empty, without = and NUL; "
    'for example "HTTPS_PROXY"',
    'transport = "quic"': "transport: must be one of wsproto, trio-websocket",
    'interactionTimeoutAnswer = "allow"': "interactionTimeoutAnswer: must be one of reject_once, stop",
    "interactionTimeoutSeconds = -1": "interactionTimeoutSeconds: must not be below 0; for example 900 (0 is never)",
    "interactionTimeoutSeconds = inf": "interactionTimeoutSeconds: must be a finite number; for example 900 (0 is never)",
    # Addresses.
    'listen = "4517"': f"listen: must be HOST:PORT or unix:PATH; {LISTEN_EXAMPLE}",
    'listen = "127.0.0.1:70000"': f"listen: must be HOST:PORT or unix:PATH; {LISTEN_EXAMPLE}",
    'listen = "example.com:1"': f"listen: the host must be a numeric address or localhost; {LISTEN_EXAMPLE}",
    'listen = "unix:"': f"listen: a unix socket needs a path; {LISTEN_EXAMPLE}",
    f'listen = "unix:/{"x" * 107}"': f"listen: the path of a socket must not be longer than 107 bytes; {LISTEN_EXAMPLE}",
    'listen = "0.0.0.0:1"': "listen: other machines could connect; needs allowRemote = true, tlsCertificate and tlsKey; "
    "for example 127.0.0.1:4517",
    "allowRemote = true": NO_TLS,
    'listen = "0.0.0.0:1"\nallowRemote = true': NO_TLS,
    'tlsCertificate = "c"': "tlsKey: is missing; tlsCertificate is set and needs it; "
    'for example "/etc/greenroom/key.pem"',
    'tlsKey = "k"': "tlsCertificate: is missing; tlsKey is set and needs it; "
    'for example "/etc/greenroom/certificate.pem"',
    'allowedOrigins = ["console.example"]': "allowedOrigins[0]: must be scheme://host or scheme://host:port, "
    'without a path; for example "https://console.example:8443"',
    'allowedOrigins = ["https://a.example", "https://a.example/"]': "allowedOrigins[1]: must be scheme://host or "
    'scheme://host:port, without a path; for example "https://console.example:8443"',
    'allowedOrigins = ["*"]': "allowedOrigins[0]: must be scheme://host or scheme://host:port, without a path; "
    'for example "https://console.example:8443"',
    'allowedHosts = ["a:b"]': "allowedHosts[0]: must be a host name, with a port or without; "
    'for example "console.example" or "console.example:8443"',
    # Targets.
    "targets = 3": "targets: must be an array, not an integer; "
    'for example [[targets]] with id = "codex", provider = "acp", command = ["codex-acp"]',
    "targets = [3]": "targets[0]: must be a table, not an integer",
    '[[targets]]\nprovider = "acp"\ncommand = ["a"]': 'targets[0].id: is missing; for example "codex"',
    TARGET.replace('"a"\nprovider', '"a b"\nprovider'): "targets[0].id: must be 1 to 128 characters of "
    'A-Z a-z 0-9 . _ : -; for example "codex"',
    TARGET + TARGET: "targets[1].id: is that of targets[0] too; each needs its own",
    TARGET.replace(
        'id = "a"', 'id = "demo"'
    ): "targets[0].id: is that of the built-in target; choose another, or set demo = false",
    TARGET.replace('"acp"', '"gpt"'): "targets[0].provider: must be one of codex, claude, acp",
    TARGET.replace('["a"]', "[]"): "targets[0].command: must have 1 to 1000 items; "
    'for example ["codex", "app-server"]',
    TARGET.replace('["a"]', '"a"'): "targets[0].command: must be an array, not a string; "
    'for example ["codex", "app-server"]',
    TARGET.replace('["a"]', '["a", 1]'): "targets[0].command[1]: must be a string, not an integer; "
    'for example "app-server"',
    TARGET.replace(
        '["a"]', '[""]'
    ): "targets[0].command[0]: must be text without NUL characters, the program not empty; "
    'for example "app-server"',
    TARGET.replace(
        '["a"]', '["bin/a"]'
    ): "targets[0].command[0]: must be a name found on PATH or an absolute path; "
    'for example "codex" or "/opt/codex/bin/codex"',
    TARGET
    + "env = { A = 1 }": 'targets[0].env.A: must be a string, not an integer; for example "/srv/codex"',
    TARGET + 'env = { "" = "x" }': "targets[0].env['']: must be the name of a variable: not empty, "
    "without = and NUL",
    TARGET + 'env = { A = "x\\u0000" }': "targets[0].env.A: must be text without NUL characters; "
    'for example "/srv/codex"',
    TARGET + "environment = {}": "targets[0].environment: is unknown; known here are "
    "allowUnencrypted, command, enabled, env, id, name, provider, tokenFile, url",
    TARGET.replace('command = ["a"]', ""): "targets[0].command: is missing; a target has a command or a url; "
    'for example ["codex", "app-server"]',
    TARGET + 'url = "ws://127.0.0.1:1"': "targets[0].command: cannot stand beside a url",
    TARGET + 'tokenFile = "/t"': "targets[0].tokenFile: is of use only with a url",
    TARGET + "allowUnencrypted = true": "targets[0].allowUnencrypted: is of use only with a url",
    SERVER + 'env = { A = "x" }': "targets[0].env: cannot stand beside a url",
    **{
        SERVER.replace(
            "ws://127.0.0.1:4500", url
        ): 'targets[0].url: must be ws://HOST:PORT or wss://HOST:PORT; for example "ws://127.0.0.1:4500"'
        for url in (
            "http://127.0.0.1:1",
            "ws://",
            "ws://:4500",
            "ws://a:0",
            "ws://a:99999",
            "ws://a b",
            "127.0.0.1:4500",
            "ws://[::1",
        )
    },
    **{
        SERVER.replace(
            "ws://127.0.0.1:4500", url
        ): "targets[0].url: must hold no account, query or fragment; "
        'a token goes into tokenFile; for example "ws://127.0.0.1:4500"'
        for url in ("ws://me:secret@127.0.0.1:1", "ws://127.0.0.1:1/?token=secret", "wss://a.example/#secret")
    },
    **{
        SERVER.replace("ws://127.0.0.1:4500", url): "targets[0].url: is another machine: needs wss://, or "
        'allowUnencrypted = true; for example "ws://127.0.0.1:4500"'
        for url in ("ws://10.0.0.1:4500", "ws://codex.example", "ws://127.0.0.1.example:1")
    },
    # Tokens.
    '[[tokens]]\nname = "t"\nscope = "read"': 'tokens[0].tokenFile: is missing; for example "/etc/greenroom/api.token"',
    TOKEN.replace('"read"', '"root"'): "tokens[0].scope: must be one of read, control, admin",
    TOKEN + "maxSessions = 0": "tokens[0].maxSessions: must not be below 1",
    TOKEN + "requestsPerSecond = 0": "tokens[0].requestsPerSecond: must not be below 0.001",
    TOKEN + 'maxEffect = "all"': "tokens[0].maxEffect: must be one of read_only, asks, edits, unrestricted",
    TOKEN + 'workspaces = ["a b"]': "tokens[0].workspaces[0]: must be 1 to 128 characters of "
    'A-Z a-z 0-9 . _ : -; for example "w1"',
    TOKEN + "roots = [1]": 'tokens[0].roots[0]: must be a string, not an integer; for example "/srv/work"',
    TOKEN + TOKEN: "tokens[1].name: is that of tokens[0] too; each needs its own",
    TOKEN + "token_file = '/t'": "tokens[0].token_file: is unknown; did you mean tokenFile?",
    # Limits.
    "[limits]\nmaxLiveConnections = 0": "limits.maxLiveConnections: must not be below 1; for example 64",
    "[limits]\npingSeconds = 0": "limits.pingSeconds: must be above 0; for example 20",
    "[limits]\npingSeconds = nan": "limits.pingSeconds: must be a finite number; for example 20",
    "[limits]\nmaxFrameBytes = 1.5": "limits.maxFrameBytes: must be an integer, not a number; for example 16777216",
    "[limits]\nmaxPagesBytes = 1": "limits.maxPagesBytes: is unknown; did you mean maxPageBytes or maxMessageBytes?",
    "[limits]\nzzz = 1": "limits.zzz: is unknown; the names are those of `limits` in docs/operations.md",
    "[limits]\nsessionRestarts = 3": "limits.sessionRestarts: must be a table, not an integer; "
    "for example { count = 3, periodSeconds = 60 }",
    "[limits.sessionRestarts]\ncount = 3\nperiodSeconds = 0": "limits.sessionRestarts.periodSeconds: "
    "must be above 0; for example 60",
    "[limits.sessionsPerConnection]\nacp = 0": "limits.sessionsPerConnection.acp: must not be below 1",
    "[limits.sessionsPerConnection]\nqwen = 1": "limits.sessionsPerConnection.qwen: is unknown; "
    "providers are codex, claude, acp",
}


def error_line(bench, text=None, **flags):
    with pytest.raises(ConfigurationInvalid) as raised:
        bench.load(text, **flags)
    return str(raised.value)


@pytest.mark.parametrize("text", MATRIX)
def test_each_mistake_has_its_line(text, tmp_path):
    bench = Bench(tmp_path)
    assert error_line(bench, text) == f"{bench.config_file}: {MATRIX[text]}"


def test_a_name_over_several_lines_still_makes_one_line(tmp_path):
    assert "\n" not in error_line(Bench(tmp_path), '"a\\nb" = 1')


def test_mistakes_of_flags_name_the_flag(tmp_path):
    bench = Bench(tmp_path)
    assert error_line(bench, listen="0.0.0.0:1") == (
        "command line: --listen: other machines could connect; needs allowRemote = true, tlsCertificate and tlsKey; "
        "for example 127.0.0.1:4517"
    )
    assert error_line(bench, listen="nowhere") == (
        "command line: --listen: must be HOST:PORT or unix:PATH; "
        "for example 127.0.0.1:4517, [::1]:4517 or unix:/run/greenroom.sock"
    )
    assert error_line(bench, data_dir="") == (
        "command line: --data-dir: must be a path: not empty, without NUL characters; "
        "for example ~/greenroom-data"
    )


def test_a_named_file_must_exist(tmp_path):
    missing = tmp_path / "here" / "missing.toml"
    assert error_line(Bench(tmp_path), config_file="missing.toml") == (
        f"command line: --config: {missing}: no such file; name another"
    )


def test_a_file_that_cannot_be_read_or_is_no_text_says_so(tmp_path):
    bench = Bench(tmp_path)
    bench.config_file.mkdir(parents=True)
    assert error_line(bench) == (
        f"{bench.config_file}: cannot be read (Is a directory); make it readable or name another with --config"
    )
    bench.config_file.rmdir()
    bench.config_file.write_bytes(b"# \xff")
    assert error_line(bench) == f"{bench.config_file}: must be UTF-8; byte 2 is not"
    bench.config_file.write_bytes(b" " * (1024 * 1024 + 1))
    assert error_line(bench) == f"{bench.config_file}: must not be larger than 1048576 bytes"
    bench.config_file.write_text("x = " + "[" * 100_000)
    assert error_line(bench) == f"{bench.config_file}: is not TOML: nested too deep"


@pytest.mark.parametrize("work_root", ["data", "data/work"])
def test_agents_never_work_inside_the_data_directory(work_root, tmp_path):
    bench = Bench(tmp_path)
    (tmp_path / "data").mkdir()
    path = tmp_path / work_root
    assert error_line(bench, f'workRoot = "{path}"') == (
        f"{bench.config_file}: workRoot: {path} must not be inside the data directory {tmp_path / 'data'}; "
        'for example "~/greenroom"'
    )


def test_a_link_does_not_bring_agents_into_the_data_directory(tmp_path):
    bench = Bench(tmp_path)
    (tmp_path / "data").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "data")
    assert "must not be inside the data directory" in error_line(bench, f'workRoot = "{tmp_path}/link/work"')


def test_remote_access_with_encryption_is_allowed(tmp_path):
    configuration = Bench(tmp_path).load(
        'listen = "0.0.0.0:1"\nallowRemote = true\ntlsCertificate = "/c"\ntlsKey = "/k"'
    )
    assert str(configuration.listen) == "0.0.0.0:1"


def test_without_the_demo_its_id_is_free(tmp_path):
    configuration = Bench(tmp_path).load("demo = false\n" + TARGET.replace('id = "a"', 'id = "demo"'))
    assert [target.id for target in configuration.targets] == ["demo"]
