"""The characteristic time against closed forms and against a search that knows nothing of its structure."""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np
import pytest

from ocucb import Bernoulli, Exponential, Gaussian, Noise, ParameterError, Poisson
from ocucb.theory import characteristic_time

optimize: Any = importlib.import_module("scipy.optimize")  # untyped


def searched(means: list[float], noise: Noise) -> float:
    """1/max_w min_a w_1 d(μ_1, m) + w_a d(μ_a, m), by a search over the shares' logarithms."""
    best = int(np.argmax(means))

    def negative(logs: Any) -> float:
        shares = np.exp(logs - np.max(logs))
        shares /= shares.sum()
        values = []
        for arm, mean in enumerate(means):
            if arm != best:
                m = (shares[best] * means[best] + shares[arm] * mean) / (shares[best] + shares[arm])
                values.append(shares[best] * noise.divergence(means[best], m) + shares[arm] * noise.divergence(mean, m))
        return -float(min(values))

    start = np.zeros(len(means))
    for _ in range(4):
        start = optimize.minimize(
            negative, start, method="Nelder-Mead", options={"xatol": 1e-10, "fatol": 1e-14, "maxiter": 20_000}
        ).x
    return float(-1.0 / negative(start))


@pytest.mark.parametrize("noise", [Gaussian(), Gaussian(0.5), Bernoulli(), Poisson(), Exponential()], ids=str)
@pytest.mark.parametrize("means", [[0.5, 0.3], [0.2, 0.7, 0.5], [0.6, 0.5, 0.4, 0.1]], ids=str)
def test_the_time_is_the_best_of_all_shares(means: list[float], noise: Noise) -> None:
    found = characteristic_time(means, noise)
    assert found.time == pytest.approx(searched(means, noise), rel=2e-4)
    assert found.shares.sum() == pytest.approx(1.0)
    assert found.time <= searched(means, noise) * (1 + 1e-9)


def test_two_gaussian_arms_and_equal_gaps() -> None:
    """Two arms: 8σ²/Δ². K arms with one gap Δ: 2σ² (1 + √(K - 1))²/Δ², half as much evidence per arm of each pair."""
    assert characteristic_time([0.0, -0.2], Gaussian(3.0)).time == pytest.approx(8 * 9 / 0.04)
    assert characteristic_time([0.0, -0.2], Gaussian()).shares == pytest.approx([0.5, 0.5])
    many = characteristic_time([0.1, 0.1, 0.4, 0.1, 0.1], Gaussian())
    assert many.time == pytest.approx(2 * (1 + 2) ** 2 / 0.09)
    assert many.shares == pytest.approx([1 / 6, 1 / 6, 1 / 3, 1 / 6, 1 / 6])


def test_a_bernoulli_arm_that_always_or_never_wins() -> None:
    for means in ([1.0, 0.5], [0.5, 0.0], [1.0, 0.0]):
        found = characteristic_time(means, Bernoulli())
        assert np.isfinite(found.time)
        assert found.time > 0.0


@pytest.mark.parametrize("means", [[0.5], [0.5, 0.5], [0.1, 0.5, 0.5], []])
def test_without_one_best_arm_there_is_no_time(means: list[float]) -> None:
    with pytest.raises(ParameterError, match=r"^means must have one best arm of two or more, got [^\n]+$"):
        characteristic_time(means, Gaussian())
