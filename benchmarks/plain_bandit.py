"""What a bandit without a memory and of a known scale costs, beside the same one of another checkout of ocucb.

A choice and its reward; both checkouts in processes of their own that take turns, so that a busy machine slows both.
The median over the turns of the ratio of medians.

    python -m benchmarks.plain_bandit PATH_OF_THE_OTHER_CHECKOUT
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
from pathlib import Path

from benchmarks.table import write

TURNS = 15
AT_MOST = 1.05
PROGRAM = """
import statistics, sys, time
import numpy as np
import ocucb
arms = int(sys.argv[1])
bandit = ocucb.Bandit(ocucb.OCUCBn(), arms, seed=1)
luck = np.random.default_rng(1)
means = np.linspace(0.0, 1.0, arms).tolist()
costs = []
for block in range(60):
    draws = luck.standard_normal(500).tolist()
    start = time.perf_counter()
    for draw in draws:
        arm = bandit.choose()
        bandit.learn(arm, means[arm] + draw)
    costs.append((time.perf_counter() - start) / 500)
print(statistics.median(costs[10:]))
"""


def cost(checkout: Path, arms: int) -> float:
    """Return the seconds of a choice and its reward."""
    given = {**os.environ, "PYTHONPATH": str(checkout / "src")}
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(arms)], env=given, capture_output=True, text=True, check=True
    )
    return float(done.stdout)


def main() -> None:
    """Measure and write the table."""
    here, other = Path(__file__).parents[1], Path(sys.argv[1])
    rows = []
    for arms in (10, 1000):
        cost(here, arms), cost(other, arms)  # compiles
        pairs = [(cost(here, arms), cost(other, arms)) for _ in range(TURNS)]
        ratio = statistics.median(one / two for one, two in pairs)
        now, before = (1e6 * statistics.median(column) for column in zip(*pairs, strict=True))
        rows.append([str(arms), f"{now:.2f}", f"{before:.2f}", f"{ratio:.3f}", str(AT_MOST)])
    write("plain_bandit", __doc__ or "", ["arms", "µs", "µs before", "ratio", "at most"], rows)


if __name__ == "__main__":
    main()
