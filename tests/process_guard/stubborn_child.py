"""A provider that does everything to outlive its end: `python -I -S stubborn_child.py FOLDER`.

Ignores TERM, INT, HUP and the end of its input. Has a plain child, one in a session of its own, a double-forked
one, one that forgot its environment, and one whose child is born again whenever it dies. Each notes its pid as an
empty file FOLDER/ROLE.PID; "ready" on stdout follows the last of them. All end by themselves after a minute.
"""

import os
import signal
import sys
import time

FOLDER = sys.argv[1]
FORGET = "import time; time.sleep(60)"


def note(role: str, pid: int | None = None) -> None:
    with open(f"{FOLDER}/{role}.{pid or os.getpid()}", "w"):
        pass


def rest() -> None:
    time.sleep(60)
    os._exit(0)


def fork(role: str, *, own_session: bool = False, double: bool = False) -> bool:
    """True in the new process, which has noted itself; the old one goes on when it has."""
    read_end, write_end = os.pipe()
    child = os.fork()
    if child == 0:
        if own_session:
            os.setsid()
        if double and os.fork() != 0:
            os._exit(0)
        note(role)
        os.close(write_end)
        return True
    os.close(write_end)
    os.read(read_end, 1)
    os.close(read_end)
    if double:
        os.waitpid(child, 0)
    return False


def respawn() -> None:
    while True:
        child = os.fork()
        if child == 0:
            os.setsid()
            note("respawned")
            rest()
        os.waitpid(child, 0)


def main() -> None:
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    note("provider")
    if fork("plain"):
        rest()
    if fork("session", own_session=True):
        rest()
    if fork("double", own_session=True, double=True):
        rest()
    if fork("forgetful", own_session=True, double=True):
        os.execve(sys.executable, [sys.executable, "-I", "-S", "-c", FORGET], {})
    if fork("respawner", own_session=True):
        respawn()
    while not any(name.startswith("respawned.") for name in os.listdir(FOLDER)):
        time.sleep(0.005)
    os.write(1, b"ready\n")
    rest()


main()
