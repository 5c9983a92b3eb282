"""How many rounds until there is a verdict, on `mixed_gaps()` at an error of 0.01, by policy.

Means of 30 runs. The verdict is asked for every time the rounds have grown by 2 %. The lower bound is T* log(1/δ),
1/T* = max_w min_a w_1 w_a/(w_1 + w_a) gap_a²/2: on average no rule that is wrong with probability δ at most can need
fewer, as δ falls.

    python -m benchmarks.verdicts
"""

from __future__ import annotations

import math

import numpy as np

import ocucb
from benchmarks.table import write
from ocucb.lab import mixed_gaps

ERROR = 0.01
RUNS = 30
FASTER_THAN_UNIFORM = 0.6
ABOVE_LOWER_BOUND = 4.0
MOST = 500_000


def lower_bound(gaps: np.ndarray) -> float:
    """Return T* for unit Gaussian arms of these gaps to the best, which is not among them.

    For a share w of the best arm, all others must give the same w w_a/(w + w_a) gap_a²/2 = c: found by bisection.
    """

    def needed(w: float, c: float) -> float:
        evidence = 0.5 * gaps**2
        return w + float(np.sum(c * w / (w * evidence - c)))

    def largest(w: float) -> float:
        low, high = 0.0, w * float(0.5 * np.min(gaps) ** 2)
        for _ in range(200):
            middle = 0.5 * (low + high)
            low, high = (middle, high) if needed(w, middle) < 1.0 else (low, middle)
        return low

    return 1.0 / max(largest(w) for w in np.linspace(0.01, 0.9, 900))


def rounds_needed(policy: ocucb.Policy, run: int) -> tuple[int, bool]:
    """Return the rounds until a verdict, and whether it is right."""
    problem = mixed_gaps()
    bandit = ocucb.Bandit(policy, len(problem.means), problem.noise, seed=run)
    rng = np.random.default_rng(run)
    means, ask = problem.means, 20
    while bandit.rounds < MOST:
        draws = rng.standard_normal(ask - bandit.rounds).tolist()
        for draw in draws:
            arm = bandit.choose()
            bandit.learn(arm, means[int(arm)] + draw)
        best = bandit.best(1.0 - ERROR).best
        if best is not None:
            return bandit.rounds, best == int(np.argmax(means))
        ask = math.ceil(bandit.rounds * 1.02)
    return MOST, False


def main() -> None:
    """Measure and write the table."""
    means = np.array(mixed_gaps().means)
    least = lower_bound(means[0] - means[1:]) * math.log(1.0 / ERROR)
    rows, uniform = [], 0.0
    for policy in (ocucb.Uniform(), ocucb.TopTwo(), ocucb.KLLUCB(ERROR)):
        runs = [rounds_needed(policy, run) for run in range(RUNS)]
        mean = float(np.mean([rounds for rounds, _ in runs]))
        uniform = uniform or mean
        half = 1.96 * float(np.std([rounds for rounds, _ in runs])) / math.sqrt(RUNS)
        limits = [f"{FASTER_THAN_UNIFORM}", f"{ABOVE_LOWER_BOUND:.0f}"] if policy == ocucb.TopTwo() else ["", ""]
        wrong = sum(not right for _, right in runs)
        figures = [f"{mean:,.0f} ± {half:,.0f}", f"{mean / uniform:.2f}", limits[0], f"{mean / least:.2f}", limits[1]]
        rows.append([policy.name, *figures, str(wrong)])
    header = ["policy", "rounds", "to uniform", "at most", f"to T* log(1/δ) = {least:,.0f}", "at most", "wrong"]
    write("verdicts", __doc__ or "", header, rows)


if __name__ == "__main__":
    main()
