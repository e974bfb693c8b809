"""The house rules that `tools.tidy` enforces, as data.

Every exception stands here with its reason, so that a reader can see in one place which files may touch the
outside world. Add a file to `ADAPTERS` only when it implements a port of `runtime/ports.py` or `store/port.py`.
"""

from typing import NamedTuple

MODULE_LINES_WARNED = 400
MODULE_LINES_REFUSED = 800
FUNCTION_LINES_REFUSED = 70
FILE_NAME_CHARACTERS_REFUSED = 48
PATH_CHARACTERS_REFUSED = 110


class Exemption(NamedTuple):
    """Files (a shell pattern on the path; `*` crosses folders) that may do what others may not, and why."""

    pattern: str
    reason: str


# Only these may touch clock, randomness, processes, sockets, threads and the disk. All others take a port.
ADAPTERS = (
    Exemption("supervisor/process_guard/*", "starts, watches and ends provider processes"),
    Exemption("supervisor/failpoints/registry.py", "ends this process, and holds up the writer's thread"),
    Exemption("store/connection.py", "opens the database file"),
    Exemption("store/files.py", "renews the log and keeps a reserve for a full disk"),
    Exemption("store/writer.py", "owns the one writer thread"),
    Exemption("store/instance_lock.py", "locks the data folder for one daemon"),
    Exemption("store/restore.py", "puts a copy of the database in place"),
    Exemption("store/copies.py", "makes copies of the database and takes old ones away"),
    Exemption("store/inspection.py", "looks at the files of a database"),
    Exemption("store/migrations.py", "copies the database before a migration"),
    Exemption("runtime/system_ports.py", "implements the ports on the operating system"),
    Exemption("runtime/config/*", "reads the configuration file and looks for programs"),
    Exemption("runtime/cli/*", "the command line: files, signals, terminal"),
    Exemption(
        "runtime/providers/demo/*", "a program of its own, run as a child process on the standard library"
    ),
    Exemption("runtime/api/listener.py", "binds the listening socket"),
    Exemption("runtime/providers/web_socket.py", "dials a provider that runs already"),
    Exemption("runtime/api/secret_files.py", "makes and reads the token files"),
    Exemption("runtime/service/*", "composes the daemon: the data directory and what lies in it"),
    Exemption("runtime/wire/documents.py", "writes the generated documents of the contract"),
    Exemption("runtime/observability/*", "writes logs to stderr and reads process figures"),
    Exemption("runtime/simulation/*", "implements the ports for simulated runs and their report"),
    Exemption("runtime/torture/*", "starts, kills and looks at a real daemon from outside"),
)

_CLOCK = "take a WallClock (runtime/ports.py); trio.current_time() is the only clock for waiting"
_RANDOM = "take Randomness (runtime/ports.py)"
_IDENTIFIERS = "take an IdentifierSource (runtime/ports.py)"
_PROCESS = "processes are started by the process guard (supervisor/process_guard)"
_THREAD = "threads: the store writer, long reads and copies of the database, nothing else"
_SOCKET = "take a Listener (runtime/ports.py)"
_DISK = "files are read and written by adapters (tools/house_rules.py, ADAPTERS)"
_SYSTEM = "the operating system is reached through the ports (runtime/ports.py)"

BANNED_MODULES = {
    "asyncio": "trio only: supervision, clock and scheduling are trio's",
    "concurrent": _THREAD,
    "ctypes": _SYSTEM,
    "fcntl": _SYSTEM,
    "multiprocessing": _PROCESS,
    "os": _SYSTEM,
    "queue": _THREAD,
    "random": _RANDOM,
    "secrets": _RANDOM,
    "select": _SOCKET,
    "shutil": _DISK,
    "signal": _SYSTEM,
    "socket": _SOCKET,
    "subprocess": _PROCESS,
    "tempfile": _DISK,
    "threading": _THREAD,
    "time": _CLOCK,
    "uuid": _IDENTIFIERS,
    "uuid_utils": _IDENTIFIERS,
}
# Banned even in an adapter.
BANNED_EVERYWHERE = {"asyncio", "multiprocessing", "concurrent"}

BANNED_ATTRIBUTES = {
    "datetime.date.today": _CLOCK,
    "datetime.datetime.now": _CLOCK,
    "datetime.datetime.utcnow": _CLOCK,
    "datetime.now": _CLOCK,
    "datetime.utcnow": _CLOCK,
    "trio.Path": _DISK,
    "trio.from_thread": _THREAD,
    "trio.lowlevel.open_process": _PROCESS,
    "trio.open_file": _DISK,
    "trio.open_signal_receiver": _SYSTEM,
    "trio.open_tcp_listeners": _SOCKET,
    "trio.open_tcp_stream": _SOCKET,
    "trio.open_unix_socket": _SOCKET,
    "trio.run_process": _PROCESS,
    "trio.serve_tcp": _SOCKET,
    "trio.socket": _SOCKET,
    "trio.to_thread": _THREAD,
}

# Names of pathlib's methods that touch the disk and mean nothing else.
BANNED_METHODS = dict.fromkeys(
    (
        "expanduser",
        "is_dir",
        "is_file",
        "iterdir",
        "mkdir",
        "read_bytes",
        "read_text",
        "rglob",
        "rmdir",
        "unlink",
        "write_bytes",
        "write_text",
    ),
    _DISK,
)
BANNED_CALLS = {"open": _DISK, "input": "the service never reads a terminal"}

PRINT_ALLOWED = (
    Exemption("runtime/cli/*", "the command line talks to people"),
    Exemption("runtime/cli.py", "the command line talks to people"),
)

BROAD_EXCEPT_ALLOWED = (
    Exemption("supervisor/cell.py", "the one guard that turns a bug into a restart"),
    Exemption("client/greenroom_client/client.py", "hands on what a caller's body raises, outside a group"),
)

GENERATED = (Exemption("client/greenroom_client/contract/*", "written by tools/client_models.py"),)
"""No size is too large for a file that nobody writes."""

# Tests that wait for a process or a socket outside this process, which no virtual clock can move.
REAL_TIME_TESTS = (
    Exemption("tests/end_to_end/*", "drives the daemon as a child process"),
    Exemption("tests/providers_real/*", "drives a real agent"),
    Exemption("tests/trouble/*", "drives daemons and agents as child processes"),
    Exemption("tests/doubles/*", "takes the time of the test that runs it, or is a program of its own"),
    Exemption("tests/process_guard/*", "watches real child processes end"),
)
# A test module that names one of these runs its programs in virtual time.
VIRTUAL_CLOCKS = {"MockClock", "explore"}
MOCK_CLOCK_FIXTURES = {"autojump_clock", "mock_clock"}
REAL_WAITS = {"time.sleep", "trio.sleep", "trio.sleep_until"}

# Joined from pieces so that this file does not contain what it bans.
BANNED_WORDS = ("FIX" + "ME", "TO" + "DO", "X" * 3)
BANNED_TEXTS = {
    "registry." + "npmjs": "no registry host: packages come from whatever index the reader has",
    "files." + "pythonhosted": "no registry host: packages come from whatever index the reader has",
    "pypi." + "org/simple": "no registry host: packages come from whatever index the reader has",
    "proxy." + "golang": "no registry host: packages come from whatever index the reader has",
    "deb." + "debian": "no registry host: packages come from whatever index the reader has",
    "/work" + "/main": "no path of one machine",
    "/work" + "/shared": "no path of one machine",
    "." + "library/": "no path of one machine",
}
