"""Makes the configuration in force: defaults, then the file, then the flags (`contract §1`).

The adapter of this package: the only place that asks where the user's directories are and reads the file. Paths of a
file are relative to its folder, paths of flags to the working directory; `~` is the user's home in both.
"""

import os
from pathlib import Path

import attrs
import platformdirs

from runtime.api.listen_address import ListenAddress, TcpAddress, UnixAddress
from runtime.config.checks import check_document, check_listen_reach, parse_listen, with_all_providers
from runtime.config.document import Document, TargetTable, TokenTable, parse_document
from runtime.config.model import Configuration, TargetConfiguration, TokenConfiguration, Transport
from runtime.config.problem import invalid
from runtime.config.server_url import parse_server_url
from runtime.config.targets import ProgramFinder, ProgramsOnPath, found_targets

APPLICATION = "greenroom"
PORT_DEFAULT = 4517
COMMAND_LINE = "command line"


@attrs.frozen(kw_only=True)
class Flags:
    """What the command line says; None is a flag that was not given."""

    config_file: str | None = None
    data_dir: str | None = None
    listen: str | None = None
    transport: Transport | None = None
    console: bool | None = None
    enable_faults: bool = False


@attrs.frozen(kw_only=True)
class Surroundings:
    """What the defaults are made of: the user's directories, the working directory, the programs on PATH."""

    config_file: Path
    """Read when no other is named; may be missing."""
    data_dir: Path
    work_root: Path
    working_directory: Path
    programs: ProgramFinder

    @classmethod
    def of_this_process(cls) -> "Surroundings":
        """The platform's directories for `greenroom`, and PATH. Raises `ConfigurationInvalid` without a home."""
        try:
            home = Path.home()
        except RuntimeError as error:
            raise invalid(
                "environment", "HOME", "is not set, and this user has no home", "/home/me"
            ) from error
        return cls(
            config_file=platformdirs.user_config_path(APPLICATION, appauthor=False) / "config.toml",
            data_dir=platformdirs.user_data_path(APPLICATION, appauthor=False),
            work_root=home / APPLICATION,
            working_directory=_working_directory(home),
            programs=ProgramsOnPath(),
        )


def _working_directory(home: Path) -> Path:
    """Where a shell says that it is, once that is deleted: relative names then lead to what is not there."""
    try:
        return Path.cwd()
    except FileNotFoundError:
        return Path(os.environ.get("PWD", home))


def load_configuration(flags: Flags, surroundings: Surroundings) -> Configuration:
    """The configuration in force. Raises `ConfigurationInvalid`, whose text is one line."""
    reader = _Reader(surroundings)
    config_file, document = reader.read_document(flags.config_file)
    source = str(config_file) if config_file else "defaults"
    check_document(document, source)
    file_folder = config_file.parent if config_file else surroundings.working_directory
    configuration = Configuration(
        data_dir=reader.data_dir(flags, document, source, file_folder),
        work_root=_absolute(document.work_root, file_folder, source, "workRoot") or surroundings.work_root,
        listen=reader.listen(flags, document, source, file_folder),
        targets=reader.targets(document, source, file_folder),
        tokens=tuple(
            _token(token, file_folder, source, f"tokens[{index}]")
            for index, token in enumerate(document.tokens)
        ),
        demo=document.demo,
        interaction_timeout_seconds=document.interaction_timeout_seconds,
        interaction_timeout_answer=document.interaction_timeout_answer,
        inherit_env=document.inherit_env,
        allowed_origins=document.allowed_origins,
        allowed_hosts=document.allowed_hosts,
        allow_remote=document.allow_remote,
        tls_certificate=_absolute(document.tls_certificate, file_folder, source, "tlsCertificate"),
        tls_key=_absolute(document.tls_key, file_folder, source, "tlsKey"),
        limits=with_all_providers(document.limits),
        transport=flags.transport or document.transport,
        enable_faults=flags.enable_faults,
        console=document.console if flags.console is None else flags.console,
        config_file=config_file,
    )
    # Compared by what they lead to: a link must not smuggle the agents' directories in among the daemon's files.
    if configuration.work_root.resolve().is_relative_to(configuration.data_dir.resolve()):
        problem = f"{configuration.work_root} must not be inside the data directory {configuration.data_dir}"
        raise invalid(source, "workRoot", problem)
    return configuration


@attrs.frozen
class _Reader:
    """The parts that come from more than one place."""

    surroundings: Surroundings

    def read_document(self, named: str | None) -> tuple[Path | None, Document]:
        """The file named, else the user's own; none at all when that one is missing."""
        path = self.surroundings.config_file
        if named is not None:
            path = _absolute(named, self.surroundings.working_directory, COMMAND_LINE, "--config") or path
        try:
            content = path.read_bytes()
        except FileNotFoundError as error:
            if named is None:
                return None, Document()
            raise invalid(COMMAND_LINE, "--config", f"{path}: no such file; name another", "") from error
        except OSError as error:
            problem = f"cannot be read ({error.strerror}); make it readable or name another with --config"
            raise invalid(str(path), "", problem) from error
        return path, parse_document(content, str(path))

    def data_dir(self, flags: Flags, document: Document, source: str, file_folder: Path) -> Path:
        from_flag = _absolute(flags.data_dir, self.surroundings.working_directory, COMMAND_LINE, "--data-dir")
        return (
            from_flag
            or _absolute(document.data_dir, file_folder, source, "dataDir")
            or self.surroundings.data_dir
        )

    def listen(self, flags: Flags, document: Document, source: str, file_folder: Path) -> ListenAddress:
        text, key, folder = document.listen, "listen", file_folder
        if flags.listen is not None:
            text, source, key = flags.listen, COMMAND_LINE, "--listen"
            folder = self.surroundings.working_directory
        if text is None:
            return TcpAddress("127.0.0.1", PORT_DEFAULT)
        address = parse_listen(text, source, key)
        check_listen_reach(address, source, key, allow_remote=document.allow_remote)
        if isinstance(address, UnixAddress):
            path = _absolute(address.path, folder, source, key)
            # Again, with the path as it will be used.
            address = parse_listen(f"unix:{path}", source, key)
        return address

    def targets(self, document: Document, source: str, file_folder: Path) -> tuple[TargetConfiguration, ...]:
        """Those configured, else those found; an empty list is one, too."""
        if document.targets is None:
            return tuple(found_targets(self.surroundings.programs))
        return tuple(
            _target(target, file_folder, source, f"targets[{index}]")
            for index, target in enumerate(document.targets)
        )


def _target(table: TargetTable, folder: Path, source: str, path: str) -> TargetConfiguration:
    command = table.command or ()
    if command and command[0].startswith("~"):
        program = str(_absolute(command[0], Path("/"), source, f"{path}.command[0]"))
        command = (program, *command[1:])
    url = None
    if table.url is not None:
        url = parse_server_url(table.url, allow_unencrypted=table.allow_unencrypted)
    return TargetConfiguration(
        id=table.id,
        provider=table.provider,
        name=table.name or table.id,
        command=command,
        url=url,
        token_file=_absolute(table.token_file, folder, source, f"{path}.tokenFile"),
        env=dict(table.env),
        enabled=table.enabled,
    )


def _token(table: TokenTable, folder: Path, source: str, path: str) -> TokenConfiguration:
    roots = None
    if table.roots is not None:
        roots = tuple(
            str(_path(root, folder, source, f"{path}.roots[{index}]"))
            for index, root in enumerate(table.roots)
        )
    return TokenConfiguration(
        name=table.name,
        token_file=_path(table.token_file, folder, source, f"{path}.tokenFile"),
        scope=table.scope,
        workspaces=table.workspaces,
        roots=roots,
        max_effect=table.max_effect,
        max_sessions=table.max_sessions,
        max_live_turns=table.max_live_turns,
        max_connections=table.max_connections,
        requests_per_second=table.requests_per_second,
    )


def _absolute(text: str | None, folder: Path, source: str, key: str) -> Path | None:
    return None if text is None else _path(text, folder, source, key)


def _path(text: str, folder: Path, source: str, key: str) -> Path:
    if not text or "\0" in text:
        raise invalid(source, key, "must be a path: not empty, without NUL characters")
    try:
        return folder / Path(text).expanduser()
    except RuntimeError as error:
        raise invalid(source, key, f"{text}: there is no such user's home") from error
