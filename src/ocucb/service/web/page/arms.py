"""The arms of an experiment as a table: sorted and cut into pages by the server, for there may be very many."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ocucb.compiled import Floats
from ocucb.confidence_sequences import ConfidenceSequences
from ocucb.labels import Label
from ocucb.noise import Noise
from ocucb.service.replies import PAGE_CONFIDENCE, View
from ocucb.service.web.page.numbers import places, real, whole

ARMS_PER_PAGE = 50
PLOT_WIDTH = 120.0
PLOT_MARGIN = 5.0
Order = npt.NDArray[np.intp]


class Column(NamedTuple):
    """A column that the table can be sorted by: its name in addresses, its head, and what it means."""

    name: str
    head: str
    help: str


COLUMNS = (
    Column("arm", "Arm", "The label of the arm"),
    Column("pulls", "Pulls", "How often it was chosen, with imported pulls"),
    Column("pending", "Pending", "Decisions whose reward has not come yet"),
    Column("mean", "Mean, 95 % interval", "Mean reward, with an interval that is right at all times at once"),
    Column("index", "Index", "What the policy compares: the largest is chosen next"),
    Column("effective", "Effective arms", "How many arms have about as many pulls: k in the paper"),
)
REMEMBERING_COLUMNS = (
    *COLUMNS[:3],
    Column("remembered", "Remembered", "How many of its pulls are remembered, pending ones included"),
    Column("mean", "Remembered mean", "Mean of the rewards that are remembered"),
    *COLUMNS[4:],
)


class Sorting(NamedTuple):
    """What of the table is asked for."""

    column: str = "pulls"
    down: bool = True
    page: int = 1
    find: str = ""


class ArmRow(NamedTuple):
    """An arm as text. `plot` is its interval: the ends and the mean, in pixels."""

    arm: Label
    retired: bool
    pulls: str
    pending: str
    mean: str
    interval: str
    plot: tuple[float, float, float] | None
    index_value: str
    effective: str
    remembered: str = ""


class ArmsPage(NamedTuple):
    """One page of the table, and where it stands among all."""

    rows: tuple[ArmRow, ...]
    first: int
    found: int
    page: int
    pages: int


class ArmsTable:
    """The numbers of all arms in play, as arrays, and the retired ones."""

    def __init__(self, view: View) -> None:
        self.labels, self.retired = view.arms, view.retired
        self._retired_statistics = dict(
            zip(view.retired, zip(view.retired_pulls, view.retired_means, strict=True), strict=True)
        )
        self.noise = view.definition.noise
        self.pulls, self.pending = _floats(view.pulls), _floats(view.pending)
        self.means = _floats(view.means)
        spreads = None if view.spreads is None else _floats(view.spreads)
        remembers = view.remembered is not None
        self.titles = REMEMBERING_COLUMNS if remembers else COLUMNS
        self.low = self.high = np.full(len(self.means), np.nan)
        if not remembers:
            self.low, self.high = _intervals(self.noise, self.means, self.pulls - self.pending, spreads)
        self.columns = {
            "pulls": self.pulls,
            "pending": self.pending,
            "mean": self.means,
            "index": _floats(view.indices),
            "effective": _floats(view.effective_arms),
            "remembered": self.pulls if view.remembered is None else _floats(view.remembered),
        }
        self._orders: dict[str, Order] = {}

    def page(self, sorting: Sorting) -> ArmsPage:
        """Return a page of arms in order, retired ones last."""
        order = self._order(sorting.column)
        order = order[::-1] if sorting.down else order
        if sorting.column in self.columns:  # what is not known comes last, either way
            unknown = np.isnan(self.columns[sorting.column][order])
            order = np.concatenate([order[~unknown], order[unknown]])
        gone: Sequence[Label] = self.retired
        if sorting.find:
            wanted = sorting.find.casefold()
            order = np.array([i for i in order.tolist() if wanted in str(self.labels[i]).casefold()], dtype=np.intp)
            gone = [arm for arm in gone if wanted in str(arm).casefold()]
        found = order.size + len(gone)
        pages = max(1, math.ceil(found / ARMS_PER_PAGE))
        number = min(max(1, sorting.page), pages)
        start = (number - 1) * ARMS_PER_PAGE
        rows = self._rows(order[start : start + ARMS_PER_PAGE])
        after = gone[max(0, start - order.size) : max(0, start + ARMS_PER_PAGE - order.size)]
        return ArmsPage((*rows, *map(self._retired, after)), start + 1, found, number, pages)

    def _order(self, column: str) -> Order:
        """Return the arms from the smallest up; among equals the last first, so that downwards the first is first."""
        if column not in self._orders:
            if column == "arm":
                keys = [(_natural(label), -i) for i, label in enumerate(self.labels)]
                self._orders[column] = np.array(sorted(range(len(keys)), key=keys.__getitem__), dtype=np.intp)
            else:
                values = self.columns[column]
                self._orders[column] = np.lexsort((-np.arange(values.size), values))
        return self._orders[column]

    def _rows(self, which: Order) -> list[ArmRow]:
        decimals = {name: places(self.columns[name][which].tolist()) for name in ("mean", "index", "effective")}
        place = self._scale(which)
        rows = []
        for i in which.tolist():
            mean, low, high = float(self.means[i]), float(self.low[i]), float(self.high[i])
            known = not math.isnan(low)
            ends = f"{real(low, decimals['mean'])} to {real(high, decimals['mean'])}" if known else ""
            rows.append(
                ArmRow(
                    self.labels[i],
                    False,
                    whole(self.pulls[i]),
                    whole(self.pending[i]),
                    real(mean, decimals["mean"]),
                    ends,
                    (place(low), place(mean), place(high)) if known else None,
                    real(float(self.columns["index"][i]), decimals["index"]),
                    real(float(self.columns["effective"][i]), min(1, decimals["effective"])),
                    _amount(float(self.columns["remembered"][i])),
                )
            )
        return rows

    def _retired(self, arm: Label) -> ArmRow:
        pulls, mean = self._retired_statistics[arm]
        return ArmRow(arm, True, whole(pulls), "", real(mean, places([mean])), "", None, "", "")

    def _scale(self, which: Order) -> Callable[[float], float]:
        """Return the map from rewards to pixels. An arm with few rewards must not make all others small."""
        known = which[~np.isnan(self.low[which])]
        if not known.size:
            return lambda value: PLOT_WIDTH / 2.0
        widths = np.minimum(self.high[known], 1e300) - np.maximum(self.low[known], -1e300)
        half = float(np.median(widths)) / 2.0 or 1.0
        least, most = float(self.means[known].min()) - half, float(self.means[known].max()) + half
        if not math.isfinite(most - least):
            return lambda value: PLOT_WIDTH / 2.0
        size = (PLOT_WIDTH - 2.0 * PLOT_MARGIN) / (most - least)
        return lambda value: round(PLOT_MARGIN + size * (min(max(value, least), most) - least), 1)


def _intervals(noise: Noise, means: Floats, counts: Floats, spreads: Floats | None) -> tuple[Floats, Floats]:
    """Return intervals that are right at all times at once, or where a family has none, ordinary ones."""
    if noise.evidence() is None:
        return noise.interval(means, counts)
    known = np.where(counts > 0, means, 0.0)
    found = ConfidenceSequences(noise, known, counts, spreads).intervals(1.0 - PAGE_CONFIDENCE)
    return np.where(counts > 0, found.low, np.nan), np.where(counts > 0, found.high, np.nan)


def _amount(pulls: float) -> str:
    """Return a number of pulls, of which some may count in part."""
    return whole(pulls) if pulls >= 100.0 or pulls.is_integer() else real(pulls, 1)


def _natural(label: Label) -> list[Any]:
    """Return a key that sorts numbers within labels by their size, and numbers before words."""
    if isinstance(label, int):
        return [(0, label, "")]
    parts = re.split(r"([0-9]{1,15})", label.casefold())
    return [(0, int(part), "") if part.isdigit() and part.isascii() else (1, 0, part) for part in parts if part]


def _floats(values: Sequence[float]) -> Floats:
    return np.array(values, dtype=np.float64)
