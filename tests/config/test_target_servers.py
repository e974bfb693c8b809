"""Targets that run already: where they listen, and the file of what they want to be shown."""

from pathlib import Path

import pytest

from runtime.config.server_url import ServerUrl
from tests.config.config_bench import Bench


def target(url: str, more: str = "") -> str:
    return f'[[targets]]\nid = "a"\nprovider = "codex"\nurl = "{url}"\n{more}'


@pytest.mark.parametrize(
    ("url", "read"),
    [
        ("ws://127.0.0.1:4500", ServerUrl("127.0.0.1", 4500, "/", False)),
        ("ws://localhost:1/x/y", ServerUrl("localhost", 1, "/x/y", False)),
        ("ws://[::1]:4500/", ServerUrl("::1", 4500, "/", False)),
        ("ws://127.0.0.1", ServerUrl("127.0.0.1", 80, "/", False)),
        ("wss://Codex.example", ServerUrl("codex.example", 443, "/", True)),
    ],
)
def test_a_url_is_taken_apart(url: str, read: ServerUrl, tmp_path: Path) -> None:
    (configured,) = Bench(tmp_path).load(target(url)).targets
    assert configured.url == read
    assert configured.command == ()


def test_another_machine_without_encryption_has_to_be_allowed(tmp_path: Path) -> None:
    text = target("ws://10.0.0.1:4500", "allowUnencrypted = true")
    (configured,) = Bench(tmp_path).load(text).targets
    assert configured.url is not None
    assert not configured.url.is_loopback


def test_the_token_file_is_relative_to_the_configuration(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    (configured,) = bench.load(target("ws://127.0.0.1:1", 'tokenFile = "codex.token"')).targets
    assert configured.token_file == bench.config_file.parent / "codex.token"
