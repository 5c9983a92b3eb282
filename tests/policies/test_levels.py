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
    KLLUCB,
    KLUCB,
    MOSS,
    OCUCB,
    UCB,
    AdaUCB,
    BayesUCB,
    EpsilonGreedy,
    EpsilonThompson,
    ExpTS,
    ExpTSPlus,
    Greedy,
    KLUCBHPlus,
    KLUCBPlus,
    KLUCBPlusPlus,
    KLUCBSwitch,
    MaillardSampling,
    MOSSAnytime,
    OCUCBn,
    Policy,
    ThompsonSampling,
    TopTwo,
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
        (MOSSAnytime(), (100, 4, 9.0, 10), 2.35 * log(2.5)),
        (MOSSAnytime(alpha=0.0), (100, 4, 9.0, 10), log(2.5)),
        (MOSSAnytime(), (100, 11, 9.0, 10), 0.0),
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


def top(mean: float, pulls: float, level: float, family: Parameters) -> float:
    return mean + family[0] * math.sqrt(2.0 * level / pulls)


def scorer(policy: Policy, scale: float = 2.0) -> Callable[..., float]:
    """Return the compiled score as a function of (t, arms, pulls, mean, leads, best, best_pulls, coin, uniform)."""
    rule = policy.rule()
    assert rule.score is not None
    real, whole, reals = ctypes.c_double, ctypes.c_int64, ctypes.POINTER(ctypes.c_double)
    kind = ctypes.CFUNCTYPE(real, *[real] * 4, ctypes.c_bool, *[real] * 4, reals, whole, whole, whole, reals)
    call = kind(address(rule.score, SCORE))
    parameters = (real * len(rule.parameters))(*rule.parameters)
    family = (real * 1)(scale)
    divergence, upper, posterior = address(half_square, DIVERGENCE), address(top, BOUND), address(tail, BOUND)
    return lambda *state: float(call(*state, parameters, divergence, upper, posterior, family))


def test_thompson_sampling_asks_the_posterior_at_a_uniform_probability() -> None:
    # The posterior exceeds the draw with probability exp(-level), which must be the uniform.
    draw = scorer(ThompsonSampling())(50.0, 5.0, 4.0, 0.5, False, 0.7, 6.0, 0.9, 0.25)
    assert draw == pytest.approx(0.5 + 400 + 10 * log(4) + 2)


def test_imed_weighs_divergence_from_the_best_mean_and_pulls() -> None:
    score = scorer(IMED())
    assert score(50.0, 5.0, 4.0, 0.5, False, 0.7, 6.0, 0.9, 0.25) == pytest.approx(-(4 * 0.2**2 / 8 + log(4)))
    assert score(50.0, 5.0, 9.0, 0.7, False, 0.7, 6.0, 0.9, 0.25) == pytest.approx(-log(9))


def test_uniform_scores_by_lot() -> None:
    assert scorer(Uniform())(50.0, 5.0, 4.0, 0.5, False, 0.7, 6.0, 0.9, 0.25) == 0.25


def test_epsilon_greedy_goes_by_its_coin() -> None:
    score = scorer(EpsilonGreedy(0.1))
    assert score(50.0, 5.0, 4.0, 0.5, False, 0.7, 6.0, 0.09, 0.25) == 0.25
    assert score(50.0, 5.0, 4.0, 0.5, False, 0.7, 6.0, 0.1, 0.25) == 0.5
    assert scorer(EpsilonGreedy(0.0))(50.0, 5.0, 4.0, 0.5, False, 0.7, 6.0, 0.0, 0.25) == 0.5
    assert scorer(EpsilonGreedy(1.0))(50.0, 5.0, 4.0, 0.5, False, 0.7, 6.0, 1.0 - 2**-53, 0.25) == 0.25


def test_maillard_weighs_an_arm_by_the_evidence_against_it() -> None:
    gumbel = -log(-log(0.25))
    assert scorer(MaillardSampling())(50.0, 5.0, 4.0, 0.5, False, 0.7, 6.0, 0.9, 0.25) == pytest.approx(
        gumbel - 4 * 0.2**2 / 8
    )
    less = scorer(MaillardSampling(subtracted=1))
    assert less(50.0, 5.0, 4.0, 0.5, False, 0.7, 6.0, 0.9, 0.25) == pytest.approx(gumbel - 3 * 0.2**2 / 8)
    assert less(50.0, 5.0, 1.0, 0.5, False, 0.7, 6.0, 0.9, 0.25) == pytest.approx(gumbel)
    assert less(50.0, 5.0, 6.0, 0.7, True, 0.7, 6.0, 0.9, 0.25) == pytest.approx(gumbel)


def test_exp_ts_draws_by_the_divergence_on_either_side_of_the_mean() -> None:
    score = scorer(ExpTS())
    # P(θ > mean + x) = exp(-(T - 1) x²/8)/2 at scale 2, so at 1/8 x = 2 sqrt(2 log 4 / 3).
    step = 2 * sqrt(2 * log(4) / 3)
    assert score(50.0, 5.0, 4.0, 0.5, False, 0.7, 6.0, 0.9, 0.125) == pytest.approx(0.5 + step)
    assert score(50.0, 5.0, 4.0, 0.5, False, 0.7, 6.0, 0.9, 0.875) == pytest.approx(0.5 - step)
    assert score(50.0, 5.0, 1.0, 0.5, False, 0.7, 6.0, 0.9, 0.125) == 1e300
    assert score(50.0, 5.0, 1.0, 0.5, False, 0.7, 6.0, 0.9, 0.875) == -1e300


def test_exp_ts_plus_and_epsilon_thompson_draw_for_few_arms() -> None:
    score = scorer(ExpTSPlus())
    assert score(50.0, 5.0, 4.0, 0.5, False, 0.7, 6.0, 0.9, 0.2) == 0.5
    assert score(50.0, 5.0, 4.0, 0.5, False, 0.7, 6.0, 0.9, 0.025) == pytest.approx(0.5 + 2 * sqrt(2 * log(4) / 3))
    score = scorer(EpsilonThompson())
    assert score(50.0, 5.0, 4.0, 0.5, False, 0.7, 6.0, 0.9, 0.2) == 0.5
    assert score(50.0, 5.0, 4.0, 0.5, False, 0.7, 6.0, 0.9, 0.05) == pytest.approx(0.5 + 400 + 10 * log(4) + 2)
    score = scorer(EpsilonThompson(0.4))
    assert score(50.0, 5.0, 4.0, 0.5, False, 0.7, 6.0, 0.9, 0.1) == pytest.approx(0.5 + 400 + 10 * log(4) + 2)


def test_top_two_takes_leader_or_challenger_by_its_coin() -> None:
    score = scorer(TopTwo(0.3))
    assert score(50.0, 5.0, 6.0, 0.7, True, 0.7, 6.0, 0.29, 0.25) == 1.0
    assert score(50.0, 5.0, 6.0, 0.7, True, 0.7, 6.0, 0.3, 0.25) < -1e308
    # Pooled mean (6 · 0.7 + 4 · 0.5)/10 = 0.62; scale 2: (6 · 0.08² + 4 · 0.12²)/8.
    challenger = -((6 * 0.08**2 + 4 * 0.12**2) / 8 + log(4))
    for coin in (0.1, 0.9):
        assert score(50.0, 5.0, 4.0, 0.5, False, 0.7, 6.0, coin, 0.25) == pytest.approx(challenger)
    assert score(50.0, 5.0, 4.0, 0.7, False, 0.7, 6.0, 0.9, 0.25) == pytest.approx(-log(4))


def test_kl_lucb_takes_turns() -> None:
    score = scorer(KLLUCB(delta=0.1, alpha=1.1))
    assert score(51.0, 5.0, 6.0, 0.7, True, 0.7, 6.0, 0.9, 0.25) > 1e308
    assert score(50.0, 5.0, 6.0, 0.7, True, 0.7, 6.0, 0.9, 0.25) < -1e308
    level = log(405.44756 * 5 * 50**1.1 / 0.1)  # the paper rounds 405.45 up to 405.5
    assert score(50.0, 5.0, 4.0, 0.5, False, 0.7, 6.0, 0.9, 0.25) == pytest.approx(
        0.5 + 2 * math.sqrt(level / 2), rel=1e-6
    )
