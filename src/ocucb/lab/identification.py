"""Identification: how many rounds a policy needs until it is certain which arm is best, and how often that is wrong.

With fixed confidence, a run ends with the first verdict. It is asked for whenever the rounds have grown by 2 %;
verdicts stay right however often one asks (`confidence_sequences.py`). With a fixed number of rounds, a run ends
there, and its verdict is the arm of the largest mean.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

import numpy as np

from ocucb.checks import real, whole
from ocucb.compiled import Floats
from ocucb.errors import ParameterError
from ocucb.lab.environment import EnvironmentMemory
from ocucb.lab.episode import go_on, start
from ocucb.lab.fleet import Fleet
from ocucb.lab.problem import Problem
from ocucb.lab.problem_spec import write_problem
from ocucb.lab.remembering import Remembering
from ocucb.lab.spec import describe_noise, describe_policy
from ocucb.lab.statistics import interval, share_with_interval
from ocucb.policies import Policy
from ocucb.selection import Selector
from ocucb.theory.identification import characteristic_time
from ocucb.verdict import Comparison

GROWTH = 1.02  # of the rounds, between two questions
Cell: TypeAlias = tuple[int, int]  # which policy, which run

NO_CHOICES = np.empty(0, np.int64)


class Identified(NamedTuple):
    """What came of one run: the rounds played, the arm of the verdict or -1, and its gap to the best; nan if none."""

    rounds: int
    arm: int
    gap: float


@dataclass(frozen=True)
class Identification:
    """Policies on a problem, each until it is certain which arm is best, or for a number of rounds.

    Parameters
    ----------
    problem : with fixed means, and one best arm.
    policies : pairs of a label and a policy.
    delta : probability of a wrong verdict, between 0 and 1; or else
    rounds : after how many rounds the arm of the largest mean is the verdict.
    runs : of each policy.
    seed : of the reward tape.
    max_rounds : where a run without a verdict ends.
    """

    problem: Problem
    policies: tuple[tuple[str, Policy], ...]
    delta: float | None = None
    rounds: int | None = None
    runs: int = 100
    seed: int = 0
    max_rounds: int = 1_000_000

    def __post_init__(self) -> None:
        if (self.delta is None) == (self.rounds is None):
            got = "neither" if self.delta is None else "both"
            raise ParameterError(f"one of delta and rounds must be given, got {got}; use delta=0.05")
        if self.delta is not None and not 0.0 < real("delta", self.delta, "use delta=0.05") < 1.0:
            raise ParameterError(f"delta must be between 0 and 1, and neither, got {self.delta:g}; use delta=0.05")
        whole("runs", self.runs, 2, "an error bar needs two runs")
        whole("max_rounds", self.max_rounds, self.problem.arms, "every arm is played once")
        if self.rounds is not None:
            whole("rounds", self.rounds, self.problem.arms, "every arm is played once")
        if not self.problem.fixed:
            raise ParameterError(
                f"identification needs fixed means, got {self.problem.name}, where {self.problem.notes()[0]}"
            )
        characteristic_time(self.problem.means, self.problem.assumed_noise)
        if self.problem.assumed_noise.evidence() is None:
            raise ParameterError(
                f"identification needs a noise with confidence sequences, got {self.problem.assumed_noise}"
            )
        for label, policy in self.policies:
            if isinstance(policy, Fleet | Remembering):
                raise ParameterError(
                    f"identification needs one node that remembers everything, got {label}; use {policy.policy}"
                )
            limit = policy.rule().horizon
            if limit is not None and limit < self.horizon:
                raise ParameterError(f"{label} must play {self.horizon} rounds, but it was made for {limit}")

    @property
    def horizon(self) -> int:
        """The most rounds of a run."""
        return self.max_rounds if self.rounds is None else self.rounds

    def describe(self) -> str:
        """Return as text all on which the outcome of a run hangs: problem, policies, where a run ends, seed."""
        settings = {
            "problem": write_problem(self.problem, describe_noise),
            "policies": {label: describe_policy(policy) for label, policy in self.policies},
            "delta": self.delta,
            "rounds": self.rounds,
            "max_rounds": self.max_rounds,
            "seed": self.seed,
        }
        return json.dumps(settings, indent=2, ensure_ascii=False)

    def least_rounds(self) -> float:
        """Return T*(μ) log(1/δ); nan for a fixed number of rounds."""
        if self.delta is None:
            return math.nan
        time = characteristic_time(self.problem.means, self.problem.assumed_noise).time
        return time * math.log(1.0 / self.delta)


class IdentificationRow(NamedTuple):
    """A policy: runs with and without a verdict, mean rounds, wrong verdicts, their share, simple regret.

    Intervals are at 95 %. Rounds, errors and simple regret are of the runs with a verdict.
    """

    policy: str
    runs: int
    undecided: int
    rounds: float
    rounds_low: float
    rounds_high: float
    to_least: float
    wrong: int
    error: float
    error_low: float
    error_high: float
    simple_regret: float
    simple_regret_low: float
    simple_regret_high: float


def identify_once(experiment: Identification, policy: int, run: int) -> Identified:
    """Play one run of a policy. A pure function, for any executor."""
    problem, noise = experiment.problem, experiment.problem.assumed_noise
    selector = Selector(experiment.policies[policy][1].rule(), noise.family(), 0, problem.arms, changing=False)
    environment = EnvironmentMemory(problem, experiment.horizon, problem.means_of_runs(experiment.seed, run, 1))
    start(selector.address, environment.address, experiment.seed, run)
    t, arm = 0, -1
    while arm < 0 and t < experiment.horizon:
        end = experiment.horizon if experiment.delta is None else max(problem.arms, math.ceil(t * GROWTH), t + 1)
        end = min(end, experiment.horizon)
        go_on(selector.address, environment.address, experiment.seed, run, t, end, NO_CHOICES)
        t = end
        means, counts = selector.arms["mean"].copy(), selector.arms["learned"].astype(float)
        if experiment.delta is not None:
            arm = _verdict(experiment, means, counts, experiment.delta)
        elif counts.any():
            arm = int(np.argmax(np.where(counts > 0, means, -np.inf)))
    return Identified(t, arm, problem.gaps[arm] if arm >= 0 else math.nan)


def _verdict(experiment: Identification, means: Floats, counts: Floats, delta: float) -> int:
    """Return the arm that is certainly the best, or -1."""
    playing = np.ones(len(means), dtype=bool)
    beaten = Comparison(experiment.problem.assumed_noise, means, counts, playing, len(means), delta).beaten()
    left = np.flatnonzero(~beaten)
    return int(left[0]) if len(left) == 1 else -1


def summarize_identification(
    experiment: Identification, found: Mapping[str, Sequence[Identified]]
) -> list[IdentificationRow]:
    """Return a row for each policy."""
    rows = []
    for label, runs in found.items():
        decided = [run for run in runs if run.arm >= 0]
        rounds = interval(np.array([float(run.rounds) for run in decided]))
        simple = interval(np.array([run.gap for run in decided]))
        error = share_with_interval(sum(run.gap > 0.0 for run in decided), len(decided))
        rows.append(
            IdentificationRow(
                label,
                len(runs),
                len(runs) - len(decided),
                float(rounds.mean),
                float(rounds.low),
                float(rounds.high),
                float(rounds.mean) / experiment.least_rounds(),
                sum(run.gap > 0.0 for run in decided),
                float(error.mean),
                float(error.low),
                float(error.high),
                float(simple.mean),
                float(simple.low),
                float(simple.high),
            )
        )
    return rows
