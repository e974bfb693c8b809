"""From the configuration to the tokens in force: the first one is made at the first start (`contract §2`)."""

import secrets
from pathlib import Path

from runtime.api.authentication import (
    Principal,
    TokenRefused,
    TokenStore,
    read_or_create_token,
    read_token,
    token_digest,
)
from runtime.api.secret_files import SystemSecretFiles
from runtime.config import Configuration
from runtime.service.ready import EXIT_CONFIGURATION, StartRefused

TOKEN_FILE = "token"  # noqa: S105 -- a file name


def admitted_tokens(config: Configuration, admin_file: Path) -> list[Principal]:
    """The admin token, made if there is none, and the tokens of the configuration. Raises StartRefused."""
    files = SystemSecretFiles()
    try:
        admin = read_or_create_token(files, str(admin_file), secrets.token_bytes)
        principals = [Principal("admin", "admin", token_digest=token_digest(admin))]
        for entry in config.tokens:
            token = read_token(files, str(entry.token_file))
            principals.append(
                Principal(
                    name=entry.name,
                    scope=entry.scope,
                    workspaces=None if entry.workspaces is None else frozenset(entry.workspaces),
                    roots=None if entry.roots is None else tuple(entry.roots),
                    max_effect=entry.max_effect,
                    max_sessions=entry.max_sessions,
                    max_live_turns=entry.max_live_turns,
                    max_connections=entry.max_connections,
                    requests_per_second=entry.requests_per_second,
                    token_digest=token_digest(token),
                )
            )
        TokenStore(principals)  # refuses two that hold the same token
        return principals
    except TokenRefused as error:
        raise StartRefused(EXIT_CONFIGURATION, str(error)) from error
