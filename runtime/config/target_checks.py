"""What a `[[targets]]` table must keep to beyond types: a program to start or a server to reach, and its environment.

Pure. Whether the program or the server is there is found out when it is needed.
"""

import re
from typing import Final

from runtime.config.document import TargetTable
from runtime.config.problem import invalid
from runtime.config.server_url import ServerUrlInvalid, parse_server_url
from runtime.config.targets import DEMO_TARGET_ID

VARIABLE: Final = re.compile(r"[^=\0]+")
VARIABLE_PROBLEM: Final = "must be the name of a variable: not empty, without = and NUL"


def check_target(source: str, path: str, target: TargetTable, *, demo: bool) -> None:
    """Raises `ConfigurationInvalid` for the first thing wrong."""
    if demo and target.id == DEMO_TARGET_ID:
        raise invalid(
            source,
            f"{path}.id",
            "is that of the built-in target; choose another, or set demo = false",
            example="",
        )
    if target.url is not None:
        _check_server(source, path, target, target.url)
    elif target.command is None:
        raise invalid(source, f"{path}.command", "is missing; a target has a command or a url")
    else:
        _check_program(source, path, target.command)
        _check_unused(
            source, path, "url", tokenFile=target.token_file, allowUnencrypted=target.allow_unencrypted
        )
    for name, value in target.env.items():
        if not VARIABLE.fullmatch(name):
            raise invalid(source, f"{path}.env[{name!r}]", VARIABLE_PROBLEM, example="")
        if "\0" in value:
            raise invalid(source, f"{path}.env.{name}", "must be text without NUL characters")


def _check_program(source: str, path: str, command: tuple[str, ...]) -> None:
    for index, argument in enumerate(command):
        if "\0" in argument or (index == 0 and not argument):
            problem = "must be text without NUL characters, the program not empty"
            raise invalid(source, f"{path}.command[{index}]", problem)
    program = command[0]
    if "/" in program and not program.startswith(("/", "~")):
        raise invalid(
            source,
            f"{path}.command[0]",
            "must be a name found on PATH or an absolute path",
            example='"codex" or "/opt/codex/bin/codex"',
        )


def _check_server(source: str, path: str, target: TargetTable, url: str) -> None:
    _check_unused(source, path, "command", command=target.command, env=target.env)
    try:
        parse_server_url(url, allow_unencrypted=target.allow_unencrypted)
    except ServerUrlInvalid as error:
        raise invalid(source, f"{path}.url", str(error)) from error


def _check_unused(source: str, path: str, needed: str, **keys: object) -> None:
    for key, value in keys.items():
        if value:
            problem = "cannot stand beside a url" if needed == "command" else "is of use only with a url"
            raise invalid(source, f"{path}.{key}", problem, example="")
