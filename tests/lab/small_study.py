"""A small experiment with everything in it: blocks, a last one that is not full, problems of different sizes."""

from __future__ import annotations

from pathlib import Path

import xarray as xr

from ocucb import MOSS, Bernoulli, EpsilonGreedy, OCUCBn
from ocucb.lab.experiment import Experiment
from ocucb.lab.problem import Problem, worst_case

HORIZON = 300
RUNS = 600  # two full blocks and a part of one


def small(seed: int = 7, horizon: int = HORIZON) -> Experiment:
    return Experiment(
        problems=(worst_case(5, 0.4), Problem((0.7, 0.4, 0.2), Bernoulli(), "coins")),
        policies=(("OCUCB-n", OCUCBn()), ("MOSS", MOSS(horizon)), ("random", EpsilonGreedy())),
        horizon=horizon,
        runs=RUNS,
        seed=seed,
    )


def assert_same(one: xr.Dataset, other: xr.Dataset) -> None:
    """Assert that two results are equal to the last bit. Only the time and the machine may differ."""
    xr.testing.assert_identical(one.drop_attrs(), other.drop_attrs())
    for name in ("regret", "pulls"):
        assert one[name].values.tobytes() == other[name].values.tobytes()
    assert one.attrs["experiment"] == other.attrs["experiment"]


def chunks(store: Path) -> list[Path]:
    """Return the files that hold results."""
    return sorted(path for name in ("regret", "pulls") for path in (store / name).glob("c/*/*/*/0"))
