"""The author's four studies at full size on a GPU, and how long they take.

One NVIDIA GPU; seconds are those of playing all shards, compiling and transfers included, in a process in which nothing
was compiled before; the store, tables and figures of `ocucb run` are not in them. "regret" is the mean of all runs of
OCUCB-n(1, 1/2), over all gaps or horizons.

    python -m benchmarks.gpu_studies            # or with the name of a file for the means, as JSON
"""

from __future__ import annotations

import json
import sys
import time
import warnings
from pathlib import Path

import numpy as np

from benchmarks.table import write
from ocucb.compiled import Floats
from ocucb.compiled.cuda import check_gpu
from ocucb.lab.gpu_shards import play_together, unfit
from ocucb.lab.study import Study

STUDIES = ("equal-gaps-2", "equal-gaps-10", "equal-gaps-100", "mixed-gaps")


def play_study(study: Study) -> tuple[float, int, dict[str, Floats]]:
    """Return seconds, rounds played, and of each policy the regret's mean and its standard error by value."""
    keyed = [
        (value, experiment.policies[key[1]][0], shard)
        for value, experiment in study.experiments("full")
        for key, shard in experiment.shards(0, experiment.blocks)
    ]
    assert all(unfit(shard) is None for _, _, shard in keyed)
    started = time.perf_counter()
    outcomes = play_together([shard for _, _, shard in keyed])
    seconds = time.perf_counter() - started
    found: dict[str, dict[float, list[Floats]]] = {}
    for (value, label, _), outcome in zip(keyed, outcomes, strict=True):
        found.setdefault(label, {}).setdefault(float(value or 0.0), []).append(outcome.regret[:, -1])
    means = {}
    for label, by_value in found.items():
        parts = {value: np.concatenate(some) for value, some in by_value.items()}
        rows = [(value, some.mean(), some.std(ddof=1) / np.sqrt(len(some))) for value, some in sorted(parts.items())]
        means[label] = np.array(rows)
    return seconds, sum(shard.runs * shard.horizon for _, _, shard in keyed), means


def main() -> None:
    """Play all, write the table."""
    warnings.simplefilter("ignore")
    check_gpu()
    all_means: dict[str, Floats] = {}
    rows, total = [], 0.0
    for name in STUDIES:
        seconds, rounds, means = play_study(Study.built_in()[name])
        total += seconds
        regret = float(means["OCUCB-n(1, 1/2)"][:, 1].mean())
        rows.append([name, f"{rounds:.2e}", f"{seconds:.1f}", f"{rounds / seconds:.2e}", f"{regret:.2f}"])
        print(rows[-1], flush=True)
        all_means |= {f"{name}/{label}": some for label, some in means.items()}
    rows.append(["all", "", f"{total:.1f}", "", ""])
    if len(sys.argv) > 1:
        Path(sys.argv[1]).write_text(json.dumps({name: some.tolist() for name, some in all_means.items()}))
    write("gpu_studies", __doc__ or "", ["study", "rounds", "s", "steps/s", "regret"], rows)


if __name__ == "__main__":
    main()
