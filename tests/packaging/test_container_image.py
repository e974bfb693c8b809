"""The container image: what it copies exists, and its command is one that starts, answers on its socket and stops cleanly."""

import json
import re
import socket
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.end_to_end.daemon import Daemon
from tools.files import ROOT

DOCKERFILE = (ROOT / "Dockerfile").read_text(encoding="utf-8")


def instruction(name: str) -> list[str]:
    """The last instruction of this name, which is in the exec form."""
    words: list[str] = json.loads(re.findall(rf"^{name} (\[.*\])$", DOCKERFILE, re.M)[-1])
    return words


@pytest.fixture
def as_started_by_the_image(tmp_path: Path) -> Iterator[Daemon]:
    """The image's command on this interpreter; the harness gives folder and socket in its own words."""
    command, *flags = instruction("CMD")
    assert flags[0::2] == ["--data-dir", "--listen"]
    scheme, _, path = flags[3].partition(":")
    assert scheme == "unix"
    listen = f"unix:{tmp_path / Path(path).name}"
    daemon = Daemon(tmp_path, command=(sys.executable, "-m", "runtime.cli", command), listen=listen)
    yield daemon
    daemon.end()


def test_the_command_of_the_image_answers_on_its_socket_and_stops_cleanly(
    as_started_by_the_image: Daemon,
) -> None:
    as_started_by_the_image.start()
    with socket.socket(socket.AF_UNIX) as client:
        client.connect(as_started_by_the_image.listen.removeprefix("unix:"))
        client.sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
        assert client.recv(4096).startswith(b"HTTP/1.1 200")
    assert as_started_by_the_image.stop() == 0


def test_an_init_is_process_one_and_hands_on_to_the_program() -> None:
    assert instruction("ENTRYPOINT") == ["tini", "--", "greenroom"]
    assert re.search(r"apt-get install .*\btini\b", DOCKERFILE)


def test_the_image_is_built_from_pinned_packages_alone() -> None:
    installs = re.findall(r"pip install (.*?)(?: \\)?$", DOCKERFILE, re.M)
    assert installs
    assert all("--require-hashes" in install or "--no-index" in install for install in installs)
    locks = set(re.findall(r"-r (\S+)", DOCKERFILE))
    assert locks == {"requirements/build.lock", "requirements/runtime.lock"}
    assert all((ROOT / lock).is_file() for lock in locks)


def test_the_folders_of_the_command_belong_to_the_user_of_the_image() -> None:
    _, _, data, _, listen = instruction("CMD")
    made = re.findall(r"install -d -o greenroom -g greenroom (?:-m 0700 )?(.*?)(?: \\)?$", DOCKERFILE, re.M)
    folders = {folder for line in made for folder in line.split()}
    assert {data, str(Path(listen.removeprefix("unix:")).parent)} <= folders
    assert set(instruction("VOLUME")) == {"/var/lib/greenroom", "/run/greenroom"}
