"""How often intervals ever leave out a mean, and verdicts ever rule out the best arm, looked at in every round.

Three arms of means 0.5, 0.45 and 0.1, by policy and noise family, at a confidence of 0.9. Rewards come five rounds
late, and one decision in ten is never rewarded. An interval fails if it leaves out its arm's mean in any round of a
run: three chances a run. A verdict fails if it rules out the best arm in any round. Each may happen to one in ten at
most; a share whose count would be that large with probability below 0.001, were it one in ten, is marked.

    python -m benchmarks.coverage [runs] [rounds]
"""

from __future__ import annotations

import math
import sys
from collections import deque

import numpy as np

import ocucb
from benchmarks.table import write
from ocucb.compiled import Floats
from ocucb.verdict import Comparison

MEANS = np.array([0.5, 0.45, 0.1])
ERROR = 0.1
DELAY = 5
LOST = 0.1
RUNS, ROUNDS = 200, 400
SURPRISING = 0.001
FAMILIES = (
    ocucb.Gaussian(),
    ocucb.Bernoulli(),
    ocucb.Bounded(0.0, 1.0),
    ocucb.Poisson(),
    ocucb.Exponential(),
    ocucb.GaussianUnknownScale(),
)
POLICIES = (ocucb.OCUCBn(), ocucb.ThompsonSampling(), ocucb.TopTwo())


def play(policy: ocucb.Policy, noise: ocucb.Noise, run: int, rounds: int) -> tuple[int, bool]:
    """Return how many intervals ever left out a mean in one run, and whether the best arm was ever ruled out."""
    bandit = ocucb.Bandit(policy, len(MEANS), noise, seed=run)
    luck = np.random.default_rng([run, 7])
    late: deque[int] = deque()
    failed, wrong = np.zeros(len(MEANS), bool), False
    for _ in range(rounds):
        late.append(int(bandit.choose()))
        if len(late) <= DELAY:
            continue
        arm = late.popleft()
        if luck.random() < LOST:
            bandit.forget(arm)
            continue
        bandit.learn(arm, noise.sample(float(MEANS[arm]), luck))
        low, high = bandit.intervals(1.0 - ERROR)
        failed |= (low > MEANS) | (high < MEANS)
        wrong = wrong or ruled_out(bandit, noise, 0)
    return int(failed.sum()), wrong


def ruled_out(bandit: ocucb.Bandit, noise: ocucb.Noise, arm: int) -> bool:
    """Return whether `bandit.best` rules out an arm; it also forecasts, which takes much longer."""
    known = bandit._selector  # `bandit.statistics` has the spreads too, and counts effective arms for it
    counts: Floats = known.learned.astype(float)
    means = np.where(counts > 0, known.means, 0.0)
    everyone = np.ones(len(means), bool)
    comparison = Comparison(noise, means, counts, everyone, len(means), ERROR, known.spreads())
    return bool(comparison.beaten()[arm])


def policies_for(noise: ocucb.Noise) -> tuple[ocucb.Policy, ...]:
    """Return the policies to play; TopTwo needs a divergence that all arms share, and uniform play takes its place."""
    return (*POLICIES[:2], ocucb.Uniform()) if noise.family().spreads else POLICIES


def is_surprising(count: int, chances: int) -> bool:
    """Return whether so many of so many chances of one in ten each, or more, are hardly possible."""
    tail = sum(
        math.exp(math.lgamma(chances + 1) - math.lgamma(k + 1) - math.lgamma(chances - k + 1))
        * ERROR**k
        * (1.0 - ERROR) ** (chances - k)
        for k in range(count, chances + 1)
    )
    return tail < SURPRISING


def main(runs: int = RUNS, rounds: int = ROUNDS) -> None:
    """Measure and write the table."""
    rows = []
    for noise in FAMILIES:
        for policy in policies_for(noise):
            played = [play(policy, noise, run, rounds) for run in range(runs)]
            failed, wrong = sum(count for count, _ in played), sum(bad for _, bad in played)
            cells = [
                f"{count / chances:.3f}{' too many' if is_surprising(count, chances) else ''}"
                for count, chances in ((failed, runs * len(MEANS)), (wrong, runs))
            ]
            rows.append([noise.name, policy.name, *cells])
    about = f"{__doc__}\n{runs} runs of {rounds} rounds each."
    write("coverage", about, ["family", "policy", "intervals that fail", "verdicts that fail"], rows)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:3]))
