"""Exact regret: against all that can happen, played out by the oracle; and the simulator against it."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

import reference
from ocucb import IMED, KLUCB, MOSS, UCB, Bernoulli, EpsilonGreedy, Greedy, OCUCBn, Policy, ThompsonSampling
from ocucb.errors import ParameterError
from ocucb.lab import Problem, exact_regret
from ocucb.lab.shard import Shard, play
from side_by_side import named

POLICIES = [OCUCBn(), OCUCBn(rho=1.0, shrink="t"), UCB(), KLUCB(), MOSS(60), IMED(), Greedy()]
FALSE_ALARM = 1e-6  # of all comparisons with the simulator together


def by_enumeration(problem: Problem, policy: Policy, horizon: int) -> float:
    """Return the mean regret over all tapes of 0 and 1, each with its probability, as the oracle plays them."""
    name, parameters = named(policy)
    total = 0.0
    tapes = itertools.product((0.0, 1.0), repeat=problem.arms * horizon)
    for flat in tapes:
        tape = [flat[arm * horizon : (arm + 1) * horizon] for arm in range(problem.arms)]
        weight = math.prod(
            mean if reward else 1.0 - mean for mean, row in zip(problem.means, tape, strict=True) for reward in row
        )
        choices = reference.play(name, parameters, "bernoulli", {}, tape, horizon)
        total += weight * sum(problem.gaps[arm] for arm in choices)
    return total


@pytest.mark.parametrize("policy", POLICIES, ids=str)
def test_it_is_the_sum_over_all_that_can_happen(policy: Policy) -> None:
    problem = Problem((0.3, 0.8), Bernoulli())
    assert exact_regret(problem, policy, 5)[-1] == pytest.approx(by_enumeration(problem, policy, 5), rel=1e-12)


def test_with_three_arms_too() -> None:
    problem = Problem((0.3, 0.9, 0.5), Bernoulli())
    exact = exact_regret(problem, OCUCBn(), 4)
    assert exact[-1] == pytest.approx(by_enumeration(problem, OCUCBn(), 4), rel=1e-12)


@pytest.mark.parametrize("policy", POLICIES, ids=str)
@pytest.mark.parametrize("means", [(0.5, 0.4), (0.05, 0.2), (0.9, 0.85, 0.7)])
def test_the_simulator_agrees(policy: Policy, means: tuple[float, ...]) -> None:
    problem, horizon, runs = Problem(means, Bernoulli()), 60 if len(means) == 2 else 20, 20_000
    checkpoints = (horizon // 2, horizon)
    regret = play(Shard(problem, policy, horizon, checkpoints, seed=5, first=0, runs=runs)).regret
    exact = exact_regret(problem, policy, horizon)[np.array(checkpoints) - 1]
    # Regret lies between 0 and n Δ_max, so Bernstein's inequality needs no normal approximation.
    log, most = math.log(2 * 2 * 21 / FALSE_ALARM), horizon * max(problem.gaps)
    error = np.sqrt(2.0 * regret.var(axis=0, ddof=1) * log / runs) + 7.0 * most * log / (3.0 * (runs - 1))
    assert (np.abs(regret.mean(axis=0) - exact) <= error).all()


def test_two_hundred_rounds_of_two_arms() -> None:
    """Known by hand: with one mean 1 and the other 0, greedy play errs in the round that tries the other."""
    regret = exact_regret(Problem((0.0, 1.0), Bernoulli()), Greedy(), 200)
    assert regret[-1] == 1.0
    rising = exact_regret(Problem((0.5, 0.4), Bernoulli()), OCUCBn(), 100)
    assert (np.diff(rising) >= 0.0).all()
    assert rising[0] == 0.0


@pytest.mark.parametrize(
    ("problem", "policy", "horizon", "message"),
    [
        (Problem((0.0, 1.0)), OCUCBn(), 10, "two or three Bernoulli arms, got 2 of Gaussian"),
        (Problem((0.1, 0.2, 0.3, 0.4), Bernoulli()), OCUCBn(), 10, "two or three Bernoulli arms, got 4"),
        (Problem((0.1, 0.2), Bernoulli()), ThompsonSampling(), 10, "leaves nothing to chance"),
        (Problem((0.1, 0.2), Bernoulli()), EpsilonGreedy(0.1), 10, "leaves nothing to chance"),
        (Problem((0.1, 0.2), Bernoulli()), MOSS(9), 10, "at most that of MOSS"),
        (Problem((0.1, 0.2, 0.3), Bernoulli()), OCUCBn(), 300, "must leave at most 100,000,000,000 states"),
        (Problem((0.1, 0.2), Bernoulli()), OCUCBn(), 0, "horizon"),
    ],
)
def test_bad_input_is_one_line(problem: Problem, policy: Policy, horizon: int, message: str) -> None:
    with pytest.raises(ParameterError, match=message) as caught:
        exact_regret(problem, policy, horizon)
    assert "\n" not in str(caught.value)
