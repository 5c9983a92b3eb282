"""What a choice among some arms costs, of 100,000, in units of a plain choice.

After a warm-up of 20 pulls per arm, as in choose_and_learn. Each step is a choice and its reward, and each cost the
median of several blocks, all in one process. The arms named are other ones in every step, as a filter would name them.

    python -m benchmarks.choose_among
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import cycle

import numpy as np

import ocucb
from benchmarks.choose_and_learn import BLOCK, means_of, per_call, warm
from benchmarks.table import write

ARMS = 10**5
LISTS = 500
AT_MOST = 3.0


def among_step(bandit: ocucb.Bandit, named: int) -> Callable[[float], None]:
    """Return one choice among so many arms, and its reward."""
    means = means_of(ARMS).tolist()
    rng = np.random.default_rng(3)
    lists = cycle([rng.choice(ARMS, named, replace=False).tolist() for _ in range(LISTS)])

    def step(draw: float) -> None:
        arm = bandit.choose(among=next(lists))
        bandit.learn(arm, means[int(arm)] + draw)

    return step


def many_step(bandit: ocucb.Bandit, count: int) -> Callable[[float], None]:
    """Return a choice of several arms, and their rewards."""
    means = means_of(ARMS).tolist()

    def step(draw: float) -> None:
        for arm in bandit.choose_many(count):
            bandit.learn(arm, means[int(arm)] + draw)

    return step


def plain_step(bandit: ocucb.Bandit) -> Callable[[float], None]:
    """Return a plain choice and its reward."""
    means = means_of(ARMS).tolist()

    def step(draw: float) -> None:
        arm = bandit.choose()
        bandit.learn(arm, means[int(arm)] + draw)

    return step


def main() -> None:
    """Measure and write the table."""
    plain = per_call(plain_step(warm(ARMS)), BLOCK)
    rows = [["choose()", f"{plain:.2f}", "1.00", ""]]
    for named in (5, 50, 500):
        cost = per_call(among_step(warm(ARMS), named), BLOCK if named < 500 else BLOCK // 10)
        limit = f"{AT_MOST:.0f}" if named == 50 else ""
        rows.append([f"choose(among={named} arms)", f"{cost:.2f}", f"{cost / plain:.2f}", limit])
    for count in (5, 50):
        cost = per_call(many_step(warm(ARMS), count), BLOCK // 10)
        rows.append([f"choose_many({count})", f"{cost:.2f}", f"{cost / plain:.2f}", ""])
    write("choose_among", __doc__ or "", ["choice and rewards", "µs", "ratio to a plain choice", "at most"], rows)


if __name__ == "__main__":
    main()
