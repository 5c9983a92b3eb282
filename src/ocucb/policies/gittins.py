"""The finite-horizon Gittins index strategy for Gaussian rewards and a flat prior, exact and approximate."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import ClassVar

import numpy as np

from ocucb.checks import whole
from ocucb.compiled import Floats, Parameters, kernel
from ocucb.errors import ParameterError
from ocucb.policies.policy import UNKNOWN_HORIZON, Policy, Rule, Trend, WithArms

LONGEST_EXACT_HORIZON = 10_000
# Made by tools/gittins_table.py: the knots, then a row per knot of pulls and one for infinitely many pulls.
TABLE_FILE = Path(__file__).with_name("gittins_table.f64")

# Parameters of the exact level: the horizon, the number of knots, their logarithms, the table row by row.
HEADER = 2


@cache
def _knots_and_values() -> tuple[Floats, Floats]:
    numbers = np.frombuffer(TABLE_FILE.read_bytes(), "<f8")
    count = int(np.flatnonzero(numbers == LONGEST_EXACT_HORIZON)[0]) + 1  # the last knot
    return numbers[:count], numbers[count:]


def level_parameters(horizon: int) -> Floats:
    """Return what `level` reads. The table is the same for every horizon."""
    knots, values = _knots_and_values()
    return np.concatenate([[horizon, len(knots)], np.log(knots), values])


@kernel
def cubic_weights(x: float, count: int, parameters: Parameters) -> tuple[int, tuple[float, float, float, float]]:
    """Return the first of the four knots around x, and what each of them weighs in the cubic through them."""
    low, high = 0, count - 1
    while high - low > 1:
        middle = (low + high) // 2
        if parameters[HEADER + middle] <= x:
            low = middle
        else:
            high = middle
    start = min(max(low - 1, 0), count - 4)
    k0, k1 = parameters[HEADER + start], parameters[HEADER + start + 1]
    k2, k3 = parameters[HEADER + start + 2], parameters[HEADER + start + 3]
    x0, x1, x2, x3 = x - k0, x - k1, x - k2, x - k3
    return start, (
        x1 * x2 * x3 / ((k0 - k1) * (k0 - k2) * (k0 - k3)),
        x0 * x2 * x3 / ((k1 - k0) * (k1 - k2) * (k1 - k3)),
        x0 * x1 * x3 / ((k2 - k0) * (k2 - k1) * (k2 - k3)),
        x0 * x1 * x2 / ((k3 - k0) * (k3 - k1) * (k3 - k2)),
    )


@kernel
def level(t: float, pulls: float, effective: float, arms: float, parameters: Parameters) -> float:
    remaining = parameters[0] - t + 1.0
    if remaining <= 1.0:
        return 0.0
    count = int(parameters[1])
    log_pulls, log_last = math.log(pulls), parameters[HEADER + count - 1]
    column, across = cubic_weights(math.log(remaining), count, parameters)
    if log_pulls <= log_last:
        rows = 4
        start, down = cubic_weights(log_pulls, count, parameters)
    else:  # only after a warm start: linear in 1/T from the last row but one to the last, where T is infinite
        rows = 2
        share = math.exp(log_last - log_pulls)
        start, down = count - 1, (share, 1.0 - share, 0.0, 0.0)
    scaled = 0.0
    for i in range(rows):
        row = HEADER + count + (start + i) * count + column
        for j in range(4):
            scaled += down[i] * across[j] * parameters[row + j]
    return 0.5 * scaled * scaled * remaining / (pulls + remaining)


@kernel
def level_approximate(t: float, pulls: float, effective: float, arms: float, parameters: Parameters) -> float:
    remaining = max(1.0, parameters[0] - t + 1.0)
    ratio = remaining / pulls
    # Each term has its minimum, below 1, where its logarithm is 3/2 or 1/2. Left of it the formula turns back up.
    early = remaining / (4.0 * max(1.5, math.log(remaining)) ** 1.5)
    late = ratio / (4.0 * math.sqrt(max(0.5, math.log(ratio))))
    return math.log(max(1.0, min(early, late)))


@dataclass(frozen=True)
class Gittins(Policy):
    """Finite-horizon Gittins index strategy: Bayesian, with frequentist regret guarantees near the best known.

    L = T g² / 2, with g the largest average reward, E[Σ_{s≤τ} X_s] / E[τ], that a stopping time 1 ≤ τ ≤ m can reach
    from the posterior N(0, 1/T), and m = n - t + 1 the rounds left. Under Gaussian noise the index is mean + σ g.

    Parameters
    ----------
    horizon : number of rounds n, at most 10,000 for the exact index.
    approximate : take L = log max{1, min{ m / (4 log^{3/2} m), m / (4 T log^{1/2}(m/T)) }} instead, for any horizon.

    T. Lattimore, "Regret Analysis of the Finite-Horizon Gittins Index Strategy for Multi-Armed Bandits", 2016.
    """

    name: ClassVar[str] = "gittins"
    formula: ClassVar[str] = "T g² / 2,  g = max_{1≤τ≤m} E[Σ_{s≤τ} X_s] / E[τ] from N(0, 1/T),  m = n - t + 1"
    source: ClassVar[str] = "Lattimore 2016 (finite-horizon Gittins)"

    horizon: int
    approximate: bool = False

    def __post_init__(self) -> None:
        whole("horizon", self.horizon, 1, UNKNOWN_HORIZON)
        if not isinstance(self.approximate, bool):
            raise ParameterError(f"approximate must be True or False, got {self.approximate!r}")
        if self.horizon > LONGEST_EXACT_HORIZON and not self.approximate:
            raise ParameterError(
                f"horizon must be {LONGEST_EXACT_HORIZON} or less for the exact index, got {self.horizon}; "
                "use approximate=True"
            )

    def rule(self) -> Rule:
        if self.approximate:
            given: Parameters = (float(self.horizon),)
            return Rule(
                parameters=given,
                level=level_approximate,
                trend=Trend.FALLS,
                with_arms=WithArms.UNREAD,
                horizon=self.horizon,
            )
        return Rule(
            parameters=level_parameters(self.horizon),
            level=level,
            trend=Trend.FALLS,
            with_arms=WithArms.UNREAD,
            horizon=self.horizon,
        )
