"""Part 4 of docs/errata.md: steps that look doubtful and are right."""

from __future__ import annotations

import itertools
import math

import numpy as np

from ocucb.theory.gaps import effective_arms, gaps


def test_square_of_one_plus_logarithm_is_concave() -> None:
    x = math.e * np.logspace(0.0, 12.0, 400)
    for c in (1e-6, 0.1, 1.0, 50.0, 1e6):
        second = 2.0 * c / x**2 * (c - 1.0 - c * np.log(x))
        assert (second <= 0.0).all()
        middle = (x[1:] + x[:-1]) / 2.0
        chord = ((1.0 + c * np.log(x[1:])) ** 2 + (1.0 + c * np.log(x[:-1])) ** 2) / 2.0
        assert (chord <= (1.0 + c * np.log(middle)) ** 2).all()
    assert 2.0 * 50.0 * (50.0 - 1.0) > 0.0  # at x = 1 it is convex for c > 1: x ≥ e is needed


def test_failures_are_positively_associated() -> None:
    # P{F_k | ¬F_0, ..., ¬F_{k-1}} ≤ P{F_k}: F_k rises with every step of the walk, so Harris' inequality gives it.
    for chance, up, rounds, eta in ((0.2, 2.0, 12, 1.1), (0.5, 1.0, 12, 0.2), (0.05, 3.0, 10, 1.5)):
        down = -up * chance / (1.0 - chance)
        blocks = [range(1, 2), range(2, 4), range(4, 8), range(8, rounds + 1)]
        failing, fresh, never = [0.0] * 4, [0.0] * 4, [0.0] * 4
        for jumps in itertools.product((False, True), repeat=rounds):
            weight = math.prod(chance if jump else 1.0 - chance for jump in jumps)
            walk = [0.0, *itertools.accumulate(up if jump else down for jump in jumps)]
            failed = [any(walk[n] > math.sqrt(2.0 * eta * n) for n in block) for block in blocks]
            for k in range(4):
                failing[k] += weight * failed[k]
                if not any(failed[:k]):
                    never[k] += weight
                    fresh[k] += weight * failed[k]
        for k in range(1, 4):
            assert fresh[k] <= failing[k] * never[k] * (1.0 + 1e-12)
        assert any(fresh[k] < 0.99 * failing[k] * never[k] for k in range(1, 4))


def test_intuition_has_the_right_factor() -> None:
    for size in (0.01, 0.3, 1.0):
        for delta in (0.5, 0.1, 1e-6):
            pulls = math.log(1.0 / delta) / (2.0 * size**2)
            assert abs((2.0 * size) ** 2 / 2.0 * pulls - math.log(1.0 / delta)) < 1e-9  # the divergence of μ from μ'
    for means in ((1.0, 0.9, 0.5, 0.5), (0.3, 0.0), tuple(np.linspace(1.0, 0.0, 9))):
        gap, effective = gaps(means), effective_arms(means, 0.5)
        for i in np.flatnonzero(gap):
            other = np.array(means)
            other[i] += 2.0 * gap[i]
            rest = np.delete(gaps(other), i)
            larger = np.delete(np.maximum(gap, gap[i]), i)
            assert (larger <= rest * (1.0 + 1e-12)).all()
            assert (rest <= 2.0 * larger * (1.0 + 1e-12)).all()
            assert (1.0 / (rest * gap[i])).sum() <= effective[i] / gap[i] ** 2


def test_chase_constant_is_explicit_and_polynomial() -> None:
    for eta in (1.0 + 1e-6, 1.01, 1.5, 3.0, 100.0):
        middle = (1.0 + eta) / 2.0
        root = math.sqrt(2.0) * (math.sqrt(eta) - math.sqrt(middle)) / (math.sqrt(2.0 * eta) + 1.0)
        assert 0.0 < root < 1.0
        assert root**2 > 1e-3 * min(1.0, eta - 1.0) ** 2
        for log in (1.0, 2.0, 50.0):  # log B_j ≥ 1, in units of 1/√T_j
            assert math.sqrt(2.0) * (math.sqrt(eta) - math.sqrt(middle)) * math.sqrt(log) >= root * (
                math.sqrt(2.0 * eta * log) + 1.0
            ) * (1.0 - 1e-12)


def test_octaves_hold_every_arm_twice_and_bounds_agree_inside() -> None:
    n = 1000
    means = -np.concatenate([[0.0], np.logspace(-3.0, 1.0, 60)])
    gap = gaps(means)
    octaves = range(-12, 8)
    held = sum(((gap >= 2.0**step) & (gap < 2.0 ** (step + 2))).astype(int) for step in octaves)
    assert (np.asarray(held)[1:] == 2).all()
    for rho in (0.5, 1.0):
        inside = n * gap[1:] ** 2 * math.log(n) / effective_arms(means, rho)[1:]
        bounds = np.log(np.maximum(np.maximum(inside, math.log(n)), math.e))
        for step in octaves:
            chosen = (gap[1:] >= 2.0**step) & (gap[1:] < 2.0 ** (step + 2))
            if chosen.any():
                sizes = 1.0 + bounds[chosen] / gap[1:][chosen] ** 2
                assert sizes.max() <= 16.0 * (1.0 + math.log(16.0)) * sizes.min()


def test_spread_pulls_are_the_worst_case() -> None:
    rng = np.random.default_rng(4)
    for rho in (0.5, 0.8, 1.0):
        for _ in range(200):
            pulls = rng.integers(1, 1000, 7).astype(float)
            s = float(rng.integers(1, 1000))
            left = np.minimum(s, pulls**rho * s ** (1.0 - rho)).sum()
            assert left <= 7.0 * min(s, pulls.mean() ** rho * s ** (1.0 - rho)) * (1.0 + 1e-12)
