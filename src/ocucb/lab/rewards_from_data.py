"""Rewards from data: arms whose rewards are drawn from what was seen, as a file of (arm, reward, count) tells.

A draw takes the same time however many different rewards an arm has, by Walker's alias method: as many cells as there
are rewards, each of which holds one or two of them.
"""

from __future__ import annotations

import csv
import hashlib
import importlib
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar, TypeAlias

import numpy as np

from ocucb.compiled import Floats, Parameters, kernel
from ocucb.errors import ParameterError
from ocucb.noise import Bernoulli, Bounded, Gaussian, Noise
from ocucb.noise.noise import Family

COLUMNS = ("arm", "reward", "count")
CELL = 3  # floats: up to where in the cell the first reward is drawn, and both rewards

Law: TypeAlias = tuple[tuple[float, float], ...]  # rewards, rising, each with its count


@kernel
def quantile(place: float, uniform: float, cells: Parameters) -> float:
    """Return a reward of the arm at this place. It is no quantile: it does not rise with the uniform."""
    arm = int(place)
    first = int(cells[arm])
    size = (int(cells[arm + 1]) - first) // CELL
    where = uniform * size
    cell = min(int(where), size - 1)
    at = first + CELL * cell
    return cells[at + 1] if where - cell < cells[at] else cells[at + 2]


@dataclass(frozen=True)
class RewardsFromData(Noise):
    """Rewards drawn from those that were seen, each arm's from its own. What a policy assumes must be said apart.

    Parameters
    ----------
    path : the file they were read from, for people.
    arms : labels of the arms, in the order of the file.
    laws : for each arm its rewards, rising, each with how often it was seen.
    """

    name: ClassVar[str] = "data"
    formula: ClassVar[str] = "none: a law of the environment, which no policy can assume"
    summary: ClassVar[str] = "drawn from rewards that were seen"

    path: str
    arms: tuple[str, ...]
    laws: tuple[Law, ...]

    @cached_property
    def means(self) -> tuple[float, ...]:
        """The mean of each arm."""
        return tuple(
            math.fsum(reward * count for reward, count in law) / math.fsum(count for _, count in law)
            for law in self.laws
        )

    @cached_property
    def digest(self) -> str:
        """What changes when the data do."""
        return hashlib.sha256(repr((self.arms, self.laws)).encode()).hexdigest()[:16]

    @cached_property
    def _cells(self) -> Floats:
        tables = [_alias_table(law) for law in self.laws]
        starts = np.cumsum([len(self.laws) + 1, *map(len, tables)])
        return np.concatenate([starts.astype(float), *tables])

    def family(self) -> Family:
        """Return a family of which only the rewards mean something; the mean that they take is the arm's place."""
        other = Gaussian().family()
        return other._replace(quantile=quantile, parameters=self._cells)

    def standard_deviation(self, mean: float) -> float:
        """Return the largest of all arms."""
        return max(math.sqrt(_variance(law, mean)) for law, mean in zip(self.laws, self.means, strict=True))

    def suggested(self) -> Noise:
        """Return what a policy may assume if nothing else is said: Bernoulli for 0 and 1, else bounded rewards."""
        low, high = min(law[0][0] for law in self.laws), max(law[-1][0] for law in self.laws)
        if {reward for law in self.laws for reward, _ in law} <= {0.0, 1.0}:
            return Bernoulli()
        return Bounded(low, high) if low < high else Gaussian()

    def to_dict(self) -> dict[str, Any]:
        return {"name": self.name, "parameters": {"path": self.path, "digest": self.digest}}

    def __repr__(self) -> str:
        return f"RewardsFromData({self.path!r}, {len(self.laws)} arms, {self.digest})"


def _variance(law: Law, mean: float) -> float:
    total = math.fsum(count for _, count in law)
    return math.fsum(count * (reward - mean) ** 2 for reward, count in law) / total


def _alias_table(law: Law) -> Floats:
    """Return the cells of an arm. Every step is in the order of the rewards, so that all machines make the same."""
    total = math.fsum(count for _, count in law)
    heights = [count * len(law) / total for _, count in law]
    cells = np.array([(1.0, reward, reward) for reward, _ in law])
    low = [cell for cell, height in enumerate(heights) if height < 1.0]
    high = [cell for cell, height in enumerate(heights) if height >= 1.0]
    while low and high:
        poor, rich = low.pop(), high[-1]
        cells[poor, 0], cells[poor, 2] = heights[poor], law[rich][0]
        heights[rich] -= 1.0 - heights[poor]
        if heights[rich] < 1.0:
            low.append(high.pop())
    return cells.reshape(-1)


def read_rewards(path: str | Path) -> RewardsFromData:
    """Return the rewards of a CSV or Parquet file with columns arm, reward and count; without count, one each.

    Raises ParameterError, with the line, where a reward is no number or a count is negative.
    """
    if not Path(path).exists():
        raise ParameterError(f"there is no file {path}; give a CSV or Parquet file with columns arm, reward and count")
    rows = _parquet_rows(Path(path)) if Path(path).suffix == ".parquet" else _csv_rows(Path(path))
    seen: dict[str, dict[float, float]] = {}
    for line, arm, reward, count in rows:
        value, number = _number(path, line, "reward", reward), _number(path, line, "count", count)
        if number < 0.0:
            raise ParameterError(f"{path}, line {line}: a count must be 0 or more, got {count}; how often was it seen?")
        counts = seen.setdefault(str(arm), {})
        counts[value] = counts.get(value, 0.0) + number
    laws = {arm: tuple(sorted((one, count) for one, count in law.items() if count)) for arm, law in seen.items()}
    for arm, law in laws.items():
        if not law:
            raise ParameterError(f"{path}: arm {arm!r} must have a reward with a count above 0, got none; leave it out")
    if len(laws) < 2:
        raise ParameterError(f"{path} must have at least two arms, got {len(laws)}; a choice needs two")
    return RewardsFromData(str(path), tuple(laws), tuple(laws.values()))


def _number(path: str | Path, line: int, name: str, given: object) -> float:
    try:
        number = float(given)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        number = math.nan
    if not math.isfinite(number):
        raise ParameterError(f"{path}, line {line}: a {name} must be a finite number, got {given!r}")
    return number


def _csv_rows(path: Path) -> Iterable[tuple[int, object, object, object]]:
    try:
        with path.open(newline="", encoding="utf-8-sig") as file:
            lines = csv.reader(file)
            header = [name.strip().lower() for name in next(lines, [])]
            places = _places(path, header)
            for line in lines:
                if line:
                    cells = [line[place] if 0 <= place < len(line) else None for place in places]
                    yield lines.line_num, cells[0], cells[1], cells[2] if places[2] >= 0 else 1
    except (OSError, UnicodeDecodeError, csv.Error) as problem:
        reason = getattr(problem, "strerror", None) or problem
        raise ParameterError(f"{path} must be a CSV or Parquet file of arm, reward and count, got: {reason}") from None


def _parquet_rows(path: Path) -> Iterable[tuple[int, object, object, object]]:
    try:
        parquet: Any = importlib.import_module("pyarrow.parquet")
    except ModuleNotFoundError:
        raise ParameterError(f"{path} needs the package pyarrow, or a CSV file; pip install 'ocucb[parquet]'") from None
    try:
        table = parquet.read_table(path)
    except (OSError, ValueError) as problem:
        reason = " ".join(str(problem).split())
        raise ParameterError(f"{path} must be a Parquet file of arm, reward and count, got: {reason}") from None
    places = _places(path, [str(name).lower() for name in table.column_names])
    columns = [table.column(place).to_pylist() if place >= 0 else [1] * table.num_rows for place in places]
    return ((line, *cells) for line, cells in enumerate(zip(*columns, strict=True), 1))


def _places(path: Path, header: Sequence[str]) -> list[int]:
    """Return where the columns are; -1 for a count that is not there."""
    for name in COLUMNS[:2]:
        if name not in header:
            got = ", ".join(header) or "nothing"
            raise ParameterError(f"{path} must have the columns arm, reward and count, got {got}; name them in line 1")
    return [list(header).index(name) if name in header else -1 for name in COLUMNS]
