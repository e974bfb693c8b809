"""What is wrong with a configuration, as one line: which key, what is wrong, what would be right (exit code 2).

Owns the wording. What is wrong is found by `document` and `checks`; nothing here knows a key but for its example.
"""

import re
from collections.abc import Iterable, Mapping
from difflib import get_close_matches

from runtime.wire.limits import Limits
from runtime.wire.members import fields_of, wire_name

KNOWN_KEYS_SHOWN_MAX = 25

_EXAMPLES: Mapping[str, str] = {
    "dataDir": '"~/greenroom-data"',
    "workRoot": '"~/greenroom"',
    "listen": '"127.0.0.1:4517", "[::1]:4517" or "unix:/run/greenroom.sock"',
    "--listen": "127.0.0.1:4517, [::1]:4517 or unix:/run/greenroom.sock",
    "--data-dir": "~/greenroom-data",
    "console": "false",
    "demo": "false",
    "interactionTimeoutSeconds": "900 (0 is never)",
    "inheritEnv": '["HTTPS_PROXY"]',
    "inheritEnv[]": '"HTTPS_PROXY"',
    "allowedOrigins": '["https://console.example:8443"]',
    "allowedOrigins[]": '"https://console.example:8443"',
    "allowedHosts": '["console.example"]',
    "allowedHosts[]": '"console.example" or "console.example:8443"',
    "allowRemote": "true",
    "tlsCertificate": '"/etc/greenroom/certificate.pem"',
    "tlsKey": '"/etc/greenroom/key.pem"',
    "targets": '[[targets]] with id = "codex", provider = "acp", command = ["codex-acp"]',
    "targets[].id": '"codex"',
    "targets[].provider": '"acp"',
    "targets[].name": '"Codex"',
    "targets[].command": '["codex", "app-server"]',
    "targets[].url": '"ws://127.0.0.1:4500"',
    "targets[].tokenFile": '"/etc/greenroom/codex.token"',
    "targets[].allowUnencrypted": "true",
    "targets[].command[]": '"app-server"',
    "targets[].env": '{ CODEX_HOME = "/srv/codex" }',
    "targets[].env.*": '"/srv/codex"',
    "targets[].enabled": "false",
    "tokens": '[[tokens]] with name = "api", tokenFile = "/etc/greenroom/api.token", scope = "control"',
    "tokens[].name": '"api"',
    "tokens[].tokenFile": '"/etc/greenroom/api.token"',
    "tokens[].scope": '"control"',
    "tokens[].workspaces": '["w1"]',
    "tokens[].workspaces[]": '"w1"',
    "tokens[].roots": '["/srv/work"]',
    "tokens[].roots[]": '"/srv/work"',
    "tokens[].maxEffect": '"edits"',
    "limits": "[limits] with maxLiveConnections = 64",
    "limits.sessionsPerConnection": "{ codex = 16 }",
    "limits.sessionRestarts": "{ count = 3, periodSeconds = 60 }",
    "limits.sessionRestarts.count": "3",
    "limits.sessionRestarts.periodSeconds": "60",
}
_LIMIT_EXAMPLES: Mapping[str, str] = {
    f"limits.{wire_name(field.name)}": f"{getattr(Limits(), field.name):.15g}"
    for field in fields_of(Limits)
    if isinstance(getattr(Limits(), field.name), (int, float))
}


class ConfigurationInvalid(Exception):
    """Raised for arguments or a file that do not make a configuration; `str()` is the one line (`contract §1`)."""


def invalid(source: str, path: str, problem: str, example: str | None = None) -> ConfigurationInvalid:
    """The error of one key.

    Args:
        source: where the key stands: the path of the file, or `command line`.
        path: the dotted path of the key, such as `targets[0].command`; empty for the document itself.
        problem: what is wrong, such as `is missing`.
        example: what would be right; without it, the key's own example, unless the problem lists the choices.
    """
    if example is None and not problem.startswith("must be one of"):
        example = _example(path)
    # Names and values a person wrote may hold anything: an error stays one line.
    parts = [source, *([path] if path else []), problem + (f"; for example {example}" if example else "")]
    return ConfigurationInvalid(" ".join(": ".join(parts).split()))


def unknown_key_problem(name: str, known: Iterable[str]) -> str:
    """What to say of a key nobody knows: the likely spelling, else all there are."""
    names = sorted(known)
    by_folded = {_folded(candidate): candidate for candidate in names}
    exact = by_folded.get(_folded(name))
    matches = get_close_matches(_folded(name), by_folded, n=2)
    close = [exact] if exact else [by_folded[match] for match in matches]
    if close:
        return f"is unknown; did you mean {' or '.join(close)}?"
    if len(names) > KNOWN_KEYS_SHOWN_MAX:
        return "is unknown; the names are those of `limits` in docs/operations.md"
    return f"is unknown; known here are {', '.join(names)}"


def _example(path: str) -> str | None:
    pattern = re.sub(r"\[\d+\]", "[]", path)
    if pattern.startswith("targets[].env"):
        pattern = "targets[].env" if pattern == "targets[].env" else "targets[].env.*"
    return _EXAMPLES.get(pattern) or _LIMIT_EXAMPLES.get(pattern)


def _folded(name: str) -> str:
    """`allow_remote`, `AllowRemote` and `allow-remote` are all meant as `allowRemote`."""
    return name.replace("_", "").replace("-", "").lower()
