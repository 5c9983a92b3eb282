"""Appendix A, the lower bound: its condition, and the steps of its proof."""

from __future__ import annotations

import math

import numpy as np
import pytest

from ocucb.theory.gaps import effective_arms, gaps

PROBLEMS = ((1.0, 0.5), (0.6, 0.5, 0.4, 0.4), (1.0, 0.0, 0.0), (0.9, 0.9, 0.5, 0.1), tuple(np.linspace(1.0, 0.0, 12)))
ROUNDS = (2, 3, 5, 8, 30, 1000, 10**5, 10**9)


def inverse(means: tuple[float, ...], n: int) -> list[tuple[int, float, float, float]]:
    """Return arm, gap, k_{i,1/2} and y = k log(n) / (n Δ²) of every arm with a gap."""
    gap, effective = gaps(means), effective_arms(means, 0.5)
    arms = [(int(i), float(gap[i]), float(effective[i])) for i in np.flatnonzero(gap)]
    return [(i, size, k, k * math.log(n) / (n * size**2)) for i, size, k in arms]


def allowed(means: tuple[float, ...], n: int) -> bool:
    """Say whether the condition holds, asked of the arms with a gap only."""
    return all(y <= 1.0 for *_, y in inverse(means, n))


def test_condition_cannot_hold_for_the_best_arm() -> None:
    met = 0
    for means in PROBLEMS:
        for n in ROUNDS:
            gap, effective = gaps(means), effective_arms(means, 0.5)
            ratios = n * gap**2 / (effective * math.log(n))
            assert not (ratios >= 1.0).all()  # 0 for the best arm, whatever n
            met += allowed(means, n)
    assert met > 10


def test_half_the_root_needs_a_quarter() -> None:
    for y in np.linspace(0.26, 1.0, 75):
        # E[T_i] ≤ log(1/y)/(4Δ²) gives KL = (2Δ)² E[T_i]/2 ≤ log(1/y)/2, and Lemma 2.6 gives exp(-KL)/2 = √y/2.
        assert math.exp(-0.5 * math.log(1.0 / y)) / 2.0 == pytest.approx(math.sqrt(y) / 2.0)
        assert math.sqrt(y) / 2.0 < y
    for y in np.logspace(-12.0, math.log10(0.25), 100):
        assert math.sqrt(y) / 2.0 >= y * (1.0 - 1e-15)


def test_regret_of_the_alternative_loses_a_factor_two() -> None:
    for means in PROBLEMS:
        gap = gaps(means)
        for n in ROUNDS:
            for i, size, _, y in inverse(means, n):
                left = (y / 2.0) * n * size / 2.0  # δ n Δ_i / 2 with 2δ = y
                total = sum(1.0 / max(gap[i], other) for other in gap) * math.log(n)
                assert left == pytest.approx(total / 4.0)
                assert left < 0.51 * total / 2.0 * (1.0 + 1e-9)


def test_last_step_lacks_a_logarithm_and_a_square() -> None:
    broken = 0
    for means in PROBLEMS:
        for n in ROUNDS:
            if not allowed(means, n):
                continue
            for i, size, k, _ in inverse(means, n):
                other = np.array(means)
                other[i] += 2.0 * size
                proved = k / size * math.log(n)
                rest = inverse(tuple(other), n)
                printed = sum(n * gap / (effective * math.log(n)) / gap for _, gap, effective, _ in rest)
                corrected = sum(math.log(1.0 / y) / gap for _, gap, _, y in rest)
                broken += proved < printed
                assert proved >= corrected
    assert broken > 20


def test_sum_over_the_arm_that_is_fixed() -> None:
    means, arm = np.array([0.6, 0.5, 0.4]), 1
    means[arm] += 2.0 * 0.1
    gap = gaps(means)
    assert gap[arm] == 0.0  # Σ_{i: Δ'_i > 0} with i the arm of "there exists an i": the sum is empty
    assert (np.delete(gap, arm) > 0.0).all()  # Σ over another letter, j


def test_confidence_stays_below_log_n() -> None:
    for means in PROBLEMS:
        for n in ROUNDS:
            if not allowed(means, n):
                continue
            for i, size, k, y in inverse(means, n):
                assert math.log(1.0 / y) <= math.log(n)  # Markov's step
                assert size**2 <= k * math.log(n)
                other = np.array(means)
                other[i] += 2.0 * size
                for _, gap, effective, _ in inverse(tuple(other), n):
                    assert gap**2 <= effective * math.log(n)  # gaps up to 2, yet log(n Δ'²/(k' log n)) ≤ log n
    # Three arms or more: the worst has k = K, so n ≥ 3 log n, which starts at n = 5, and 3 log 5 > 4 ≥ Δ'².
    assert [n for n in range(2, 9) if n >= 3.0 * math.log(n)] == [5, 6, 7, 8]
    assert 3.0 * math.log(5.0) > 4.0
