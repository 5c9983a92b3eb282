"""What a command needs once all runs are played, prepared while they are: to import it takes longer than to play."""

from __future__ import annotations

import gc
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress

from ocucb.lab import Experiment


@contextmanager
def preparing(experiments: Sequence[Experiment], report: bool) -> Iterator[None]:
    """Have a thread import what summary and, if wanted, figures need, and compute the bounds that are drawn.

    Kernels play without Python's lock, which the thread then has to itself. What it could not do is done, and its error
    raised, where it is needed. A thread must not be importing when Python ends, so it is waited for; if an error ends
    the command, not for what it has not begun.
    """
    gc.freeze()  # what was imported stays to the end, and need not be looked at whenever garbage is collected
    stopped = threading.Event()
    thread = threading.Thread(target=_prepare, args=(_steps(experiments, report), stopped), name="ocucb-preparation")
    thread.start()
    try:
        yield
    except BaseException:
        stopped.set()
        raise
    finally:
        thread.join()


def _steps(experiments: Sequence[Experiment], report: bool) -> list[Callable[[], None]]:
    steps = [_import_intervals]
    if report:
        steps += [_import_figures, lambda: _compute_bounds(experiments)]
    return steps


def _prepare(steps: Sequence[Callable[[], None]], stopped: threading.Event) -> None:
    for step in steps:
        if not stopped.is_set():
            with suppress(Exception):  # which whoever needs it will raise again, and say
                step()


def _import_intervals() -> None:
    from ocucb.lab.statistics import prepare_intervals

    prepare_intervals()


def _import_figures() -> None:
    from ocucb.lab.figure_style import prepare_figures

    prepare_figures()


def _compute_bounds(experiments: Sequence[Experiment]) -> None:
    from ocucb.lab.curves import bound_curves

    for experiment in experiments:
        for problem in experiment.problems:
            bound_curves(problem, experiment.checkpoints)
