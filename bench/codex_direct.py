"""A real app-server over its own pipes, no daemon between: what is left of a turn after this is Greenroom's."""

import json
import os
import shutil
import subprocess
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import attrs
import trio

READ_BYTES = 1 << 20


def environment(home: Path) -> dict[str, str]:
    """What the app-server gets, as the daemon gives it."""
    return {"PATH": os.environ["PATH"], "HOME": str(home), "CODEX_HOME": str(home), "LANG": "C.UTF-8"}


@attrs.define
class DirectCodex:
    """One process with one thread."""

    process: trio.Process
    thread_id: str = ""
    requests: int = 0
    held: bytes = b""

    @classmethod
    @asynccontextmanager
    async def running(cls, program: Path, home: Path, configured: Path) -> "AsyncIterator[DirectCodex]":
        """With a home of its own and the other one's configuration, its thread open."""
        home.mkdir()
        shutil.copy(configured / "config.toml", home)
        pipe = subprocess.PIPE
        process = await trio.lowlevel.open_process(
            [str(program), "app-server", "--strict-config"],
            stdin=pipe,
            stdout=pipe,
            stderr=subprocess.DEVNULL,
            env=environment(home),
            cwd=home,
        )
        try:
            direct = cls(process)
            capabilities = {"experimentalApi": True}
            info = {"name": "bench", "title": None, "version": "0"}
            await direct._call("initialize", clientInfo=info, capabilities=capabilities)
            opened = await direct._call(
                "thread/start", cwd=str(home), sandbox="workspace-write", approvalPolicy="on-request"
            )
            direct.thread_id = opened["thread"]["id"]
            yield direct
        finally:
            process.kill()
            await process.wait()

    async def turn(self, prompt: str) -> tuple[float, float]:
        """Seconds to the first piece of text, and to the end of the turn."""
        begun = trio.current_time()
        content = [{"type": "text", "text": prompt, "text_elements": []}]
        await self._send("turn/start", threadId=self.thread_id, input=content)
        await self._until(b'"item/agentMessage/delta"')
        first = trio.current_time() - begun
        await self._until(b'"turn/completed"')
        return first, trio.current_time() - begun

    async def begin_turn(self, prompt: str) -> None:
        """A turn that goes on; returns with its first piece of text."""
        content = [{"type": "text", "text": prompt, "text_elements": []}]
        await self._send("turn/start", threadId=self.thread_id, input=content)
        await self._until(b'"item/agentMessage/delta"')

    async def fork(self, boundary: Any) -> float:
        """Seconds of an ephemeral fork with a boundary in it; it is left again afterwards."""
        begun = trio.current_time()
        forked = await self._call(
            "thread/fork",
            threadId=self.thread_id,
            ephemeral=True,
            excludeTurns=True,
            sandbox="workspace-write",
            approvalPolicy="on-request",
        )
        thread_id = forked["thread"]["id"]
        await self._call("thread/inject_items", threadId=thread_id, items=[boundary])
        seconds = trio.current_time() - begun
        await self._call("thread/unsubscribe", threadId=thread_id)
        return seconds

    async def _send(self, method: str, **params: Any) -> int:
        self.requests += 1
        frame = {"id": self.requests, "method": method, "params": params}
        assert self.process.stdin is not None
        await self.process.stdin.send_all(json.dumps(frame).encode() + b"\n")
        return self.requests

    async def _call(self, method: str, **params: Any) -> dict[str, Any]:
        number = await self._send(method, **params)
        while True:
            message = json.loads(await self._line())
            if message.get("id") == number and "method" not in message:
                result: dict[str, Any] = message["result"]
                return result

    async def _until(self, mark: bytes) -> None:
        while mark not in await self._line():
            pass

    async def _line(self) -> bytes:
        while b"\n" not in self.held:
            assert self.process.stdout is not None
            data = bytes(await self.process.stdout.receive_some(READ_BYTES))
            if not data:
                raise RuntimeError("the app-server ended")
            self.held += data
        line, _, self.held = self.held.partition(b"\n")
        return line
