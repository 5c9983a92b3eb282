"""Each formula against values worked out by hand."""

from __future__ import annotations

import ctypes
import math
import warnings
from collections.abc import Callable

import numpy as np
import pytest

from ocucb.compiled import BOUND, DIVERGENCE, SCORE, Parameters, address
from ocucb.errors import GuaranteeWarning
from ocucb.policies import (
    IMED,
    KLUCB,
    MOSS,
    OCUCB,
    UCB,
    AdaUCB,
    BayesUCB,
    EpsilonGreedy,
    Greedy,
    KLUCBHPlus,
    KLUCBPlus,
    KLUCBPlusPlus,
    KLUCBSwitch,
    OCUCBn,
    Policy,
    ThompsonSampling,
    Uniform,
)

log, sqrt, e = math.log, math.sqrt, math.e

with warnings.catch_warnings():
    warnings.simplefilter("ignore", GuaranteeWarning)
    # policy, (t, pulls, effective, arms), level
    CASES: list[tuple[Policy, tuple[float, float, float, float], float]] = [
        # 100 log 100 / (4 * 2) = 57.56 is the largest of the three
        (OCUCBn(), (100, 4, 2.0, 3), 1.1 * log(100 * log(100) / 8)),
        (OCUCBn(eta=2.0), (100, 4, 2.0, 3), 2 * log(100 * log(100) / 8)),
        (OCUCBn(), (10, 9, 2.0, 2), 1.1),  # 10 log 10 / 18 = 1.28 and log 10 = 2.30 are both below e
        (OCUCBn(), (1000, 900, 9.0, 10), 1.1 * log(log(1000))),  # 0.85 < e < log 1000 = 6.91
        (OCUCBn(), (2, 1, 1.0, 1), 1.1),
        (OCUCBn(shrink="t", rho=0.75), (100, 4, 2.0, 3), 1.1 * log(12.5)),
        (OCUCBn(shrink="t", rho=0.75), (1000, 900, 9.0, 10), 1.1 * log(log(1000))),
        (OCUCBn(shrink="t", rho=0.75), (10, 9, 1.0, 2), 1.1),
        (OCUCBn(shrink="log-plus"), (100, 4, 2.0, 3), 1.1 * log(12.5 * log(12.5))),
        (OCUCBn(shrink="log-plus"), (100, 40, 2.0, 3), 1.1),  # x = 1.25, log₊ x = 1, so e is the largest
        (OCUCBn(shrink="log-plus"), (1000, 900, 9.0, 10), 1.1),
        (OCUCBn(shrink="all"), (100, 4, 2.0, 3), 1.1 * log(12.5)),
        (OCUCBn(shrink="all"), (100, 60, 2.0, 3), 0.0),
        # eta_t = 1 + 3 log log 100 / log 100 = 1 + 3 * 1.5272 / 4.6052 = 1.9949
        (OCUCBn(eta="annealed"), (100, 4, 2.0, 3), (1 + 3 * log(log(100)) / log(100)) * log(100 * log(100) / 8)),
        (OCUCBn(eta="annealed"), (5, 1, 1.0, 2), (1 + 3 / e) * log(5 * log(5))),  # before e^e = 15.15
        (KLUCBPlus(), (100, 4, 9.0, 9), 1.1 * log(25)),
        (KLUCBPlus(eta=2.0), (8, 7, 1.0, 1), 2 * log(8 / 7)),
        (KLUCBPlus(), (3, 5, 1.0, 2), 0.0),
        (KLUCB(), (100, 4, 9.0, 9), log(100)),
        (KLUCB(c=3.0), (100, 4, 9.0, 9), log(100) + 3 * log(log(100))),
        (KLUCB(c=3.0), (2, 1, 1.0, 2), 0.0),  # 0.69 - 3 * 0.37 is negative
        (UCB(), (100, 4, 9.0, 9), log(100)),
        (UCB(alpha=8.0), (100, 4, 9.0, 9), 4 * log(100)),
        (UCB(alpha="asymptotic"), (100, 4, 9.0, 9), log(1 + 100 * log(100) ** 2)),
        (OCUCB(400), (100, 4, 9.0, 9), 1.5 * log(8)),
        (OCUCB(400, alpha=4.0, psi=3.0), (400, 4, 9.0, 9), 2 * log(3)),
        (OCUCB(400), (1000, 4, 9.0, 9), 0.0),  # past the horizon, where the formula is negative
        (MOSS(400), (100, 4, 9.0, 10), 2 * log(10)),
        (MOSS(400, c=2.0), (100, 4, 9.0, 10), log(10)),
        (MOSS(400), (100, 41, 9.0, 10), 0.0),
        (KLUCBHPlus(400), (100, 4, 9.0, 10), log(100)),
        (KLUCBHPlus(400), (100, 400, 9.0, 10), 0.0),
        (KLUCBPlusPlus(400), (100, 4, 9.0, 10), log(10 * (1 + log(10) ** 2))),
        (KLUCBPlusPlus(400), (100, 80, 9.0, 10), 0.0),  # y = 1/2
        # n/K = 32 = 2^5, so arms with at most 2 pulls keep the KL bound
        (KLUCBSwitch(320), (100, 1, 9.0, 10), log(32)),
        (KLUCBSwitch(320), (100, 2, 9.0, 10), log(16)),
        (KLUCBSwitch(320), (100, 3, 9.0, 10), -log(32 / 3)),
        (KLUCBSwitch(319), (100, 2, 9.0, 10), -log(15.95)),
        (KLUCBSwitch(2430), (100, 3, 9.0, 10), log(81)),  # n/K = 243 = 3^5
        (KLUCBSwitch(320), (100, 33, 9.0, 10), 0.0),
        (AdaUCB(400), (100, 4, 2.0, 10), log((50 + e) * sqrt(log(50 + e)))),
        (AdaUCB(), (100, 4, 2.0, 10), log((12.5 + e) * sqrt(log(12.5 + e)))),
        (BayesUCB(), (100, 4, 9.0, 9), log(100)),
        (BayesUCB(400), (100, 4, 9.0, 9), log(100)),
        (BayesUCB(400, c=5.0), (100, 4, 9.0, 9), log(100) + 5 * log(log(400))),
        (BayesUCB(2, c=5.0), (2, 1, 1.0, 1), log(2)),  # log log 2 is negative, so held at 0
        (Greedy(), (100, 4, 9.0, 9), 0.0),
    ]


@pytest.mark.parametrize(("policy", "state", "expected"), CASES, ids=str)
def test_level(policy: Policy, state: tuple[float, float, float, float], expected: float) -> None:
    rule = policy.rule()
    assert rule.level is not None
    t, pulls, effective, arms = map(float, state)
    parameters = np.array(rule.parameters, dtype=np.float64)
    assert rule.level(t, pulls, effective, arms, parameters) == pytest.approx(expected, rel=1e-14, abs=1e-14)


def test_the_bounds_that_levels_go_into() -> None:
    assert BayesUCB().rule().bound == "posterior"
    assert KLUCBSwitch(100).rule().bound == "switch"
    assert UCB().rule().bound == "divergence"


def test_effective_arms_are_asked_for() -> None:
    assert OCUCBn(rho=0.75).rule().rho == 0.75
    assert AdaUCB().rule().rho == 0.5
    assert AdaUCB(100).rule().rho == 0.5
    assert KLUCBPlus().rule().rho is None


def half_square(p: float, q: float, family: Parameters) -> float:
    return (q - p) ** 2 / (2.0 * family[0] ** 2)


def tail(mean: float, pulls: float, level: float, family: Parameters) -> float:
    return mean + 100.0 * pulls + 10.0 * level + family[0]


def scorer(policy: Policy, scale: float = 2.0) -> Callable[..., float]:
    """Return the compiled score as a function of (t, pulls, mean, best, coin, uniform)."""
    rule = policy.rule()
    assert rule.score is not None
    real, whole, reals = ctypes.c_double, ctypes.c_int64, ctypes.POINTER(ctypes.c_double)
    kind = ctypes.CFUNCTYPE(real, *[real] * 6, reals, whole, whole, reals)
    call = kind(address(rule.score, SCORE))
    parameters = (real * len(rule.parameters))(*rule.parameters)
    family = (real * 1)(scale)
    divergence, posterior = address(half_square, DIVERGENCE), address(tail, BOUND)
    return lambda *state: float(call(*state, parameters, divergence, posterior, family))


def test_thompson_sampling_asks_the_posterior_at_a_uniform_probability() -> None:
    # The posterior exceeds the draw with probability exp(-level), which must be the uniform.
    draw = scorer(ThompsonSampling())(50.0, 4.0, 0.5, 0.7, 0.9, 0.25)
    assert draw == pytest.approx(0.5 + 400 + 10 * log(4) + 2)


def test_imed_weighs_divergence_from_the_best_mean_and_pulls() -> None:
    score = scorer(IMED())
    assert score(50.0, 4.0, 0.5, 0.7, 0.9, 0.25) == pytest.approx(-(4 * 0.2**2 / 8 + log(4)))
    assert score(50.0, 9.0, 0.7, 0.7, 0.9, 0.25) == pytest.approx(-log(9))


def test_uniform_scores_by_lot() -> None:
    assert scorer(Uniform())(50.0, 4.0, 0.5, 0.7, 0.9, 0.25) == 0.25


def test_epsilon_greedy_goes_by_its_coin() -> None:
    score = scorer(EpsilonGreedy(0.1))
    assert score(50.0, 4.0, 0.5, 0.7, 0.09, 0.25) == 0.25
    assert score(50.0, 4.0, 0.5, 0.7, 0.1, 0.25) == 0.5
    assert scorer(EpsilonGreedy(0.0))(50.0, 4.0, 0.5, 0.7, 0.0, 0.25) == 0.5
    assert scorer(EpsilonGreedy(1.0))(50.0, 4.0, 0.5, 0.7, 1.0 - 2**-53, 0.25) == 0.25
