"""Figures and reports, drawn from stores into a folder. Loaded late: it brings Matplotlib."""

from __future__ import annotations

import functools
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import xarray as xr

from ocucb.cli.playing import Part
from ocucb.lab.experiment import Experiment
from ocucb.lab.plots import Points, regret_curves, save, sweep_curves
from ocucb.lab.problem import Problem
from ocucb.lab.report import write_report
from ocucb.lab.result import Store
from ocucb.lab.study import Sweep

FIGURES = (".png", ".pdf")
LARGEST = 2**29  # bytes of results that one report may gather


def draw_regret(part: Part, problem: Problem, stem: str, folder: Path) -> None:
    """Draw regret against t."""
    figure = regret_curves(_dataset(part), problem)
    for suffix in FIGURES:
        save(figure, folder / f"{stem}{suffix}")


def draw_sweep(sweep: Sweep, points: Points, stem: str, folder: Path) -> None:
    """Draw final regret against what was swept."""
    figure = sweep_curves(points, sweep.label, x_scale=sweep.scale)
    for suffix in FIGURES:
        save(figure, folder / f"{stem}{suffix}")


def report(parts: Sequence[Part], name: str, folder: Path) -> None:
    """Write a report on parts that differ in their problems alone; on some of them if all would fill the memory."""
    size = sum(part.experiment.room * _run_bytes(part.experiment) for part in parts)
    chosen = parts[:: -(-size // LARGEST)]
    if len(chosen) < len(parts):
        print(f"note: {name} shows {len(chosen)} of {len(parts)} values, so as not to fill memory", file=sys.stderr)
    problems = tuple(problem for part in chosen for problem in part.experiment.problems)
    experiment = replace(parts[0].experiment, problems=problems)
    dataset = _dataset(parts[0]) if len(chosen) == 1 else _joined(chosen)
    write_report(dataset.assign_attrs(experiment=experiment.describe()), experiment, folder / name)


def _joined(parts: Sequence[Part]) -> xr.Dataset:
    none = {"regret": float("nan"), "pulls": -1}
    every = [_dataset(part) for part in parts]
    return xr.concat(every, "problem", data_vars="all", join="outer", fill_value=none, combine_attrs="override")


@functools.lru_cache(maxsize=1)
def _dataset(part: Part) -> xr.Dataset:
    return Store.open(part.store).dataset()


def _run_bytes(experiment: Experiment) -> int:
    """Return how much a run of every policy on every problem takes in memory."""
    arms = max(problem.arms for problem in experiment.problems)
    return 8 * len(experiment.problems) * len(experiment.policies) * (len(experiment.checkpoints) + arms)
