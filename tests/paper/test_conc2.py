"""Weighted walks against what is known exactly, and against plain walks."""

from __future__ import annotations

import math

import numpy as np
import pytest

from ocucb.paper.conc2.grid import GridPoint, sandwich
from ocucb.paper.conc2.walks import WalkSetting, horizon, left_out, measure
from ocucb.paper.evidence import mean_interval, proportion
from ocucb.theory.confidence import alpha_mean_floor, alpha_tail_floor, confidence_alpha, confidence_beta

INF = math.inf
SETTINGS = [WalkSetting(1.0, [INF]), WalkSetting(0.5, [1.0]), WalkSetting(0.5, [1.0, 9.0, INF])]


def test_a_single_sample_is_known_exactly() -> None:
    """Δ = 7 leaves one sample, below -7 once in 10^12: plain walks would show nothing."""
    gap, eta = 7.0, 1.2
    assert horizon(gap) == 1
    levels = [[len(caps) * 1.5, len(caps) * 30.0] for _, caps in SETTINGS]
    walks = measure(3, gap, eta, SETTINGS, 20_000, levels)
    for c, (rho, caps) in enumerate(SETTINGS):
        low, _, high = mean_interval(walks.alpha[:, c])
        assert low <= alpha_mean_floor(gap, eta, rho, caps, 1) <= high
        for i, exact in enumerate(alpha_tail_floor(levels[c], gap, eta, rho, caps, 1)):
            low, _, high = mean_interval(walks.reached[:, c, i])
            assert low <= exact <= high


@pytest.mark.parametrize("eta", [1.2, 2.0])
def test_tilted_and_plain_walks_agree(eta: float) -> None:
    """P(α ≥ y) from 20,000 plain walks; each interval errs with 1e-4 at either end."""
    gap, runs = 0.5, 20_000
    steps = np.random.default_rng(5).normal(size=(runs, horizon(gap)))
    plain = np.cumsum(steps, axis=1) / np.arange(1, steps.shape[1] + 1)
    levels = [[1.0, 2.0, 5.0, 20.0]] * len(SETTINGS)
    walks = measure(11, gap, eta, SETTINGS, runs, levels)
    for c, (rho, caps) in enumerate(SETTINGS):
        alpha = confidence_alpha(plain, gap, eta, rho, caps)
        for i, level in enumerate(levels[c]):
            one, two = mean_interval(walks.reached[:, c, i]), proportion(int((alpha >= level).sum()), runs)
            assert one.low <= two.high
            assert two.low <= one.high
        # Plain averages lack what rare walks add, but no more than that.
        assert mean_interval(np.minimum(alpha, 100.0)).low <= mean_interval(walks.alpha[:, c]).high
        assert mean_interval(np.minimum(confidence_beta(alpha), 100.0)).low <= mean_interval(walks.beta[:, c]).high


def test_mean_beta_of_light_tails_agrees_with_plain_walks() -> None:
    """At η = 6 α has a variance, so that plain averages are good."""
    gap, eta, runs = 0.5, 6.0, 20_000
    steps = np.random.default_rng(6).normal(size=(runs, horizon(gap)))
    plain = np.cumsum(steps, axis=1) / np.arange(1, steps.shape[1] + 1)
    walks = measure(12, gap, eta, SETTINGS, runs)
    for c, (rho, caps) in enumerate(SETTINGS):
        alpha = confidence_alpha(plain, gap, eta, rho, caps)
        for weighted, direct in ((walks.alpha[:, c], alpha), (walks.beta[:, c], confidence_beta(alpha))):
            one, two = mean_interval(weighted), mean_interval(direct)
            assert one.low <= two.high
            assert two.low <= one.high


@pytest.mark.parametrize("eta", [1.05, 1.5, 3.0])
@pytest.mark.parametrize("cap", [1.0, 30.0, INF])
def test_measured_means_lie_between_their_bounds(eta: float, cap: float) -> None:
    gap, rho = 0.4, 0.5
    walks = measure(1, gap, eta, [WalkSetting(rho, [cap])], 4000)
    for part in ("alpha", "beta"):
        floor, bound = sandwich(part, GridPoint(gap, eta, rho, cap))
        low, _, high = mean_interval(gap * (walks.alpha if part == "alpha" else walks.beta)[:, 0])
        assert floor <= high
        assert low <= bound


def test_little_is_left_out_beyond_the_horizon() -> None:
    for gap in (1.0, 0.1, 0.01):
        for eta in (1.02, 1.2, 2.0, 5.0):
            for rho, caps in SETTINGS:
                assert left_out(gap, eta, rho, caps) < 1e-5 * len(caps) / gap**2


def test_samples_are_bounded_where_those_of_alpha_are_not() -> None:
    walks = measure(0, 0.3, 1.05, SETTINGS, 4000)
    assert (walks.alpha.max(axis=0) < 10.0 * walks.alpha.mean(axis=0)).all()


def test_walks_depend_on_their_seed_only() -> None:
    one, again, other = (measure(seed, 0.5, 1.5, SETTINGS, 50) for seed in (1, 1, 2))
    np.testing.assert_array_equal(one.alpha, again.alpha)
    assert (one.alpha != other.alpha).any()
