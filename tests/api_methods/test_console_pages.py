"""The web console over HTTP: what is served at `/`, how it is cached, and what it may load."""

import re
from pathlib import Path

import pytest

from tests.api_methods.test_http import ask
from tests.end_to_end.daemon import Daemon
from tests.end_to_end.fixtures import MakeDaemon

SHIPPED = Path(__file__).parents[2] / "runtime" / "api" / "console"
TYPES = {
    "/": "text/html; charset=utf-8",
    "/console.js": "text/javascript; charset=utf-8",
    "/console.css": "text/css; charset=utf-8",
    "/icon.svg": "image/svg+xml",
    "/licenses.txt": "text/plain; charset=utf-8",
}


@pytest.mark.parametrize("path", TYPES)
async def test_each_file_is_served_without_a_token(daemon: Daemon, path: str) -> None:
    status, headers, body = await ask(daemon, path)
    assert (status, headers["Content-Type"]) == (200, TYPES[path])
    assert body == (SHIPPED / (path.removeprefix("/") or "index.html")).read_bytes()
    status, of_head, nothing = await ask(daemon, path, "HEAD")
    assert (status, nothing) == (200, b"")
    assert dict(of_head) == dict(headers)


async def test_every_shipped_file_is_served(daemon: Daemon) -> None:
    assert {f"/{file.name}" for file in SHIPPED.iterdir()} == {*TYPES, "/index.html"} - {"/"}
    assert daemon.ready["console"] == f"http://127.0.0.1:{daemon.port}/"


async def test_a_file_is_kept_by_the_browser_and_asked_about_each_time(daemon: Daemon) -> None:
    _, headers, _ = await ask(daemon, "/console.js")
    assert headers["Cache-Control"] == "no-cache"
    known = {"If-None-Match": headers["ETag"]}
    status, again, body = await ask(daemon, "/console.js", headers=known)
    assert (status, body, again["ETag"]) == (304, b"", headers["ETag"])
    assert "Content-Type" not in again
    assert (await ask(daemon, "/console.css", headers=known))[0] == 200


async def test_the_page_may_load_and_reach_nothing_but_this_server(daemon: Daemon) -> None:
    for path in TYPES:
        _, headers, body = await ask(daemon, path)
        policy = dict(part.split(" ", 1) for part in headers["Content-Security-Policy"].split("; "))
        assert policy["default-src"] == "'none'"
        assert {policy[kind] for kind in ("script-src", "style-src", "img-src", "connect-src")} == {"'self'"}
        assert policy["frame-ancestors"] == policy["base-uri"] == "'none'"
        assert policy["require-trusted-types-for"] == "'script'"
        assert "unsafe" not in headers["Content-Security-Policy"]
        assert headers["X-Content-Type-Options"] == "nosniff"
        assert headers["Referrer-Policy"] == "no-referrer"
        assert daemon.token.encode() not in body, "the page holds no secret"
    _, _, page = await ask(daemon, "/")
    assert not re.search(rb"(src|href)=\"(https?:)?//", page)
    assert not re.search(rb"<script(?! type=\"module\" src=)|<style| on[a-z]+=", page)


@pytest.mark.parametrize(
    "path", ["/index.html", "/console.js.map", "/../token", "/%2e%2e/token", "//", "/console/"]
)
async def test_nothing_else_is_found(daemon: Daemon, path: str) -> None:
    assert (await ask(daemon, path))[0] == 404


async def test_a_foreign_name_or_page_gets_no_console(daemon: Daemon) -> None:
    assert (await ask(daemon, "/", headers={"Host": "evil.example"}))[0] == 403
    assert (await ask(daemon, "/", headers={"Origin": "http://evil.example"}))[0] == 403
    assert (await ask(daemon, "/", "POST"))[0] == 405


async def test_without_a_console_there_is_no_page_and_none_is_announced(make_daemon: MakeDaemon) -> None:
    daemon = make_daemon(options=("--no-console",))
    assert daemon.ready["console"] is None
    assert (await ask(daemon, "/"))[0] == 404
    assert (await ask(daemon, "/console.js"))[0] == 404
    assert (await ask(daemon, "/healthz"))[0] == 200


async def test_a_socket_file_has_no_console(make_daemon: MakeDaemon, tmp_path: Path) -> None:
    assert make_daemon(listen=f"unix:{tmp_path / 'socket'}").ready["console"] is None
