"""Charts as data: lines of plain numbers over common axes. Drawing them is left to `chart_svg`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

Scale: TypeAlias = Literal["linear", "log"]


@dataclass(frozen=True)
class Line:
    """One line of a chart: what was measured, with a band if it is uncertain; or a bound, drawn in grey."""

    label: str
    x: Sequence[float]
    y: Sequence[float]
    low: Sequence[float] | None = None
    high: Sequence[float] | None = None
    bound: bool = False


@dataclass(frozen=True)
class Chart:
    """Lines over common axes."""

    title: str
    x_label: str
    y_label: str
    lines: tuple[Line, ...]
    x_scale: Scale = "linear"
    y_scale: Scale = "linear"
