"""What it costs that nodes share what they learned: one bandit merged into another, and sent as JSON.

Each bandit has 20 rewards per arm, Bernoulli, OCUCB-n. Times are of CPU, medians of several calls in turn, so they
hold roughly on a busy machine too. "next choice" is the first choice after a merge, which makes order and bounds anew.

    python -m benchmarks.merge
"""

from __future__ import annotations

import functools
import json
import statistics
import time
from collections.abc import Callable

import numpy as np

from benchmarks.table import write
from ocucb import Bandit, Bernoulli, OCUCBn

SIZES = (10, 1_000, 100_000)
REPEATS = 7
PULLS = 20


def main() -> None:
    """Measure and write the table."""
    rows = [measure(arms) for arms in SIZES]
    write("merge", __doc__ or "", ["arms", "merge, ms", "next choice, ms", "to JSON, ms", "from JSON, ms", "kB"], rows)


def measure(arms: int) -> list[str]:
    """Return a row of the table."""
    node = trained(arms, 1)
    text = json.dumps(node.to_dict())
    times: list[list[float]] = [[], [], [], []]
    for _ in range(REPEATS):
        shared = trained(arms, 0)
        shared.choose()
        jobs: list[Callable[[], object]] = [
            functools.partial(shared.merge, node),
            shared.choose,
            lambda: json.dumps(node.to_dict()),
            lambda: Bandit.from_dict(json.loads(text)),
        ]
        for column, job in zip(times, jobs, strict=True):
            column.append(seconds(job))
    medians = [f"{1e3 * statistics.median(column):.2f}" for column in times]
    return [f"{arms:,}", *medians, f"{len(text) / 1e3:,.1f}"]


def trained(arms: int, seed: int) -> Bandit:
    """Return a bandit with rewards of every arm."""
    bandit = Bandit(OCUCBn(), arms, Bernoulli(), seed=seed)
    rewards = np.random.default_rng(seed).random(arms * PULLS) < 0.1
    bandit.learn_many(np.tile(np.arange(arms), PULLS).tolist(), rewards.astype(float).tolist())
    return bandit


def seconds(job: Callable[[], object]) -> float:
    """Return the CPU time of a job."""
    began = time.process_time()
    job()
    return time.process_time() - began


if __name__ == "__main__":
    main()
