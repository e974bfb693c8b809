"""Log lines: JSON or text, no secrets, and a stderr that nobody reads never stops the service."""

import json
import logging
import os

import pytest
import structlog

from runtime.observability.logging import LINE_BYTES_MAX, LineWriter, configure_logging, log_crash

SECRET = "correct-horse-battery"


@pytest.fixture(autouse=True)
def logging_left_as_it_was():
    root = logging.getLogger()
    before = (list(root.handlers), root.level)
    yield
    structlog.reset_defaults()
    root.handlers, root.level = before


@pytest.fixture
def pipe():
    read_end, write_end = os.pipe()
    yield read_end, write_end
    for descriptor in (read_end, write_end):
        try:
            os.close(descriptor)
        except OSError:
            pass


@pytest.fixture
def logged(pipe):
    """Configures logging into a pipe; calling it ends the log and returns its lines."""
    read_end, write_end = pipe

    def lines():
        os.close(write_end)
        with open(os.dup(read_end), "rb") as file:
            return file.read().decode().splitlines()

    lines.descriptor = write_end
    return lines


def test_off_a_terminal_each_line_is_one_json_object(logged):
    configure_logging({}, descriptor=logged.descriptor)
    structlog.get_logger("greenroom.test").info("a thing\nhappened", count=3)
    (line,) = [json.loads(line) for line in logged()]
    assert line.pop("timestamp").endswith("Z")
    assert line == {"event": "a thing\nhappened", "count": 3, "level": "info", "logger": "greenroom.test"}


def test_as_text_a_line_names_the_event_and_its_members(logged):
    configure_logging({}, as_json=False, descriptor=logged.descriptor)
    structlog.get_logger("greenroom.test").warning("a thing happened", count=3)
    (line,) = logged()
    assert "a thing happened" in line
    assert "count=3" in line
    assert "\x1b" not in line


def test_secrets_are_taken_out_wherever_they_stand(logged):
    configure_logging({"SOME_API_KEY": SECRET}, descriptor=logged.descriptor)
    log = structlog.get_logger("greenroom.test")
    log.info(
        f"said {SECRET}",
        token="t-1",
        nested={"authorization": "Bearer abcdefgh", "argv": ["--key", SECRET]},
        header="Bearer abcdefgh",
        protocol="greenroom.v1.bearer.abcdefgh",
        token_file="/data/token",
    )
    try:
        raise ValueError(SECRET)
    except ValueError:
        log.exception("failed")
    text = "\n".join(logged())
    assert SECRET not in text
    assert "abcdefgh" not in text
    assert "t-1" not in text
    assert "/data/token" in text
    assert "ValueError: [redacted]" in text


def test_the_level_comes_from_the_call_or_the_environment(logged):
    configure_logging({"GREENROOM_LOG_LEVEL": "warning"}, descriptor=logged.descriptor)
    structlog.get_logger().info("quiet")
    structlog.get_logger().warning("loud")
    configure_logging({"GREENROOM_LOG_LEVEL": "debug"}, level="error", descriptor=logged.descriptor)
    structlog.get_logger().warning("quiet again")
    assert [json.loads(line)["event"] for line in logged()] == ["loud"]


def test_warnings_of_libraries_and_crashes_are_lines_like_ours(logged):
    configure_logging({"TOKEN": SECRET}, descriptor=logged.descriptor)
    logging.getLogger("some.library").info("chatter")
    logging.getLogger("some.library").warning("watch %s", "out")
    log_crash(ValueError, ValueError(SECRET), None)
    warning, crash = (json.loads(line) for line in logged())
    assert (warning["event"], warning["logger"], warning["level"]) == ("watch out", "some.library", "warning")
    assert (crash["event"], crash["level"]) == ("the daemon crashed", "critical")
    assert SECRET not in crash["exception"]


def test_a_reader_that_stopped_reading_costs_lines_not_the_service(pipe):
    read_end, write_end = pipe
    configure_logging({}, descriptor=write_end)
    log = structlog.get_logger("greenroom.test")
    for number in range(2000):
        log.info("line", number=number, filling="x" * 100)
    kept = os.read(read_end, 1 << 20).decode()
    assert all(json.loads(line)["event"] == "line" for line in kept.splitlines())
    log.info("after")
    later = [json.loads(line) for line in os.read(read_end, 1 << 20).decode().splitlines()]
    assert json.loads(kept.splitlines()[0])["number"] == 0
    assert later[0]["event"].startswith("log lines were dropped")
    assert later[0]["lines"] > 100
    assert later[1]["event"] == "after"


def test_a_line_that_went_out_in_part_does_not_spoil_the_next(pipe):
    read_end, write_end = pipe
    os.set_blocking(read_end, False)
    writer = LineWriter(write_end)
    filled = 0
    while writer.put(b"y" * (3 * 4096 - 1) + b"\n"):
        filled += 1
    kept = os.read(read_end, 1 << 20)
    assert len(kept) % (3 * 4096) != 0
    assert writer.put(b"next\n")
    assert os.read(read_end, 1 << 20) == b"\nnext\n"
    assert filled > 0


def test_a_closed_descriptor_and_an_endless_line_do_no_harm(pipe):
    read_end, write_end = pipe
    written = []
    writer = LineWriter(write_end, write=lambda _, data: written.append(data) or len(data))
    assert writer.put(b"x" * (LINE_BYTES_MAX + 5) + b"\n")
    assert b"".join(written) == b"x" * LINE_BYTES_MAX + b" [cut]\n"
    os.close(read_end)
    assert not LineWriter(write_end).put(b"line\n")
