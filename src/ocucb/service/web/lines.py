"""A log as lines: how a decision is written, and how a pull is read."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from pydantic import BaseModel, ConfigDict, ValidationError
from pydantic_core import to_json

from ocucb.labels import Label
from ocucb.service import records
from ocucb.service.ids import make_id
from ocucb.service.records import Entry, Head
from ocucb.service.requests import LONGEST_LOG
from ocucb.service.web.messages import Arm, Log, Number, moment, read
from ocucb.service.web.problems import Detail, Refusal, invalid_body

COLUMNS = (
    "seq",
    "decision",
    "arm",
    "unit",
    "at",
    "deadline",
    "pulls",
    "mean",
    "index",
    "effective_arms",
    "outcome",
    "reward",
    "outcome_at",
)
_OUTCOMES = {records.REWARD: "reward", records.DEFAULT: "default", records.FORGOTTEN: "forgotten"}
Pulls = tuple[tuple[Label, float], ...]


class Format(NamedTuple):
    """A way to write lines: its media type, what stands above all lines, and a line from a decision and its outcome."""

    media: str
    top: bytes
    write: Callable[[Head, Entry, Entry | None], bytes]


def _plain(head: Head, entry: Entry, outcome: Entry | None) -> dict[str, Any]:
    values = (
        entry.seq,
        make_id(head.id, entry),
        entry.arm,
        entry.unit,
        moment(entry.at),
        None if entry.deadline is None else moment(entry.deadline),
        entry.pulls,
        entry.mean,
        entry.index_value,
        entry.effective,
        "pending" if outcome is None else _OUTCOMES[outcome.kind],
        None if outcome is None else outcome.reward,
        None if outcome is None else moment(outcome.at),
    )
    return dict(zip(COLUMNS, values, strict=True))


def _as_json(head: Head, entry: Entry, outcome: Entry | None) -> bytes:
    # In ASCII, since many who split lines take more than a line feed for the end of one.
    return to_json(_plain(head, entry, outcome), inf_nan_mode="null", ensure_ascii=True) + b"\n"


def _as_csv(head: Head, entry: Entry, outcome: Entry | None) -> bytes:
    values = _plain(head, entry, outcome).values()
    return _row("" if isinstance(value, float) and not math.isfinite(value) else value for value in values)


def _row(values: Iterable[Any]) -> bytes:
    text = io.StringIO()
    csv.writer(text).writerow(values)
    return text.getvalue().encode()


FORMATS = {
    "ndjson": Format("application/x-ndjson", b"", _as_json),
    "csv": Format("text/csv", _row(COLUMNS), _as_csv),
}


class Line(BaseModel):
    """A line of NDJSON: an arm, a reward unless there was none, and whatever else."""

    model_config = ConfigDict(strict=True, allow_inf_nan=False)
    arm: Arm
    reward: Number | None = None


def read_json(body: bytes) -> Pulls:
    """Return the pulls in one object of JSON."""
    return tuple((pull.arm, pull.reward) for pull in read(Log, body).log)


def read_lines(body: bytes) -> Pulls:
    """Return the pulls in NDJSON."""
    return tuple(_some(_read_lines(body)))


def _read_lines(body: bytes) -> Iterator[tuple[Label, float]]:
    for number, text in enumerate(body.splitlines(), 1):
        try:
            line = Line.model_validate_json(text) if text.strip() else None
        except ValidationError as error:
            raise _wrong_line(number, invalid_body(error).details[0].message) from None
        if line is not None and line.reward is not None:
            yield line.arm, line.reward


def read_csv(body: bytes, known: Mapping[str, Label]) -> Pulls:
    """Return the pulls in CSV, where arms are among those known."""
    return tuple(_some(_read_csv(body, known)))


def _read_csv(body: bytes, known: Mapping[str, Label]) -> Iterator[tuple[Label, float]]:
    try:
        rows = csv.DictReader(io.StringIO(body.decode("utf-8-sig"), newline=""), strict=True)
        if not {"arm", "reward"} <= set(rows.fieldnames or ()):
            raise Refusal(422, "the first line of CSV must name the columns, arm and reward among them")
        for row in rows:
            if row["reward"]:
                reward = _number(row["reward"])
                if reward is None:
                    raise _wrong_line(rows.line_num, "the reward must be a finite number")
                yield known.get(row["arm"], row["arm"]), reward
    except (csv.Error, UnicodeDecodeError) as problem:
        raise Refusal(422, f"the body must be CSV in UTF-8: {problem}") from None


def which_arms(labels: Iterable[Label]) -> dict[str, Label]:
    """Return the arms by what CSV calls them. Text and a number that look alike cannot be told apart there."""
    known: dict[str, Label] = {}
    for label in labels:
        if str(label) in known:
            raise Refusal(422, f"in CSV the arms {str(label)!r} and {label} look alike; import NDJSON instead")
        known[str(label)] = label
    return known


def _number(text: str) -> float | None:
    try:
        number = math.nan if "_" in text else float(text)
    except ValueError:
        return None
    return number if math.isfinite(number) else None


def _some(pulls: Iterator[tuple[Label, float]]) -> Iterator[tuple[Label, float]]:
    for number, pull in enumerate(pulls):
        if number == LONGEST_LOG:
            raise Refusal(422, f"a log must have {LONGEST_LOG} rewards or fewer; import it in parts")
        yield pull


def _wrong_line(number: int, message: str) -> Refusal:
    return Refusal(422, "the log is not as it should be; see details", details=[Detail(f"body.{number}", message)])
