"""Revenue that is 0 nine times in ten: an unknown scale beside known ones, right and ten times too large.

Five arms; a tenth of an arm's rewards is exponential, the others are 0. One arm is twice as good as the others: mean
0.2 and standard deviation 0.87, beside 0.1 and 0.44. Pseudo-regret after 20,000 rounds, mean of 60 runs with its 95 %
interval; the fewest pulls that any arm had at the end of any run, and those of the best arm; in how many runs the best
arm had most of the pulls. The same rewards for all.

    python -m benchmarks.unknown_scale
"""

from __future__ import annotations

import math

import numpy as np

import ocucb
from benchmarks.table import write

MEANS = np.array([0.1, 0.1, 0.2, 0.1, 0.1])
OFTEN = 0.1
SCALE = math.sqrt(2.0 * 0.2**2 / OFTEN - 0.2**2)  # of the best arm
ROUNDS = 20_000
RUNS = 60


def play(policy: ocucb.Policy, noise: ocucb.Noise, run: int) -> np.ndarray:
    """Return the pulls of each arm; the s-th reward of an arm is the same under every policy."""
    bandit = ocucb.Bandit(policy, len(MEANS), noise, seed=run)
    tapes = []
    for arm, mean in enumerate(MEANS):
        luck = np.random.default_rng([run, arm])
        drawn = luck.exponential(mean / OFTEN, ROUNDS) * (luck.random(ROUNDS) < OFTEN)
        tapes.append(iter(drawn.tolist()))
    for _ in range(ROUNDS):
        chosen = bandit.choose()
        bandit.learn(chosen, next(tapes[int(chosen)]))
    return bandit.pulls


def main() -> None:
    """Measure and write the table."""
    noises = {
        "unknown": ocucb.GaussianUnknownScale(),
        f"{SCALE:.2f}, right": ocucb.Gaussian(SCALE),
        f"{10 * SCALE:.2f}, ten times too large": ocucb.Gaussian(10.0 * SCALE),
    }
    rows = []
    for policy in (ocucb.OCUCBn(), ocucb.ThompsonSampling()):
        for name, noise in noises.items():
            pulls = np.array([play(policy, noise, run) for run in range(RUNS)])
            regret = pulls @ (MEANS.max() - MEANS)
            half = 1.96 * regret.std() / math.sqrt(RUNS)
            best = pulls[:, int(np.argmax(MEANS))]
            won = np.count_nonzero(best > ROUNDS / 2)
            figures = [f"{regret.mean():,.0f} ± {half:,.0f}", str(pulls.min()), str(best.min()), f"{won} of {RUNS}"]
            rows.append([policy.name, name, *figures])
    header = ["policy", "scale", "regret", "fewest pulls", "of the best arm", "best arm ahead"]
    write("unknown_scale", __doc__ or "", header, rows)


if __name__ == "__main__":
    main()
