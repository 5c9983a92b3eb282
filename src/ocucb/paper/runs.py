"""Runs with their tapes: what was chosen, every reward that could have been seen, and the paper's objects from both.

Nothing here asks a policy what it computed. Choices come from the lab, rewards from the tape, and pulls, means and
indices are worked out again from these, as `ocucb.theory` has them.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from ocucb.compiled import QUANTILE, Floats, Integers, address, kernel, reals
from ocucb.lab.fastest import play_where_fastest
from ocucb.lab.problem import Problem, linear_gaps, mixed_gaps, worst_case
from ocucb.lab.shard import Shard, play
from ocucb.lab.tape import arm_key, reward
from ocucb.noise import Gaussian, Noise
from ocucb.policies import OCUCBn, Policy
from ocucb.theory.index import index
from ocucb.theory.optimists import NEVER, boundary


@dataclass(frozen=True)
class RunSetting:
    """A problem with its arms sorted, best first, and the η and ρ of the index; the rounds of a run.

    shrink : the index has t in place of t log t.
    bad_luck : how far the rewards of the best arm lie below its mean, on average: a tape as unlikely as one likes, for
        what holds on every tape.
    """

    problem: Problem
    eta: float
    rho: float
    n: int
    shrink: bool = False
    bad_luck: float = 0.0

    def __str__(self) -> str:
        return f"{self.problem.name}, η = {self.eta:g}, ρ = {self.rho:g}, n = {self.n}"

    @property
    def played(self) -> Problem:
        """What gives the rewards: the problem, but for bad luck."""
        best, *others = self.problem.means
        return Problem((best - self.bad_luck, *others), self.problem.noise, self.problem.name)

    @property
    def policy(self) -> Policy:
        """The policy with this index."""
        return OCUCBn(self.eta, self.rho, "t" if self.shrink else "none")


@dataclass(frozen=True, eq=False)
class Run:
    """One run of a setting.

    choices : the arm of each round.
    tape : the average of the first s = 1, ..., n rewards of each arm, one row per arm, whether pulled so often or not.

    Rounds K + 1, ..., n have indices: `pulls`, `averages` and `indices` have a row for each of these, which shows the
    state before it.
    """

    setting: RunSetting
    choices: Integers
    tape: Floats

    @property
    def rounds(self) -> Integers:
        """The rounds t = K + 1, ..., n."""
        return np.arange(len(self.tape) + 1, len(self.choices) + 1)

    @property
    def total(self) -> Integers:
        """T_i(n)."""
        return np.bincount(self.choices, minlength=len(self.tape))

    @cached_property
    def pulls(self) -> Integers:
        """T_i(t-1)."""
        arms = len(self.tape)
        return np.asarray(np.cumsum(self.choices[:-1, np.newaxis] == np.arange(arms), axis=0)[arms - 1 :])

    @cached_property
    def averages(self) -> Floats:
        """The average reward of each arm after t - 1 rounds."""
        return np.asarray(self.tape[np.arange(len(self.tape)), self.pulls - 1])

    @cached_property
    def indices(self) -> Floats:
        """γ_i(t) by equation (1), or with t in place of t log t."""
        setting = self.setting
        return index(self.averages, self.pulls, self.rounds, setting.eta, setting.rho, shrink=setting.shrink)


def settings(n: int, shrink: bool = False) -> tuple[RunSetting, ...]:
    """Return problems of 3 to 100 arms, some with several best arms, with various η and ρ."""
    several = Problem((0.0, 0.0, 0.0, 0.0, -0.02, -0.2, -0.2, -0.5, -1.0), name="four best arms")
    return (
        RunSetting(worst_case(3, 0.1), 1.1, 0.5, n, shrink),
        RunSetting(worst_case(3, 1.0), 2.0, 1.0, n, shrink),
        RunSetting(worst_case(10, 0.3), 2.0, 0.5, n, shrink),
        RunSetting(mixed_gaps(), 1.1, 0.75, n, shrink),
        RunSetting(linear_gaps(10), 4.0, 1.0, n, shrink),
        RunSetting(several, 1.5, 0.5, n, shrink),
        RunSetting(several, 16.0, 0.75, n, shrink),
        RunSetting(linear_gaps(30), 1.1, 1.0, n, shrink),
        RunSetting(worst_case(100, 0.5), 4.0, 0.5, n, shrink),
    )


def unlucky_settings(n: int, shrink: bool = False) -> tuple[RunSetting, ...]:
    """Return problems whose best arm disappoints all along, so that others are pulled after they have settled."""
    near = Problem((0.0, -0.5, -3.0, -3.0, -3.0), name="one near arm, three far")
    return (
        RunSetting(worst_case(4, 1.0), 1.1, 0.5, n, shrink, 2.0),
        RunSetting(worst_case(8, 2.0), 2.0, 1.0, n, shrink, 5.0),
        RunSetting(near, 1.1, 0.5, n, shrink, 1.5),
        RunSetting(near, 1.5, 0.75, n, shrink, 2.0),
    )


def worst_runs(setting: RunSetting, policy: Policy, seed: int, played: int, kept: int) -> Iterator[Run]:
    """Play many runs, and give those of the largest regret with their tapes."""
    problem, n = setting.played, setting.n
    regret = play_where_fastest(Shard(problem, policy, n, (n,), seed, 0, played)).regret[:, 0]
    for run in np.argsort(-regret, kind="stable")[:kept].tolist():
        choices = play(Shard(problem, policy, n, (n,), seed, run, 1, trace=n)).choices[0]
        tapes = [arm_tape(arm, mean, n, seed, run, problem.noise) for arm, mean in enumerate(problem.means)]
        yield Run(setting, choices, np.array(tapes))


def arm_tape(arm: int, mean: float, length: int, seed: int, run: int, noise: Noise | None = None) -> Floats:
    """Return the average of the first s = 1, ..., length rewards of one arm."""
    quantile, parameters = _family(noise or Gaussian())
    averages = np.empty(length)
    _average(quantile, parameters.ctypes.data, seed, run, arm, mean, averages)
    return averages


def optimistic_prefixes(
    arms: int, length: int, eta: float, seed: int, runs: int, shared: bool = False, enough: bool = False
) -> Integers:
    """Return for how many of `length` samples each arm stays optimistic; one row per run.

    Membership in Φ depends on an arm's noise alone, so all arms have mean 0 here. Arms 0 and 1, never in Φ, are looked
    at like the others.

    shared : all arms of a run see the same noise.
    enough : look no further than the first optimist of a run, and leave 0 for the arms after it.
    """
    quantile, parameters = _family(Gaussian())
    samples = np.arange(1, length + 1)
    stays = np.zeros((runs, arms), dtype=np.int64)
    _stay(quantile, parameters.ctypes.data, seed, shared, enough, -boundary(samples, eta) * samples, stays)
    return stays


def optimism_times(setting: RunSetting, policy: Policy, thresholds: npt.ArrayLike, seed: int, runs: int) -> Integers:
    """Return the round after the last one in which no index reaches a threshold, or 1; one row per run.

    τ_Δ of the paper for the threshold μ_1 - Δ/2, as `ocucb.theory.stopping.optimism_time` has it, with n + 1 for "not
    within the run". With η = 0 the index is the mean.
    """
    problem, n = setting.problem, setting.n
    choices = play(Shard(problem, policy, n, (n,), seed, 0, runs, trace=n)).choices
    quantile, parameters = _family(problem.noise)
    levels = np.array(thresholds, dtype=np.float64)
    times = np.ones((runs, levels.size), dtype=np.int64)
    means, state = np.array(problem.means), np.empty((3, problem.arms))
    for run in range(runs):
        row = times[run]
        _prevail(
            quantile,
            parameters.ctypes.data,
            seed,
            run,
            means,
            setting.eta,
            setting.rho,
            setting.shrink,
            choices[run],
            state,
            levels,
            row,
        )
    return times


def _family(noise: Noise) -> tuple[int, Floats]:
    """Return the address of a family's quantile, and its parameters, to be kept alive while their address is used."""
    family = noise.family()
    return address(family.quantile, QUANTILE), np.array(family.parameters, dtype=np.float64)


@kernel
def _average(quantile: int, family: int, seed: int, run: int, arm: int, mean: float, averages: Floats) -> None:
    key = arm_key(seed, run, arm)
    total = 0.0
    for s in range(1, len(averages) + 1):
        total += reward(quantile, key, s, mean, reals(family))
        averages[s - 1] = total / s


@kernel
def _stay(quantile: int, family: int, seed: int, shared: bool, enough: bool, low: Floats, stays: Integers) -> None:
    for run in range(stays.shape[0]):
        for arm in range(stays.shape[1]):
            key = arm_key(seed, run, 0 if shared else arm)
            total = 0.0
            s = 0
            while s < len(low):
                total += reward(quantile, key, s + 1, 0.0, reals(family))
                if total < low[s]:
                    break
                s += 1
            stays[run, arm] = s
            if enough and arm >= NEVER and s == len(low):
                break


@kernel
def _prevail(
    quantile: int,
    family: int,
    seed: int,
    run: int,
    means: Floats,
    eta: float,
    rho: float,
    shrink: bool,
    choices: Integers,
    state: Floats,
    thresholds: Floats,
    times: Integers,
) -> None:
    """Follow one run; state has three rows: pulls, their power ρ, and sums of rewards."""
    arms = len(means)
    pulls, powers, sums = state[0], state[1], state[2]
    for arm in range(arms):
        pulls[arm] = 0.0
        sums[arm] = 0.0
    for t in range(1, len(choices) + 1):
        if t > arms:
            log = math.log(t)
            largest = -math.inf
            for i in range(arms):
                rest = pulls[i] ** (1.0 - rho)
                shared = 0.0
                for j in range(arms):
                    shared += min(pulls[i], powers[j] * rest)
                level = math.log(max(math.e, log, t / shared * (1.0 if shrink else log)))
                largest = max(largest, sums[i] / pulls[i] + math.sqrt(2.0 * eta * level / pulls[i]))
            for k in range(len(thresholds)):
                if largest < thresholds[k]:
                    times[k] = t + 1
        arm = choices[t - 1]
        pulls[arm] += 1.0
        powers[arm] = pulls[arm] ** rho
        sums[arm] += reward(quantile, arm_key(seed, run, arm), int(pulls[arm]), means[arm], reals(family))
