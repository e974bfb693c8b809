"""The configuration in force: what the composition root is given. Data only.

Every value is complete and absolute by the time it stands here; where it came from (defaults, file, flags) is the
business of `runtime.config.load`. Nothing here reads anything.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Literal

import attrs

from runtime.api.authentication import Scope
from runtime.api.listen_address import ListenAddress
from runtime.config.server_url import ServerUrl
from runtime.effects import Effect
from runtime.wire.limits import Limits

Provider = Literal["codex", "claude", "acp"]
Transport = Literal["wsproto", "trio-websocket"]
TimeoutAnswer = Literal["reject_once", "stop"]


@attrs.frozen(kw_only=True)
class TargetConfiguration:
    """One agent to talk to: a `[[targets]]` entry, or a known agent found on PATH."""

    id: str
    """The `agentTargetId` clients use."""
    provider: Provider
    """The adapter that speaks to it."""
    name: str
    command: tuple[str, ...] = attrs.field(default=(), repr=False)
    """Program and arguments; a program without a slash is looked for on PATH. Empty where there is a `url`."""
    url: ServerUrl | None = None
    """Where it listens, in place of a program to start."""
    token_file: Path | None = None
    """What it wants to be shown at `url`."""
    env: Mapping[str, str] = attrs.field(factory=dict, repr=False)
    """On top of what every agent inherits (`supervisor.process_guard.environment`)."""
    enabled: bool = True


@attrs.frozen(kw_only=True)
class TokenConfiguration:
    """A further token: a `[[tokens]]` entry. The first, admin one is made by the daemon and is none of these."""

    name: str
    token_file: Path
    scope: Scope
    workspaces: tuple[str, ...] | None = None
    """The only workspaces it may name; None is all."""
    roots: tuple[str, ...] | None = None
    """The only directories its sessions may work in or below, absolute; None is any."""
    max_effect: Effect | None = None
    """The widest effect its settings may have; None is any."""
    max_sessions: int | None = None
    max_live_turns: int | None = None
    max_connections: int | None = None
    requests_per_second: float | None = None
    """Bounds of this token beside `limits`, as `runtime.api.authentication.Principal` says; None is none."""


@attrs.frozen(kw_only=True)
class Configuration:
    """Everything that can be configured (`contract §1`); paths are absolute."""

    data_dir: Path
    work_root: Path
    """Below it a session without `cwd` gets a directory of its own; never inside `data_dir`."""
    listen: ListenAddress
    targets: tuple[TargetConfiguration, ...]
    """In the order clients see them, before the built-in `demo`; the first enabled one is the command line's default."""
    tokens: tuple[TokenConfiguration, ...] = ()
    demo: bool = True
    """Whether the built-in scripted agent is offered as the target `demo`."""
    interaction_timeout_seconds: float = 0.0
    """After so long an unanswered Interaction is answered by `interaction_timeout_answer`; 0 is never."""
    interaction_timeout_answer: TimeoutAnswer = "stop"
    inherit_env: tuple[str, ...] = ()
    """Names of further variables that agents inherit (FC-51)."""
    allowed_origins: tuple[str, ...] = ()
    allowed_hosts: tuple[str, ...] = ()
    allow_remote: bool = False
    tls_certificate: Path | None = None
    tls_key: Path | None = None
    limits: Limits = attrs.field(factory=Limits)
    transport: Transport = "wsproto"
    enable_faults: bool = False
    """Whether the `fault/*` methods are served; by flag alone, never by a file."""
    console: bool = True
    """Whether the web console is served, where there is one."""
    config_file: Path | None = None
    """The file some of this came from; None when there was none."""
