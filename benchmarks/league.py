"""A league of all policies: mean ranks by regret, over five kinds of problem under four noise families.

Ranks are 1 for the least mean regret after 5,000 rounds of 25 policies; each problem counts the same. Intervals are
95 %, by drawing runs anew. "first" counts the problems on which a policy was first. The full size of the study `league`
has 300 runs of each policy, the quick size 30.

    python -m benchmarks.league [quick | full]
"""

from __future__ import annotations

import sys
import warnings

from benchmarks.table import write
from ocucb.compiled import Floats
from ocucb.errors import GuaranteeWarning
from ocucb.lab import Experiment, Study, simulate
from ocucb.lab.ranks import mean_ranks
from ocucb.lab.study import Size

KINDS = ("uniform", "easy", "hard", "many arms", "drifting")


def main(size: Size = "quick") -> None:
    """Play the study and write the ranks."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", GuaranteeWarning)
        [(_, experiment)] = Study.built_in()["league"].experiments(size)
        result = simulate(experiment)
    write_ranks(experiment, result.dataset["regret"].transpose("problem", "policy", "run", "t").to_numpy()[..., -1])


def write_ranks(experiment: Experiment, regret: Floats) -> None:
    """Write the ranks by final regret (problem, policy, run)."""
    names = [problem.name for problem in experiment.problems]
    by_kind = {
        kind: {
            rank.policy: rank
            for rank in mean_ranks(experiment.labels, regret[[name.startswith(kind) for name in names]])
        }
        for kind in KINDS
    }
    rows = []
    for rank in mean_ranks(experiment.labels, regret):
        overall = f"{rank.mean:.1f} ({rank.low:.1f} to {rank.high:.1f})"
        rows.append(
            [rank.policy, overall, *(f"{by_kind[kind][rank.policy].mean:.1f}" for kind in KINDS), f"{rank.first}"]
        )
    write("league", __doc__ or "", ["policy", "mean rank", *KINDS, "first"], rows)


if __name__ == "__main__":
    main("full" if sys.argv[1:] == ["full"] else "quick")
