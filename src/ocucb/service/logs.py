"""The log of the process, on standard error: text for people at a terminal, lines of JSON for everyone else.

What a line is about goes beside its message: `logger.info("answered", extra={"fields": {"status": 200}})`.
"""

from __future__ import annotations

import json
import logging
import sys
import traceback
import warnings
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, TextIO

OURS = ("ocucb", "uvicorn")  # others are logged only when they warn


class JsonLines(logging.Formatter):
    """One JSON object per line: time, level, logger, message, then the fields."""

    def format(self, record: logging.LogRecord) -> str:
        line: dict[str, Any] = {
            "time": _time(record),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
        }
        if (trace := _trace(record)) is not None:
            line["exception"] = trace
        line = {**line, **_fields(record), **line}  # a field may not pose as one of these
        try:
            return json.dumps(line, default=str, allow_nan=False)
        except (TypeError, ValueError):  # an infinite number, a circle, a key that is no text
            return json.dumps({str(name): str(value) for name, value in line.items()})


class TextLines(logging.Formatter):
    """A line to read: time, level, logger, message, fields; what failed, below it."""

    def format(self, record: logging.LogRecord) -> str:
        words = [_time(record), f"{record.levelname:<7}", record.name, _one_line(record.getMessage())]
        words += [f"{_one_line(str(name))}={_value(value)}" for name, value in _fields(record).items()]
        trace = _trace(record)
        below = [] if trace is None else [f"    {_one_line(line)}" for line in trace.splitlines()]
        return "\n".join([" ".join(words), *below])


def start_logs(level: str, form: str, stream: TextIO | None = None) -> None:
    """Send everything that is logged in this process to `stream`, standard error if not given, in one form.

    `level` is the least that is logged; `form` is text, json, or auto, which looks whether a person is there.
    """
    out = sys.stderr if stream is None else stream
    text = form == "text" or (form == "auto" and out.isatty())
    handler = logging.StreamHandler(out)
    handler.setFormatter(TextLines() if text else JsonLines())
    logging.basicConfig(level=logging.WARNING, handlers=[handler], force=True)
    for name in OURS:
        logging.getLogger(name).setLevel(level.upper())
    warnings.showwarning = _show_warning


def _show_warning(message: Warning | str, category: type[Warning], *where: Any, **more: Any) -> None:
    logging.getLogger("ocucb.warnings").warning("%s: %s", category.__name__, message)


def _time(record: logging.LogRecord) -> str:
    return datetime.fromtimestamp(record.created, UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def _fields(record: logging.LogRecord) -> Mapping[str, object]:
    fields = record.__dict__.get("fields")
    return fields if isinstance(fields, Mapping) else {}


def _trace(record: logging.LogRecord) -> str | None:
    if not record.exc_info or record.exc_info[1] is None:
        return None
    return "".join(traceback.format_exception(record.exc_info[1])).rstrip("\n")


def _value(value: object) -> str:
    text = _one_line(str(value))
    return text if text and " " not in text and '"' not in text else json.dumps(text, ensure_ascii=False)


def _one_line(text: str) -> str:
    """Return text in which nothing breaks a line or steers a terminal: callers have written some of it."""
    return text if text.isprintable() else "".join(c if c.isprintable() else repr(c)[1:-1] for c in text)
