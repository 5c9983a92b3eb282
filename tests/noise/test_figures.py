"""Figures of a family: intervals that hold the mean as often as they say, standard deviations, subgaussian scales."""

from __future__ import annotations

import math
import random

import numpy as np
import pytest

from ocucb.noise import NOISES, Bernoulli, Bounded, Exponential, Family, Gaussian, Noise, Poisson

RUNS = 4000


@pytest.mark.parametrize(
    ("noise", "mean", "count", "share"),
    [
        (Gaussian(2.0), 1.0, 3, 0.95),
        (Bernoulli(), 0.3, 40, 0.95),
        (Bernoulli(), 0.02, 200, 0.95),
        (Bounded(-1.0, 3.0), 0.5, 10, 1.0),
        (Poisson(), 2.0, 15, 0.95),
        (Exponential(), 2.0, 30, 0.95),
    ],
)
def test_intervals_hold_the_mean_as_often_as_they_say(noise: Noise, mean: float, count: int, share: float) -> None:
    """Within three points of what they say, or above it for Hoeffding: the rate is off by at most 1.5 of its errors."""
    uniform = np.random.default_rng(1).random((RUNS, count))
    rewards = np.vectorize(lambda u: noise.quantile(mean, u))(uniform)
    low, high = noise.interval(rewards.mean(axis=1), np.full(RUNS, float(count)))
    inside = float(np.mean((low <= mean) & (mean <= high)))
    assert inside == pytest.approx(share, abs=0.03)


def test_intervals_of_few_rewards_stay_within_what_is_possible() -> None:
    for name, kind in NOISES.items():
        noise = kind() if name != "bounded" else Bounded(-1.0, 1.0)
        least, most = noise.support()
        means = np.array([math.nan, 0.0, 1.0, 1.0])
        low, high = noise.interval(means, np.array([0.0, 1.0, 1.0, 1e6]))
        assert math.isnan(low[0])
        assert math.isnan(high[0])
        assert (low[1:] <= means[1:] + 1e-9).all()
        assert (high[1:] >= means[1:] - 1e-9).all()
        assert (low[1:] >= least).all()
        assert (high[1:] <= most).all()


def test_intervals_by_hand() -> None:
    counts = np.array([4.0, 0.0])
    low, high = Gaussian(2.0).interval(np.array([1.0, math.nan]), counts)
    assert low.round(3).tolist() == pytest.approx([-0.96, math.nan], nan_ok=True)
    assert high.round(3).tolist() == pytest.approx([2.96, math.nan], nan_ok=True)


@pytest.mark.parametrize(
    ("noise", "mean", "count", "expected"),
    [
        # z = 1.959964; Wilson: (p + z²/2n ± z sqrt(p(1-p)/n + z²/4n²)) / (1 + z²/n)
        (Bernoulli(), 0.3, 20.0, (0.145477, 0.518973)),
        (Bernoulli(), 0.0, 10.0, (0.0, 0.277533)),
        # the score interval: m + z²/2n ± z sqrt(m/n + z²/4n²)
        (Poisson(), 2.0, 8.0, (1.231127, 3.249055)),
        # Hoeffding: half a width of 4 sqrt(log(40)/2n)
        (Bounded(-1.0, 3.0), 1.0, 50.0, (0.231742, 1.768258)),
    ],
)
def test_interval_ends_by_hand(noise: Noise, mean: float, count: float, expected: tuple[float, float]) -> None:
    low, high = noise.interval(np.array([mean]), np.array([count]))
    assert (float(low[0]), float(high[0])) == pytest.approx(expected, abs=2e-6)


class Plain(Noise):
    """A family that says no more than it must."""

    def family(self) -> Family:
        return Gaussian().family()

    def standard_deviation(self, mean: float) -> float:
        return 2.0 * mean


def test_a_family_that_says_nothing_of_intervals_has_some() -> None:
    low, high = Plain().interval(np.array([1.0, 3.0]), np.array([16.0, 4.0]))
    np.testing.assert_allclose(low, [1.0 - 0.98, 3.0 - 5.88], atol=1e-3)
    np.testing.assert_allclose(high, [1.0 + 0.98, 3.0 + 5.88], atol=1e-3)
    assert Plain().interval_method == "mean ± 1.96 standard deviations/√n"
    assert Plain().subgaussian_scale() is None
    assert Plain().gaussian_scale() is None


def test_subgaussian_scale() -> None:
    assert Gaussian(0.3).subgaussian_scale() == 0.3
    assert Bernoulli().subgaussian_scale() == 0.5
    assert Bounded(-1.0, 3.0).subgaussian_scale() == 2.0
    assert Poisson().subgaussian_scale() is None
    assert Exponential().subgaussian_scale() is None


def test_gaussian_scale() -> None:
    assert Gaussian(0.3).gaussian_scale() == 0.3
    assert [kind().gaussian_scale() for kind in NOISES.values() if kind is not Gaussian] == [None] * (len(NOISES) - 1)


@pytest.mark.parametrize(
    ("noise", "mean"),
    [(Gaussian(0.5), 3.0), (Bernoulli(), 0.2), (Bounded(-1.0, 3.0), 2.0), (Poisson(), 4.0), (Exponential(), 1.5)],
)
def test_standard_deviations_and_means_are_those_of_the_rewards(noise: Noise, mean: float) -> None:
    """20,000 rewards of a fixed seed. Their standard deviation is off by 1 % of itself, or 2 % for waiting times."""
    luck = random.Random(4)
    rewards = np.array([noise.sample(mean, luck) for _ in range(20_000)])
    assert rewards.std() == pytest.approx(noise.standard_deviation(mean), rel=0.05)
    assert rewards.mean() == pytest.approx(mean, abs=5.0 * noise.standard_deviation(mean) / math.sqrt(20_000))


def test_the_smallest_uniform_number_still_gives_a_reward() -> None:
    class Zero:
        def random(self) -> float:
            return 0.0

    assert all(math.isfinite(kind().sample(0.5, Zero())) for kind in NOISES.values())


@pytest.mark.parametrize("kind", NOISES.values())
def test_every_family_has_words_for_people(kind: type[Noise]) -> None:
    assert kind.summary
    assert kind.interval_method
    assert "\n" not in kind.summary + kind.interval_method
