"""What a change of the arms costs at a million of them, each followed by `choose`, in units of `learn` + `choose`.

After a warm-up of 20 pulls per arm, as in choose_and_learn. A cost is the mean of 3000, in processor time of one
process, the bounds that expire on the way included; "slowest" is the slowest of them. "learn" takes the reward of the
last choice, "forget" takes it back; "an arm back" is a retired one added again. Thompson sampling, which evaluates all
arms for every choice, has ten thousand arms, and 150 changes. KL-UCB-switch has rewards of 0 and 1, for which its two
bounds differ, and a horizon for which arms switch at their 21st pull. Kernels are compiled before, as the service does.

    python -m benchmarks.changes_of_arms
"""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np

import ocucb
from benchmarks.choose_and_learn import WARM_UP, means_of
from benchmarks.table import write
from ocucb.labels import Label
from ocucb.policies import Trend
from ocucb.precompile import compile_bandits

ARMS, CHANGES = 10**6, 3000
ARMS_SCANNED, CHANGES_SCANNED = 10**4, 150
AT_MOST = 10.0
SWITCH = ocucb.KLUCBSwitch(int((WARM_UP + 0.5) ** 5 * ARMS))


def warm(policy: ocucb.Policy, noise: ocucb.Noise, arms: int) -> ocucb.Bandit:
    """Return a bandit that has pulled every arm 20 times."""
    bandit = ocucb.Bandit(policy, arms, noise, seed=1)
    rng, slots = np.random.default_rng(1), np.arange(arms)
    for mean in [means_of(arms)] * WARM_UP:
        rewards = mean + rng.standard_normal(arms)
        bandit._selector.learn_many(slots, (rewards > 0.0).astype(float) if noise.whole else rewards)
    return bandit


def changes(bandit: ocucb.Bandit, arms: int) -> dict[str, Callable[[int], None]]:
    """Return what is measured: each call makes one change and one choice, the i-th of its kind."""
    draw = np.random.default_rng(2)
    open_choices: list[Label] = []

    def reward(value: float) -> float:
        return float(value > 0.0) if bandit.noise.whole else value

    def choose() -> None:
        open_choices.append(bandit.choose())

    def learn(_: int) -> None:
        bandit.learn(open_choices.pop(), reward(float(draw.standard_normal()) - 0.3))
        choose()

    def forget(_: int) -> None:
        bandit.forget(open_choices.pop())
        choose()

    def count_pull(i: int) -> None:
        bandit.count_pull(3 * i + 2)
        choose()

    def retire(i: int) -> None:
        bandit.retire_arm(3 * i + 1)
        choose()

    def reward_of_retired(i: int) -> None:
        bandit.learn(3 * i + 1, reward(0.1))
        choose()

    def bring_back(i: int) -> None:
        bandit.add_arm(3 * i + 1)
        choose()

    def add(i: int) -> None:
        bandit.add_arm(arms + i)
        choose()

    choose()
    return {
        "learn": learn,
        "forget": forget,
        "count_pull": count_pull,
        "retire_arm": retire,
        "learn of a retired arm": reward_of_retired,
        "add_arm, an arm back": bring_back,
        "add_arm": add,
    }


def measure(change: Callable[[int], None], count: int) -> tuple[float, float]:
    """Return the microseconds of a change and a choice: their mean, and the most."""
    change(0)
    spent = np.empty(count)
    for i in range(count):
        start = time.thread_time_ns()
        change(i + 1)
        spent[i] = time.thread_time_ns() - start
    return float(spent.mean()) / 1e3, float(spent.max()) / 1e3


def main() -> None:
    """Measure and write the table."""
    rows = []
    policies = (ocucb.OCUCBn(), ocucb.UCB(), ocucb.KLUCB(), SWITCH, ocucb.ThompsonSampling())
    for policy in policies:
        noise = ocucb.Bernoulli() if policy is SWITCH else ocucb.Gaussian()
        list(compile_bandits([policy], [noise]))
        scanned = policy.rule().trend is Trend.NEITHER
        arms, count = (ARMS_SCANNED, CHANGES_SCANNED) if scanned else (ARMS, CHANGES)
        one = 0.0
        for name, change in changes(warm(policy, noise, arms), arms).items():
            cost, slowest = measure(change, count)
            one = one or cost
            limit = f"{AT_MOST:.0f}" if name != "learn" else ""
            rows.append([policy.name, f"{arms:,}", name, f"{cost:,.1f}", f"{cost / one:.2f}", limit, f"{slowest:,.0f}"])
    header = ["policy", "arms", "change + choose", "µs", "ratio to learn", "at most", "slowest, µs"]
    write("changes_of_arms", __doc__ or "", header, rows)


if __name__ == "__main__":
    main()
