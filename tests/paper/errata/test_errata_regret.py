"""The proof of Theorem 1 (section 4, Appendices E to G): steps that do not follow, and what does."""

from __future__ import annotations

import importlib
import math
from typing import Any

import numpy as np

stats: Any = importlib.import_module("scipy.stats")  # not typed


def test_tau_drops_e_from_its_maximum() -> None:
    for n in (2, 3, 5, 10):
        for gap in (0.01, 0.1, 0.3):
            printed = max(math.log(n), n * gap**2 * math.log(n))  # with K_{i,ρ} = 1, its least
            assert max(printed, math.e) > printed  # B_i has e inside, so the printed "=" is not one
            left, right = 1.0 + math.log(max(printed, math.e)) / gap**2, 1.0 + math.log(printed) / gap**2
            assert right < left
            if n == 2:
                assert right < 0.0  # and no O_η(1) helps: the left side is positive
            # With e kept, log(C b) ≤ (1 + log C) log b for b ≥ e, which is how the constant leaves the logarithm.
            for constant in (1.0, 10.0, 1e4):
                value = max(printed, math.e)
                assert math.log(constant * value) <= (1.0 + math.log(constant)) * math.log(value) * (1.0 + 1e-15)
    assert math.log(100.0 * 1.1) > 48.0 * math.log(1.1)  # for b near 1 it does not


def test_effective_arms_tail_counts_two_arms_that_cannot_be_optimistic() -> None:
    broken = []
    for arms in (3, 4, 5, 8, 20, 100, 500):
        for chance in (0.05, 0.3, 0.7, 0.95):
            # All gaps equal, i = 3: every ratio is 1, and K - 3 arms can be optimistic, not the K - 1 of the sum.
            exact = float(stats.binom.cdf(math.floor(chance / 2.0 * (arms - 1)), arms - 3, chance))
            if exact > math.exp(-(chance**2) * (arms - 1) / 2.0):  # the right side of step (a)
                broken.append((arms, chance))
            assert exact <= 14.0 / (chance**2 * arms)  # the result, O_η(1/k), with k = K
    assert {(3, chance) for chance in (0.05, 0.3, 0.7, 0.95)} <= set(broken)
    # Hoeffding on the M = K - 3 that count: for M ≥ 4, p(M + 2)/2 ≤ 3pM/4, so exp(-p²M/8) ≤ 8/(p²M) ≤ 14/(p²(M + 3)).
    for many in range(4, 500):
        assert (many + 2) / 2.0 <= 0.75 * many
        assert 8.0 / many <= 14.0 / (many + 3)
        for chance in (0.05, 0.3, 0.7, 0.95):
            assert stats.binom.cdf(math.floor(0.75 * chance * many), many, chance) <= math.exp(-(chance**2) * many / 8)


def test_tail_constant_is_p_of_the_arm_itself() -> None:
    many, chance, rho = 50, 0.1, 0.5  # P{j ∈ Φ} = 0.1, all ratios 1
    below = float(stats.binom.cdf(math.floor(rho / 2.0 * many), many, chance))
    assert below > math.exp(-(rho**2) * many / 2.0)  # ρ(η) read as ρ
    below = float(stats.binom.cdf(math.floor(chance / 2.0 * many), many, chance))
    assert below <= math.exp(-(chance**2) * many / 2.0)  # p(η_1), the probability behind Φ
    # Δ_J read as printed in (a) and (b): J may have a far smaller gap than i, and the numerator is then as if all
    # ratios were 1, while the arms that count have ratios of 0.01.
    ratio, chance = 0.01, 0.5
    below = float(stats.binom.cdf(math.floor(chance / 2.0 * many), many, chance))
    assert below > math.exp(-((chance * many) ** 2) / (2.0 * many * ratio**2))
    assert below <= math.exp(-((chance * many * ratio) ** 2) / (2.0 * many * ratio**2))  # Δ_j


def test_root_of_the_mean_is_not_bounded_by_the_mean_of_the_root() -> None:
    # |A_2| = 1, β = m² with probability 1/m and 0 otherwise: what (13) leaves is √E, what is bounded is E√.
    sizes = np.array([10.0, 1e3, 1e5])
    means_of_roots, roots_of_means = sizes / sizes, np.sqrt(sizes**2 / sizes)
    assert (roots_of_means / means_of_roots == np.sqrt(sizes)).all()
    # What works: bound √E[|A_2| β] itself. Given J and λ, E[β] is a sum of 1/Δ_J² and √τ_j/Δ_J; and, whatever J is,
    # |A_2|/Δ_J ≤ 2 Σ 1/Δ_j, a number. So √E[(|A_2|/Δ_J) Σ √τ_j] ≤ √(2 Σ 1/Δ_j Σ E[√τ_j]) ≤ 2 Σ 1/Δ_j + Σ E[√τ_j].
    rng = np.random.default_rng(3)
    for _ in range(100):
        gap = np.sort(rng.lognormal(0.0, 2.0, 12))
        roots = 1.0 / gap + rng.exponential(1.0, 12)
        for leader in gap:
            many = ((gap >= leader) & (gap <= 2.0 * leader)).sum()
            assert many / leader <= 2.0 * (1.0 / gap).sum()
            left = math.sqrt(many / leader * roots.sum())
            assert left <= 2.0 * (1.0 / gap).sum() + roots.sum()


def test_arms_better_than_the_optimist_have_no_limit_either() -> None:
    worst = 0.0
    for better in (1, 10, 100, 1000):  # arms with gaps below Δ_J = 1
        gap = np.concatenate([[0.0], np.full(better, 0.5), [1.0, 1.5]])
        leader = 1.0
        second = (gap >= leader) & (gap <= 2.0 * leader)
        unlimited = gap <= 2.0 * leader
        worst = max(worst, unlimited.sum() / second.sum())
        # The sets of (14) hold A_2 only; the others are fewer than J, and J is outside their reach:
        optimist = better + 2
        assert unlimited.sum() <= optimist + second.sum()
        left = math.sqrt(second.sum() * unlimited.sum()) / leader
        assert left <= 2.0 * second.sum() / leader + optimist / leader
    assert worst > 500.0


def test_last_sum_lacks_its_root() -> None:
    ratios = []
    for gap in np.logspace(-6.0, 3.0, 10):
        for log in (1.0, 5.0, 40.0):
            wanted = gap + log / gap  # a term of Theorem 1
            inside = 1.0 + log / gap**2
            ratios.append(inside / wanted)
            assert math.sqrt(inside) <= 2.0 * wanted  # Step 4
    assert max(ratios) > 1e5


def test_objective_is_another_than_the_lemma() -> None:
    ratios = []
    for gap in np.logspace(-3.0, 4.0, 8):
        for log in (1.0, 5.0, 40.0):
            objective, lemma = gap * (1.0 + log / gap**2), math.sqrt(1.0 + log / gap**2)
            ratios.append(objective / lemma)
            assert lemma <= 2.0 * objective  # the lemma is the stronger of the two
    assert max(ratios) > 1e3
    assert min(ratios) > 0.5


def test_sets_of_arms_are_misnamed() -> None:
    gap, leader = np.array([0.0, 0.1, 0.2, 1.0, 1.9, 2.5]), 1.0
    first, second = gap > 2.0 * leader, (gap >= leader) & (gap <= 2.0 * leader)
    assert not (first & second).any()  # A_2 ⊆ A_ℓ cannot be meant of ℓ = 1, where A_1 is disjoint from A_2
    scale = math.floor(math.log2(leader))
    assert (second <= ((gap >= 2.0**scale) & (gap < 2.0 ** (scale + 2)))).all()  # A_2 ⊆ Ã_ℓ
    third = (gap > 0.0) & (gap < leader / 4.0)
    assert third.any()
    assert not (third & (first | second)).any()  # A_3 must be {i: Δ_i < Δ_J/4}: no set defined so far holds these arms
