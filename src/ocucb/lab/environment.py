"""The environment of a run as the episode sees it: means that may change, and rewards that may come late.

One record, as a selector's state is. A plain environment has one stretch of means that never ends, and no delay.
"""

from __future__ import annotations

import math
from typing import Any, TypeAlias

import numpy as np

from ocucb.compiled import (
    DRAWS,
    QUANTILE,
    Floats,
    address,
    array_at,
    call_quantile,
    kernel,
    reals,
    record_at,
)
from ocucb.lab import delays
from ocucb.lab.problem import Problem
from ocucb.lab.tape import drawing
from ocucb.selection.operations import add_reward, pulls_of
from ocucb.selection.state import NEVER, State
from ocucb.uniforms import uniform

ENVIRONMENT = np.dtype(
    [
        ("arms", np.int64),
        ("best", np.float64),  # mean, now
        ("stretch", np.int64),  # of now
        ("stretch_count", np.int64),
        ("smooth", np.int64),  # means move from one stretch's to the next's, and do not jump
        ("next_change", np.int64),  # the round, from 0, in which means change next
        ("settled", np.float64),  # regret before the means changed last
        ("lost", np.float64),  # probability that a reward never comes
        ("horizon", np.int64),
        ("quantile", np.int64),  # addresses
        ("draws", np.int64),
        ("family", np.int64),
        ("delay", np.int64),  # 0 if there is none
        ("delay_parameters", np.int64),
        ("means", np.int64),
        ("places", np.int64),
        ("stretches", np.int64),
        ("starts", np.int64),
        ("before", np.int64),
        ("first", np.int64),
        ("last", np.int64),
        ("after", np.int64),
        ("chosen", np.int64),
        ("rewards", np.int64),
    ],
    align=True,
)

Environment: TypeAlias = Any  # an ENVIRONMENT record, as kernels see it

environment_at = record_at(ENVIRONMENT)
means_at = array_at(np.float64)  # of now, one per arm
places_at = array_at(np.float64)  # what the reward's law takes for a mean: the means, or an arm's place in data
stretches_at = array_at(np.float64)  # means of the first stretch, of the second, ...
starts_at = array_at(np.int64)  # the round, from 0, in which each begins
before_at = array_at(np.float64)  # pulls when the means changed last
rounds_at = array_at(
    np.int64
)  # by round: the first and last choice whose reward comes then, and the one after a choice
chosen_at = array_at(np.int64)  # by round: the arm
rewards_at = array_at(np.float64)  # by round: its reward


@kernel
def begin(environment: Environment, stretches: int) -> None:
    """Begin a run, given the address of its means."""
    before = before_at(environment.before)
    environment.stretches = stretches
    environment.stretch = 0
    environment.settled = 0.0
    for arm in range(environment.arms):
        before[arm] = 0.0
    set_means(environment, 0)
    if environment.delay:
        first = rounds_at(environment.first)
        for t in range(environment.horizon):
            first[t] = -1


@kernel
def set_means(environment: Environment, t: int) -> None:
    """Set the means of round t, from 0, and the round in which they change next."""
    starts = starts_at(environment.starts)
    means = means_at(environment.means)
    stretches = stretches_at(environment.stretches)
    while environment.stretch + 1 < environment.stretch_count and starts[environment.stretch + 1] <= t:
        environment.stretch += 1
    here = environment.stretch
    last = here + 1 == environment.stretch_count
    share = 0.0
    if environment.smooth and not last:
        share = float(t - starts[here]) / float(starts[here + 1] - starts[here])
    environment.best = -math.inf
    for arm in range(environment.arms):
        mean = stretches[here * environment.arms + arm]
        if share > 0.0:
            mean += share * (stretches[(here + 1) * environment.arms + arm] - mean)
        means[arm] = mean
        environment.best = max(environment.best, mean)
    if last:
        environment.next_change = NEVER
    else:
        environment.next_change = t + 1 if environment.smooth else starts[here + 1]


@kernel
def change_means(environment: Environment, state: State, t: int) -> None:
    """Let the means change at round t: regret so far was against the best of those before."""
    before = before_at(environment.before)
    environment.settled = regret_of(environment, state)
    for arm in range(environment.arms):
        before[arm] = pulls_of(state, arm)
    set_means(environment, t)


@kernel
def regret_of(environment: Environment, state: State) -> float:
    """Return the pseudo-regret so far, against the best arm of each moment."""
    before = before_at(environment.before)
    means = means_at(environment.means)
    total = environment.settled
    for arm in range(environment.arms):
        total += (pulls_of(state, arm) - before[arm]) * (environment.best - means[arm])
    return float(total)


@kernel
def send(environment: Environment, t: int, arm: int, reward: float, key: np.uint64, number: int) -> None:
    """Put a reward on its way: that of an arm's pull of this number, in round t, from 0. It may never come."""
    if environment.lost > 0.0 and uniform(key, 2 * number) < environment.lost:
        return
    wait = call_quantile(environment.delay, (0.0, uniform(key, 2 * number + 1), reals(environment.delay_parameters)))
    if wait >= environment.horizon - t:
        return
    first, last, after = rounds_at(environment.first), rounds_at(environment.last), rounds_at(environment.after)
    due = t + int(wait)
    chosen_at(environment.chosen)[t] = arm
    rewards_at(environment.rewards)[t] = reward
    after[t] = -1
    if first[due] < 0:
        first[due] = t
    else:
        after[last[due]] = t
    last[due] = t


@kernel
def receive(environment: Environment, state: State, t: int) -> None:
    """Learn the rewards that come at the end of round t, in the order of their choices."""
    chosen, rewards, after = (
        chosen_at(environment.chosen),
        rewards_at(environment.rewards),
        rounds_at(environment.after),
    )
    which = rounds_at(environment.first)[t]
    while which >= 0:
        add_reward(state, chosen[which], rewards[which])
        which = after[which]


class EnvironmentMemory:
    """The record of an environment and its arrays. It must live as long as its address is used.

    means : of each run if they are random, a row each; else of each stretch.
    """

    def __init__(self, problem: Problem, horizon: int, means: Floats) -> None:
        family = problem.noise.family()
        self.environment = np.zeros(1, ENVIRONMENT)
        self.means = np.ascontiguousarray(means)
        self.stride = self.means.strides[0] if problem.prior is not None else 0  # from one run's means to the next's
        now, waiting = np.empty(problem.arms), horizon if problem.delay is not None else 0
        parameters = problem.delay.parameters if problem.delay is not None else ()
        self._arrays = {
            "means": now,
            "places": now if problem.places is None else np.array(problem.places, dtype=float),
            "starts": np.array([0, *(at - 1 for at, _ in problem.changes)], dtype=np.int64),
            "before": np.empty(problem.arms),
            "family": np.asarray(family.parameters, dtype=float),
            "delay_parameters": np.array(parameters, dtype=float),
            **{name: np.empty(waiting, np.int64) for name in ("first", "last", "after", "chosen")},
            "rewards": np.empty(waiting),
        }
        settings: dict[str, Any] = {
            "arms": problem.arms,
            "stretch_count": 1 + len(problem.changes),
            "smooth": problem.smooth,
            "lost": problem.delay.lost if problem.delay is not None else 0.0,
            "horizon": horizon,
            "quantile": address(family.quantile, QUANTILE),
            "draws": address(drawing(family.quantile), DRAWS),
            "delay": address(delays.QUANTILES[problem.delay.kind], QUANTILE) if problem.delay is not None else 0,
            "stretches": self.means.ctypes.data,
            **{name: array.ctypes.data for name, array in self._arrays.items()},
        }
        for name, value in settings.items():
            self.environment[name] = value
        self.address = int(self.environment.ctypes.data)
