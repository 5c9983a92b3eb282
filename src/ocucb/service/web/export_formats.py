"""A log as lines: how a decision is written, and how a pull is read."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, Protocol

from pydantic import BaseModel, ConfigDict, ValidationError
from pydantic_core import to_json

from ocucb.labels import Label
from ocucb.service import records
from ocucb.service.ids import make_id
from ocucb.service.parquet import ParquetStream
from ocucb.service.records import Entry, ExperimentRecord
from ocucb.service.requests import MAX_IMPORTED_REWARDS
from ocucb.service.web.errors import Detail, Refusal, invalid_body
from ocucb.service.web.messages import Arm, Log, Number, read, timestamp

COLUMNS = (
    "seq",
    "decision",
    "arm",
    "unit",
    "at",
    "deadline",
    "pulls",
    "pending",
    "mean",
    "index",
    "effective_arms",
    "probability",
    "outcome",
    "reward",
    "outcome_at",
)
PARQUET_COLUMNS = {
    **dict.fromkeys(COLUMNS, "number"),
    **dict.fromkeys(("seq", "pulls", "pending"), "integer"),
    **dict.fromkeys(("decision", "arm", "unit", "outcome"), "text"),
    **dict.fromkeys(("at", "deadline", "outcome_at"), "time"),
}
TEXT_COLUMNS = ("arm", "unit")  # whose content callers choose
FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r")
_OUTCOMES = {records.REWARD: "reward", records.SUMMED: "reward", records.DEFAULT: "default"}
Pulls = tuple[tuple[Label, float], ...]


Decided = tuple[Entry, Entry | None]
"""A decision, and its outcome if there is one."""


class Writer(Protocol):
    """Writes an export, piece by piece: what stands above all, decisions, and what stands below."""

    top: bytes

    def write(self, head: ExperimentRecord, decided: Sequence[Decided]) -> bytes:
        """Return some decisions as bytes."""

    def end(self) -> bytes:
        """Return what stands below all."""


class _Lines:
    """Writes a line for each decision."""

    def __init__(self, top: bytes, line: Callable[[ExperimentRecord, Entry, Entry | None], bytes]) -> None:
        self.top, self._line = top, line

    def write(self, head: ExperimentRecord, decided: Sequence[Decided]) -> bytes:
        return b"".join(self._line(head, *pair) for pair in decided)

    def end(self) -> bytes:
        return b""


class _Parquet:
    """Writes a Parquet file."""

    top = b""

    def __init__(self) -> None:
        self._stream = ParquetStream(PARQUET_COLUMNS)

    def write(self, head: ExperimentRecord, decided: Sequence[Decided]) -> bytes:
        return self._stream.write([_as_row(head, *pair) for pair in decided])

    def end(self) -> bytes:
        return self._stream.end()


class Format(NamedTuple):
    """A format of exports: its media type, the end of a file's name, and how it is written."""

    media: str
    suffix: str
    open: Callable[[], Writer]


def _plain(head: ExperimentRecord, entry: Entry, outcome: Entry | None) -> dict[str, Any]:
    return {
        "seq": entry.seq,
        "decision": make_id(head.id, entry),
        "arm": entry.arm,
        "unit": entry.unit,
        "at": timestamp(entry.at),
        "deadline": None if entry.deadline is None else timestamp(entry.deadline),
        "statistics": {} if entry.statistics is None else entry.statistics._asdict(),
        "probability": entry.probability,
        "outcome": outcome_of(outcome),
        "reward": None if outcome is None else outcome.reward,
        "outcome_at": None if outcome is None else timestamp(outcome.at),
    }


def outcome_of(outcome: Entry | None) -> str:
    """Return what became of a decision, in a word."""
    if outcome is None:
        return "pending"
    if outcome.kind == records.CORRECTED:
        return "void" if outcome.reward is None else "corrected"
    return _OUTCOMES.get(outcome.kind, "forgotten")


def _as_json(head: ExperimentRecord, entry: Entry, outcome: Entry | None) -> bytes:
    # In ASCII, since many who split lines take more than a line feed for the end of one.
    return to_json(_plain(head, entry, outcome), inf_nan_mode="null", ensure_ascii=True) + b"\n"


def _as_csv(head: ExperimentRecord, entry: Entry, outcome: Entry | None) -> bytes:
    plain = _plain(head, entry, outcome)
    flat = {**plain, **plain["statistics"]}
    return _row(_neutralised(flat[column]) if column in TEXT_COLUMNS else flat[column] for column in COLUMNS)


def _neutralised(value: Any) -> Any:
    """Return a cell that no spreadsheet takes for a formula: text that begins as one has an apostrophe in front."""
    return f"'{value}" if isinstance(value, str) and value.startswith(FORMULA_STARTS) else value


def _row(values: Iterable[Any]) -> bytes:
    text = io.StringIO()
    csv.writer(text).writerow(values)
    return text.getvalue().encode()


def _as_row(head: ExperimentRecord, entry: Entry, outcome: Entry | None) -> tuple[Any, ...]:
    times = {"at": entry.at, "deadline": entry.deadline, "outcome_at": None if outcome is None else outcome.at}
    plain = _plain(head, entry, outcome)
    flat = {**plain, **plain["statistics"], "arm": str(entry.arm), **times}
    return tuple(flat[column] for column in COLUMNS)


FORMATS = {
    "ndjson": Format("application/x-ndjson", "ndjson", lambda: _Lines(b"", _as_json)),
    "csv": Format("text/csv", "csv", lambda: _Lines(_row(COLUMNS), _as_csv)),
    "parquet": Format("application/vnd.apache.parquet", "parquet", _Parquet),
}


class PullLine(BaseModel):
    """A line of NDJSON: an arm, a reward unless there was none, and whatever else."""

    model_config = ConfigDict(strict=True, allow_inf_nan=False)
    arm: Arm
    reward: Number | None = None


def read_json(body: bytes) -> Pulls:
    """Return the pulls in one object of JSON."""
    return tuple((pull.arm, pull.reward) for pull in read(Log, body).log)


def read_lines(body: bytes) -> Pulls:
    """Return the pulls in NDJSON."""
    return tuple(_limit_count(_read_lines(body)))


def _read_lines(body: bytes) -> Iterator[tuple[Label, float]]:
    for number, text in enumerate(body.splitlines(), 1):
        try:
            line = PullLine.model_validate_json(text) if text.strip() else None
        except ValidationError as error:
            raise _wrong_line(number, invalid_body(error).details[0].message) from None
        if line is not None and line.reward is not None:
            yield line.arm, line.reward


def read_csv(body: bytes, known: Mapping[str, Label]) -> Pulls:
    """Return the pulls in CSV, where arms are among those known."""
    return tuple(_limit_count(_read_csv(body, known)))


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


def arms_by_text(labels: Iterable[Label]) -> dict[str, Label]:
    """Return the arms by what CSV calls them. Text and a number that look alike cannot be told apart there."""
    known: dict[str, Label] = {}
    for label in labels:
        for text in {str(label), str(_neutralised(label))}:  # as callers write it, and as an export does
            if text in known:
                raise Refusal(422, f"in CSV the arms {text!r} and {label} look alike; import NDJSON instead")
            known[text] = label
    return known


def _number(text: str) -> float | None:
    try:
        number = math.nan if "_" in text else float(text)
    except ValueError:
        return None
    return number if math.isfinite(number) else None


def _limit_count(pulls: Iterator[tuple[Label, float]]) -> Iterator[tuple[Label, float]]:
    for number, pull in enumerate(pulls):
        if number == MAX_IMPORTED_REWARDS:
            raise Refusal(422, f"a log must have {MAX_IMPORTED_REWARDS} rewards or fewer; import it in parts")
        yield pull


def _wrong_line(number: int, message: str) -> Refusal:
    return Refusal(422, "the log is not as it should be; see details", details=[Detail(f"body.{number}", message)])
