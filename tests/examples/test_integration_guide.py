"""The guide for integrators tells the truth: its code runs in the order it is read, or stands so in an example."""

import ast
import builtins
import inspect
import os
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import anyio
import attrs
import httpx
import pytest

import greenroom_client
from runtime.config import Flags, Surroundings, load_configuration
from tests.end_to_end.daemon import Daemon, poll_until
from tools.files import ROOT

GUIDE = ROOT / "docs" / "integrating.md"
README = ROOT / "client" / "README.md"
_BLOCK = re.compile(
    r"(?:^<!-- from (?P<source>\S+) -->\n)?^```(?P<language>\w+)\n(?P<text>.*?)^```$",
    re.MULTILINE | re.DOTALL,
)


class Block(NamedTuple):
    language: str
    text: str
    source: str | None
    line: int


def blocks(language: str, page: Path = GUIDE) -> list[Block]:
    text = page.read_text()
    found = [
        Block(match["language"], match["text"], match["source"], text[: match.start()].count("\n") + 1)
        for match in _BLOCK.finditer(text)
    ]
    assert found
    return [block for block in found if block.language == language]


def test_every_block_is_of_a_kind_that_a_test_here_looks_at():
    fences = re.findall(r"^```(\w*)$", GUIDE.read_text(), re.MULTILINE)
    assert set(fences) - {""} == {"console", "python", "toml"}


@pytest.mark.parametrize(
    "block", [b for b in blocks("python") if b.source], ids=lambda block: f"line-{block.line}"
)
def test_a_block_from_an_example_stands_there(block: Block):
    assert block.source is not None
    assert block.text in (ROOT / block.source).read_text()


@pytest.mark.parametrize("backend", ["asyncio", "trio"])
def test_the_other_blocks_run_in_the_order_they_are_read(
    daemon: Daemon,
    backend: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
):
    # Where `greenroom serve` keeps its data by default.
    (tmp_path / "greenroom").symlink_to(daemon.data_dir)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))

    async def read_the_guide() -> None:
        with anyio.fail_after(60):
            for block in blocks("python", README):
                await run(block, {"__builtins__": builtins})
            async with greenroom_client.connect_to_daemon() as client:
                names: dict[str, Any] = {"__builtins__": builtins}
                for block in blocks("python"):
                    if block.source is None:
                        names["client"] = client  # "in what follows", as the page says
                        await run(block, names)

    anyio.run(read_the_guide, backend=backend)
    said = capsys.readouterr().out
    assert said.count("You said: “hello”.") == 3  # the client's own page, the guide, and reading it again
    assert "user hello" in said


async def run(block: Block, names: dict[str, Any]) -> None:
    source = "\n" * block.line + block.text
    code = compile(source, str(GUIDE), "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
    if code.co_flags & inspect.CO_COROUTINE:
        await eval(code, names)
    else:
        exec(code, names)


def test_the_configuration_of_the_guide_is_taken(tmp_path: Path):
    (block,) = blocks("toml")
    (tmp_path / "api.token").write_text("A" * 43)
    (tmp_path / "api.token").chmod(0o600)
    (tmp_path / "config.toml").write_text(block.text)
    surroundings = attrs.evolve(Surroundings.of_this_process(), config_file=tmp_path / "config.toml")
    (token,) = load_configuration(Flags(), surroundings).tokens
    assert (token.name, token.scope, token.max_effect) == ("api", "control", "edits")


# --- the commands -----------------------------------------------------------------------------------------------


def command(beginning: str) -> str:
    """The one command of the guide that begins so."""
    commands = [block.text.removeprefix("$ ").strip() for block in blocks("console")]
    assert len(commands) == 3, "a command that no test runs"
    (found,) = [one for one in commands if beginning in one]
    return found


@contextmanager
def running(line: str, folder: Path, **environment: str) -> Iterator["subprocess.Popen[bytes]"]:
    """A command as a shell in the checkout would run it, ended afterwards; its words must not need quoting."""
    words = line.split()
    while "=" in words[0]:
        name, _, value = words.pop(0).partition("=")
        environment[name] = value
    words[0] = str(Path(sys.executable).parent / words[0])
    process = subprocess.Popen(
        words,
        cwd=ROOT,
        env={"HOME": str(folder), "PATH": os.defpath, **environment},
        stdout=subprocess.PIPE,
        stderr=(folder / "errors").open("wb"),
    )
    try:
        yield process
    finally:
        if process.poll() is None:
            process.send_signal(signal.SIGTERM)
        process.wait(30)
        assert process.stdout is not None
        process.stdout.close()


def test_the_daemon_of_the_guide_starts(tmp_path: Path):
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    with running(f"{command('serve')} --listen 127.0.0.1:{port}", tmp_path) as process:
        assert process.stdout is not None
        assert b'"event":"ready"' in process.stdout.readline()
    assert process.returncode == 0


def test_the_embedding_program_of_the_guide_runs(tmp_path: Path):
    line = command("embedding").replace(" data", f" {tmp_path}/data")
    with running(line, tmp_path) as process:
        assert process.stdout is not None
        assert b"two" in process.stdout.read()
        assert process.wait(30) == 0


def test_the_layer_of_the_guide_streams_to_a_browser_while_its_turn_runs(
    daemon: Daemon, workspace: str, tmp_path: Path
):
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    line = command("uvicorn").replace("=data", f"={daemon.data_dir}").replace("8000", str(port))
    headers = {"X-User": workspace, "Idempotency-Key": "create"}
    with (
        running(line, tmp_path),
        httpx.Client(base_url=f"http://127.0.0.1:{port}", headers=headers, timeout=30) as http,
    ):
        assert poll_until(lambda: is_up(port), 30), (tmp_path / "errors").read_text()
        session = http.post("/sessions").json()["session"]["agentSessionId"]
        body = {"text": "[[say before]] [[ask allow_once]] [[say after]]"}
        sent = http.post(
            f"/sessions/{session}/prompts", json=body, headers={"Idempotency-Key": "prompt"}
        ).json()
        path = f"/sessions/{session}/turns/{sent['turn']['turnId']}"
        names = []
        with http.stream("GET", f"{path}/stream") as response:
            for text in response.iter_lines():
                if text.startswith("event: "):
                    names.append(text.removeprefix("event: "))
                if text == "event: asked":
                    # The turn waits for this answer, so what came until now was streamed.
                    (asked,) = http.get("/approvals").json()["items"]
                    http.post(f"{path}/approvals/{asked['requestId']}", json={"option": "allow-once"})
    assert names[0] == "text"
    assert names.index("asked") < names.index("end") == len(names) - 1


def is_up(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0
