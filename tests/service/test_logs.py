"""The log: every line is one line, whatever is in it, and says when, what and about what."""

from __future__ import annotations

import io
import json
import logging
import os
import re
import warnings
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import pytest

from ocucb import GuaranteeWarning
from ocucb.service.logs import start_logs


@pytest.fixture(autouse=True)
def restored() -> Iterator[None]:
    """Leave logging and warnings as they were."""
    root, names = logging.getLogger(), ("ocucb", "uvicorn")
    before, levels = (root.handlers[:], root.level), {name: logging.getLogger(name).level for name in names}
    with warnings.catch_warnings():
        yield
    root.handlers[:] = before[0]
    root.setLevel(before[1])
    for name, level in levels.items():
        logging.getLogger(name).setLevel(level)


def logged(level: str = "info", form: str = "json") -> io.StringIO:
    stream = io.StringIO()
    start_logs(level, form, stream)
    return stream


def lines(stream: io.StringIO) -> list[dict[str, Any]]:
    return [json.loads(line) for line in stream.getvalue().splitlines()]


def fail() -> None:
    raise ValueError("two\nlines")


def test_a_line_of_json() -> None:
    stream = logged()
    before = datetime.now(UTC)
    logging.getLogger("ocucb.service.x").info("made %d of %s", 3, "it", extra={"fields": {"status": 200, "ms": 1.5}})
    (line,) = lines(stream)
    assert list(line) == ["time", "level", "logger", "message", "status", "ms"]
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z", line["time"])
    assert before <= datetime.fromisoformat(line.pop("time")) <= datetime.now(UTC)
    assert line == {"level": "info", "logger": "ocucb.service.x", "message": "made 3 of it", "status": 200, "ms": 1.5}


def test_an_exception_is_one_field() -> None:
    stream = logged()
    try:
        fail()
    except ValueError:
        logging.getLogger("ocucb").exception("it failed")
    (line,) = lines(stream)
    assert line["level"] == "error"
    assert line["exception"].startswith("Traceback")
    assert line["exception"].endswith("ValueError: two\nlines")


def test_fields_cannot_pose_as_the_rest() -> None:
    stream = logged()
    logging.getLogger("ocucb").info("true", extra={"fields": {"message": "false", "level": "x", "more": 1}})
    (line,) = lines(stream)
    assert (line["message"], line["level"], line["more"]) == ("true", "info", 1)


def test_whatever_is_in_a_field_the_line_is_json() -> None:
    circle: list[object] = []
    circle.append(circle)
    odd: list[object] = [float("nan"), float("inf"), circle, b"\xff", {1, 2}, "\ud800", "\x1b[31m\n", {("a",): 1}]
    for value in odd:
        stream = logged()
        logging.getLogger("ocucb").info("hello\nthere", extra={"fields": {"odd": value, 5: "a number"}})
        (line,) = lines(stream)
        assert line["message"] == "hello\nthere"
        assert line["5"] == "a number"
        json.dumps(line, allow_nan=False)
    stream = logged()
    logging.getLogger("ocucb").info("hello", extra={"fields": "no mapping"})
    assert lines(stream)[0]["message"] == "hello"


def test_text_is_for_people_and_nothing_in_it_steers_a_terminal() -> None:
    stream = logged(form="text")
    log = logging.getLogger("ocucb.service.x")
    log.warning("evil\n\x1b[2Jname", extra={"fields": {"key": "abc", "path": 'a "b"\n', "none": ""}})
    try:
        fail()
    except ValueError:
        log.exception("it failed")
    first, second, *trace = stream.getvalue().splitlines()
    time, rest = first.split(" ", 1)
    assert datetime.fromisoformat(time).tzinfo is not None
    assert rest == 'WARNING ocucb.service.x evil\\n\\x1b[2Jname key=abc path="a \\"b\\"\\\\n" none=""'
    assert second.endswith("ERROR   ocucb.service.x it failed")
    assert trace[0] == "    Traceback (most recent call last):"
    assert trace[-2:] == ["    ValueError: two", "    lines"]


def test_levels() -> None:
    stream = logged("warning")
    logging.getLogger("ocucb.service").info("no")
    logging.getLogger("uvicorn.error").info("no")
    logging.getLogger("ocucb.service").warning("yes")
    logging.getLogger("uvicorn.error").error("yes")
    assert [line["message"] for line in lines(stream)] == ["yes", "yes"]
    stream = logged("debug")
    logging.getLogger("ocucb.service").debug("yes")
    logging.getLogger("somebody.else").info("no")
    logging.getLogger("somebody.else").warning("yes")
    assert [line["message"] for line in lines(stream)] == ["yes", "yes"]


def test_auto_is_text_on_a_terminal_and_json_elsewhere() -> None:
    terminal, end = os.openpty()
    try:
        with open(end, "w", encoding="utf-8", closefd=False) as stream:
            start_logs("info", "auto", stream)
            logging.getLogger("ocucb").info("hello")
        assert os.read(terminal, 4096).endswith(b"INFO    ocucb hello\r\n")
    finally:
        os.close(end)
        os.close(terminal)
    elsewhere = logged(form="auto")
    logging.getLogger("ocucb").info("hello")
    assert lines(elsewhere)[0]["message"] == "hello"


def test_warnings_are_lines_too() -> None:
    stream = logged()
    warnings.simplefilter("always")
    warnings.warn("a guarantee is lost", GuaranteeWarning, stacklevel=1)
    (line,) = lines(stream)
    assert (line["level"], line["message"]) == ("warning", "GuaranteeWarning: a guarantee is lost")
