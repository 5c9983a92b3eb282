"""The runs of an experiment as an `xarray.Dataset`; xarray's home, and nothing of a command imports it.

regret (problem, policy, run, t)    pseudo-regret; NaN where a run is not finished
pulls (problem, policy, run, arm)   at the horizon; -1 where a run is not finished or the problem has no such arm
finished (problem, policy)          how many runs there are
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import xarray as xr

from ocucb.lab.runs import UNFINISHED, Runs


def make_dataset(runs: Runs) -> xr.Dataset:
    """Return runs as a dataset, which shares their arrays."""
    return xr.Dataset(
        {
            "regret": (("problem", "policy", "run", "t"), runs.regret),
            "pulls": (("problem", "policy", "run", "arm"), runs.pulls),
        },
        {
            "problem": list(runs.problems),
            "policy": list(runs.policies),
            "t": runs.t.tolist(),
            "arm": range(runs.pulls.shape[3]),
            "run": np.arange(runs.regret.shape[2]),
            "finished": (("problem", "policy"), runs.finished),
        },
        dict(runs.attributes),
    )


def join_datasets(datasets: Sequence[xr.Dataset]) -> xr.Dataset:
    """Return datasets that differ in their problems alone as one; it has the first one's attributes."""
    return xr.concat(
        datasets, "problem", data_vars="all", join="outer", fill_value=UNFINISHED, combine_attrs="override"
    )
