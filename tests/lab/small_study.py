"""A small experiment with everything in it: blocks, a last one that is not full, problems of different sizes."""

from __future__ import annotations

from multiprocessing.connection import Connection
from pathlib import Path

import xarray as xr

from ocucb import MOSS, Bernoulli, EpsilonGreedy, OCUCBn
from ocucb.lab.experiment import Experiment, Key
from ocucb.lab.problem import Problem, worst_case
from ocucb.lab.simulation import simulate
from ocucb.lab.store import ResultStore

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


def missing(store: ResultStore, first: int = 0, last: int = 3) -> list[Key]:
    """Return the shards of these blocks of the small experiment that a store has not got, or torn, block by block."""
    keys = [(i, j, block) for block in range(first, last) for i in range(2) for j in range(3)]
    found = {key for i in range(2) for j in range(3) for key in store.read(i, j, first, last)}
    return [key for key in keys if key not in found]


def play_study(experiment: str, store: Path, told: Connection) -> None:
    """Play a study, given as TOML, in a process that may be killed; tell how far it is."""
    study = Experiment.from_toml(experiment)
    told.send("ready")
    simulate(study, folder=store, progress=lambda event: told.send(event.runs_done))
