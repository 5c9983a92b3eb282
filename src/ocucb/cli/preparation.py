"""What a command needs once all runs are played, prepared while they are: to import it takes longer than to play."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from contextlib import suppress

from ocucb.lab import Experiment


def start_preparing(experiments: Sequence[Experiment], report: bool) -> None:
    """Start a thread that imports what summary and, if wanted, figures need, and computes bounds for these.

    Kernels play without Python's lock, which the thread then has to itself. Nobody waits for it: what it has not done,
    or could not do, is done where it is needed.
    """
    threading.Thread(target=_prepare, args=(experiments, report), daemon=True, name="ocucb-preparation").start()


def _prepare(experiments: Sequence[Experiment], report: bool) -> None:
    with suppress(Exception):  # which whoever needs it will raise again, and say
        from ocucb.lab.statistics import prepare_intervals

        prepare_intervals()
        if report:
            from ocucb.lab.figure_style import prepare_figures

            prepare_figures()
            _compute_bounds(experiments)


def _compute_bounds(experiments: Sequence[Experiment]) -> None:
    from ocucb.lab.curves import bound_curves

    for experiment in experiments:
        for problem in experiment.problems:
            bound_curves(problem, experiment.checkpoints)
