"""How a provider process is to be started, and which launches are so alike that scopes may share one process.

Owns the launch specification and its fingerprint. Neither the fingerprint, nor a printed specification, nor the
label for people gives away an argument or a variable: both may hold credentials. Pure.
"""

import hashlib
import json
from collections.abc import Mapping
from functools import cached_property

import attrs

from runtime.providers.hosting import ConversationLaunch, HostedConversation
from runtime.providers.programs import ProgramReport
from supervisor.process_guard.port import LaunchRequest


@attrs.frozen(kw_only=True)
class ServerAddress:
    """A provider that runs already, and listens for WebSocket connections."""

    host: str
    port: int
    path: str = "/"
    encrypted: bool = False
    token: str | None = attrs.field(default=None, repr=False)
    """Goes into the handshake as a bearer token."""

    @property
    def authority(self) -> str:
        """Host and port, which is all of it that an error or a log may show."""
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"


@attrs.frozen(kw_only=True)
class LaunchSpecification:
    """Everything that makes one provider process differ from another: how it is started, or where it listens.

    `environment` is complete and exact (FC-51). `cwd` is where the process starts; sessions that share a process
    have directories of their own, which travel in `OpenThread`.
    """

    provider: str
    argv: tuple[str, ...] = attrs.field(default=(), repr=False)
    """Program and arguments; empty when there is a `server`."""
    environment: Mapping[str, str] = attrs.field(repr=False)
    cwd: str = attrs.field(repr=False)
    server: ServerAddress | None = None
    dedicated: bool = False
    """`dedicatedProcess` of the session's settings: a process that no other scope gets into."""
    shared_key: str = ""
    """What else has to be equal for scopes to share a process, such as the target they belong to."""
    conversation: HostedConversation | None = attrs.field(default=None, repr=False)
    """What the process is started for, where it hosts one conversation from its start. `hosting` says it to the
    program: arguments behind `argv`, and variables, that are no part of the fingerprint, so that a program that crashes
    at every start does so for all conversations."""
    hosting: ConversationLaunch = attrs.field(factory=ConversationLaunch, repr=False)
    report: ProgramReport | None = attrs.field(default=None, eq=False, repr=False)
    """What is known of the program beforehand. It makes no launch a different one."""

    def __attrs_post_init__(self) -> None:
        if bool(self.argv) == (self.server is not None):
            raise ValueError("a launch has either a program or a server")

    @property
    def program(self) -> str:
        """The program's name without its folder, or where it listens; all of a launch that an error may show."""
        if self.server is not None:
            return self.server.authority
        return self.argv[0].rstrip("/").rpartition("/")[2] or self.provider

    @cached_property
    def fingerprint(self) -> str:
        """SHA-256 over the canonical JSON of what is launched; equal for scopes that may share a process.

        `dedicated` is no part of it: whoever asks for a process of his own still shares the fate of a program
        that crashes at every start (FC-30).
        """
        canonical = json.dumps(
            [
                self.provider,
                self.argv,
                dict(self.environment),
                self.cwd,
                self.shared_key,
                None if self.server is None else attrs.astuple(self.server),
            ],
            sort_keys=True,
            separators=(",", ":"),
        )
        return hashlib.sha256(canonical.encode()).hexdigest()

    def request(self) -> LaunchRequest:
        """The same for the process guard, where it is a program."""
        return LaunchRequest(
            argv=(*self.argv, *self.hosting.arguments),
            cwd=self.cwd,
            environment={**self.environment, **self.hosting.environment},
            label=f"{self.provider} {self.program} {self.fingerprint[:12]}",
        )
