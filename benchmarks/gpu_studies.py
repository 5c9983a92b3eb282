"""The author's four studies at full size on a GPU, and how long they take.

One NVIDIA GPU; seconds are those of playing all shards, compiling and transfers included, where no code was kept from
before; the store, tables and figures of `ocucb run` are not in them. "kept" is the same in a second process, which
finds the code that the first compiled. "regret" is the mean of all runs of OCUCB-n(1, 1/2), over all gaps or horizons.

    python -m benchmarks.gpu_studies            # or with the name of a file for the means, as JSON
"""

from __future__ import annotations

import json
import os
import sys
import time
import warnings
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from tempfile import TemporaryDirectory

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


def play_all() -> list[tuple[float, int, dict[str, Floats]]]:
    """Play all studies in a process of their own."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        return list(pool.map(play_named, STUDIES))


def play_named(name: str) -> tuple[float, int, dict[str, Floats]]:
    """Play the study of a name."""
    warnings.simplefilter("ignore")
    return play_study(Study.built_in()[name])


def main() -> None:
    """Play all, twice, write the table."""
    check_gpu()
    with TemporaryDirectory() as folder:
        os.environ["NUMBA_CACHE_DIR"] = folder
        first, second = play_all(), play_all()
    rows, all_means = [], {}
    for name, (seconds, rounds, means), (kept, _, again) in zip(STUDIES, first, second, strict=True):
        assert all(np.array_equal(means[label], again[label]) for label in means)
        regret = float(means["OCUCB-n(1, 1/2)"][:, 1].mean())
        rows.append([name, f"{rounds:.2e}", f"{seconds:.1f}", f"{kept:.1f}", f"{rounds / kept:.2e}", f"{regret:.2f}"])
        all_means.update({f"{name}/{label}": some.tolist() for label, some in means.items()})
    totals = [f"{sum(one[0] for one in some):.1f}" for some in (first, second)]
    rows.append(["all", "", *totals, "", ""])
    if len(sys.argv) > 1:
        Path(sys.argv[1]).write_text(json.dumps(all_means))
    write("gpu_studies", __doc__ or "", ["study", "rounds", "s", "kept, s", "steps/s", "regret"], rows)


if __name__ == "__main__":
    main()
