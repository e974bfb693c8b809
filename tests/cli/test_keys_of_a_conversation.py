"""No key of a conversation is lost, whenever it is pressed, and none of them is the terminal's own."""

import os
import pty
import termios

import pytest
import trio

from runtime.cli.chat.held_terminal import HeldTerminal
from runtime.cli.chat.line_queue import LINES_WAITING_MAX, LineQueue
from tests.cli.terminals import SECONDS, Person
from tests.end_to_end.daemon import poll_until

READY = "Type a prompt"
OWN_KEYS = termios.ECHO | termios.ICANON | termios.ISIG


@pytest.fixture
def talk(daemon, workspace, own_home):
    """Begins a conversation in the test's workspace."""

    def begin(*words):
        place = ("--data-dir", str(daemon.data_dir), "--workspace", workspace)
        return Person(("run", "-i", *words, *place), own_home)

    return begin


@pytest.fixture
def terminal():
    """Both ends of one."""
    master, slave = pty.openpty()
    with open(slave, encoding="utf-8") as stream:
        yield master, stream
    os.close(master)


def test_the_terminal_is_held_while_something_is_written_above_the_line_and_given_back_at_the_end(terminal):
    master, stream = terminal
    before = termios.tcgetattr(master)
    held = HeldTerminal(stream)
    with held.held():
        for between in (held.raw_mode, held.cooked_mode, held.raw_mode):
            with between():
                assert not termios.tcgetattr(master)[3] & OWN_KEYS
            assert not termios.tcgetattr(master)[3] & OWN_KEYS
    assert termios.tcgetattr(master) == before


def outcomes(do, session):
    """How the turns of a session ended, the newest first."""
    return [turn["outcome"] for turn in do("show", session["agentSessionId"], "--json").value["turns"]]


def test_all_keys_pressed_at_once_are_taken_one_after_the_other(talk, do):
    with talk() as person:
        person.sees(READY)
        person.type("[[stream 1]] [[hang]]\r\x03")
        person.sees("(canceled")
        person.type("still there?\r/rename Keys\r")
        person.sees("renamed to 'Keys'")
        person.sees("(completed")
        person.type("one more\r\x04")
        assert person.leaves() == 0
    (session,) = do("sessions", "--json").value["items"]
    assert poll_until(lambda: outcomes(do, session)[0] == "completed", SECONDS)
    assert outcomes(do, session) == ["completed", "completed", "canceled"]


def test_keys_pressed_while_text_streams_above_the_line_are_all_there_and_ctrl_c_still_stops(talk):
    with talk() as person:
        person.sees(READY)
        person.enter("[[stream 300 delay=5]]")
        person.sees("0 xxx")
        before = len(person.modes)
        words = "while it streams"
        for number, key in enumerate(words, start=1):
            person.type(key)
            person.sees(f"{number * 15} xxx")
        person.type("\x03")  # nothing is stopped: the turn may be over, so that it clears the line
        person.sees("(c")
        assert not any(mode & OWN_KEYS for mode in person.modes[before:])
        assert "^C" not in person.seen
        person.type("\x15/quit\r")
        assert person.leaves() == 0


def test_ctrl_c_twice_leaves_however_long_a_line_waits_for_a_daemon_that_is_away(make_daemon, own_home):
    daemon = make_daemon()
    with Person(("run", "-i", "--data-dir", str(daemon.data_dir)), own_home) as person:
        person.sees(READY)
        person.enter("hello")
        person.sees("(completed")
        daemon.kill()
        person.sees("the daemon is gone")
        person.enter("anybody there?")
        person.sees("working ›")
        person.ctrl_c()
        person.sees("Ctrl-C again leaves")
        person.ctrl_c()
        assert person.leaves() == 130


async def test_a_queue_that_is_full_refuses_a_line_and_takes_one_again_later():
    acted = []

    async def act(line):
        acted.append(line)

    queue = LineQueue(act)
    assert all(queue.add(str(number)) for number in range(LINES_WAITING_MAX))
    assert not queue.add("one too many")
    async with trio.open_nursery() as nursery:
        nursery.start_soon(queue.run)
        await queue.idle()
        assert queue.add("again")
        await queue.idle()
        nursery.cancel_scope.cancel()
    assert acted == [*(str(number) for number in range(LINES_WAITING_MAX)), "again"]
