"""A short race: OCUCB-n against UCB, MOSS and Thompson sampling. All of them meet the same rewards."""

from __future__ import annotations

import argparse
import math
import time

import numpy as np
import numpy.typing as npt

import ocucb

MEANS = np.array([0.0] + [-0.1] * 3 + [-0.5] * 3 + [-1.0] * 3)


def regret(policy: ocucb.Policy, noise: npt.NDArray[np.float64], seed: int) -> float:
    """Play one run and return its pseudo-regret. The s-th reward of an arm is its mean plus noise[arm][s]."""
    bandit = ocucb.Bandit(policy, arms=len(MEANS), seed=seed)
    rewards = [iter((mean + row).tolist()) for mean, row in zip(MEANS, noise, strict=True)]
    for _ in range(noise.shape[1]):
        arm = bandit.choose()
        bandit.learn(arm, next(rewards[int(arm)]))
    return float(np.dot(bandit.pulls, MEANS.max() - MEANS))


def main() -> None:
    """Race and print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=3000, help="rounds of each run (default %(default)s)")
    parser.add_argument("--runs", type=int, default=40, help="runs of each policy (default %(default)s)")
    parser.add_argument("--seed", type=int, default=1, help="seed of the rewards (default %(default)s)")
    options = parser.parse_args()
    if options.rounds < len(MEANS) or options.runs < 2:
        parser.error(f"at least {len(MEANS)} rounds and 2 runs are needed")

    policies = {
        "OCUCB-n": ocucb.OCUCBn(),
        "UCB": ocucb.UCB(),
        "MOSS": ocucb.MOSS(options.rounds),
        "Thompson sampling": ocucb.ThompsonSampling(),
    }
    print(f"{len(MEANS)} arms, gaps 0, 0.1, 0.5 and 1, Gaussian noise, {options.rounds} rounds, {options.runs} runs\n")
    print(f"{'policy':20}{'knows n':>8}{'regret':>9}   {'95 % interval':16}{'µs per round':>12}")
    for name, policy in policies.items():
        regret(policy, np.zeros((len(MEANS), len(MEANS) + 2)), seed=0)  # compiles, on the very first run
        start = time.perf_counter()
        results = []
        for run in range(options.runs):
            noise = np.random.default_rng([options.seed, run]).standard_normal((len(MEANS), options.rounds))
            results.append(regret(policy, noise, seed=run))
        spent = 1e6 * (time.perf_counter() - start) / (options.runs * options.rounds)
        mean, error = float(np.mean(results)), float(np.std(results, ddof=1)) / math.sqrt(options.runs)
        horizon = "yes" if policy.rule().horizon else "no"
        low, high = mean - 1.96 * error, mean + 1.96 * error
        print(f"{name:20}{horizon:>8}{mean:9.1f}   {f'{low:.1f} to {high:.1f}':16}{spent:12.1f}")


if __name__ == "__main__":
    main()
