"""What a round costs under a memory at 10,000 arms, in units of a plain compiled scan of all arms.

A round is a choice and its reward. All have the same policy and Gaussian rewards, after 20 pulls per arm on average, of
arms at random; the scan is the same policy without a memory, and with the lazy selection turned off. Each cost is the
median of blocks of rounds that take turns, all in one process.

    python -m benchmarks.memory
"""

from __future__ import annotations

import statistics
import time

import numpy as np

import ocucb
from benchmarks.table import write
from ocucb.lab import Remembering
from ocucb.policies.policy import Trend
from ocucb.selection import Selector

ARMS = 10_000
WARM = 20
BLOCK = 100
BLOCKS = 15
AT_MOST = 1.0


def make(policy: ocucb.Policy, memory: ocucb.Window | ocucb.Discount | None) -> Selector:
    """Return a selector after the warm-up."""
    rule = policy.rule()._replace(trend=Trend.NEITHER) if memory is None else Remembering(policy, memory).rule()
    selector = Selector(rule, ocucb.Gaussian().family(), 0, ARMS)
    luck = np.random.default_rng(1)
    for slot in luck.integers(0, ARMS, WARM * ARMS).tolist():
        selector.learn(slot, luck.standard_normal())
    return selector


def block(selector: Selector, rewards: list[float]) -> float:
    """Return the seconds of a round."""
    start = time.perf_counter()
    for reward in rewards:
        selector.learn(selector.choose(), reward)
    return (time.perf_counter() - start) / len(rewards)


def main() -> None:
    """Measure and write the table."""
    rows = []
    memories = {"everything, scanned": None, "window": ocucb.Window(WARM * ARMS), "discount": ocucb.Discount(1 - 5e-6)}
    for policy in (ocucb.UCB(), ocucb.OCUCBn()):
        selectors = {name: make(policy, memory) for name, memory in memories.items()}
        costs: dict[str, list[float]] = {name: [] for name in selectors}
        luck = np.random.default_rng(2)
        for _ in range(BLOCKS):
            for name, selector in selectors.items():
                costs[name].append(block(selector, luck.standard_normal(BLOCK).tolist()))
        plain = costs["everything, scanned"]
        for name, cost in costs.items():
            ratio = statistics.median(one / other for one, other in zip(cost, plain, strict=True))
            limit = "" if name.startswith("everything") else f"{AT_MOST:.0f}"
            rows.append([policy.name, name, f"{1e6 * statistics.median(cost):.1f}", f"{ratio:.2f}", limit])
    write("memory", __doc__ or "", ["policy", "memory", "µs per round", "to the scan", "at most"], rows)


if __name__ == "__main__":
    main()
