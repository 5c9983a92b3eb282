"""Part 3 of docs/errata.md: slips of notation. Read literally, each contradicts another formula of the paper."""

from __future__ import annotations

import importlib
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

special: Any = importlib.import_module("scipy.special")  # not typed

Floats = npt.NDArray[np.float64]


def normal_tail(x: float) -> float:
    """Return P{N > x} for a standard normal N."""
    return 0.5 * math.erfc(x / math.sqrt(2.0))


def relative_entropy(p: float, q: float) -> float:
    """Return d(p, q) for Bernoulli rewards."""
    return p * math.log(p / q) + (1.0 - p) * math.log((1.0 - p) / (1.0 - q))


def test_range_of_rho() -> None:
    def introduced(rho: float) -> bool:
        return 0.5 < rho <= 1.0

    # Theorem 1, the "canonical choice", the asymptotics and the MOSS type all use values outside the first range.
    assert not any(introduced(rho) for rho in (0.5, 0.0))
    assert all(0.0 <= rho <= 1.0 for rho in (0.5, 0.0))


def test_noise_and_constant_share_a_letter() -> None:
    for eta in (1.01, 1.5, 3.0):
        assert (1.0 + eta) / 2.0 > 1.0  # η_1 as noise of round 1 has mean 0; as the constant it is above 1


def test_tau_delta_depends_on_delta() -> None:
    eta, n = 1.1, 10000
    s = np.arange(1.0, n + 1.0)
    path = -2.0 / s  # means of the best arm, μ_1 = 0: one reward of -2, then zeros

    def reaches(t: int, gap: float) -> bool:
        width = np.sqrt(2.0 * eta / s * np.log(np.maximum(1.0, t / s)))
        return bool((path + width >= -gap / 2.0).all())

    def tau(gap: float) -> int:
        return next(t for t in range(1, n) if reaches(t, gap))

    small, large = 0.1, 1.0
    assert tau(small) > tau(large)
    literal = tau(large)  # τ_Δ at Δ = 0.1, with the Δ_i of another arm on its right side
    assert not reaches(literal, small)  # yet it is used as γ_1 ≥ μ_1 - Δ/2
    assert reaches(tau(small), small)


def test_one_name_for_two_quantities() -> None:
    # B_i(t-1), of the index, against B_i, of eq:def:bt: K = 2, n = 1000, gap 0.5, round 11, 8 and 2 pulls, ρ = 1/2.
    n, gap, t, pulls = 1000, 0.5, 11, (8.0, 2.0)
    total = sum(min(pulls[1], math.sqrt(other * pulls[1])) for other in pulls)
    level = max(math.e, math.log(t), t * math.log(t) / total)
    horizon = max(math.e, math.log(n), n * gap**2 * math.log(n) / 1.0)
    assert level < horizon  # Lemma tau-bound compares them, for T_i ≥ Δ_i^-2; they are not the same
    assert level == pytest.approx(t * math.log(t) / 4.0)


def test_tau_needs_a_strict_inequality() -> None:
    eta, gap, pulls, mean = 2.0, 2.0, 4.0, 0.0  # μ_i = 0, B_i = e: the width is √(2η/T) = 1 = Δ/2
    index = mean + math.sqrt(2.0 * eta / pulls)
    assert index <= gap / 2.0  # enough for τ_i as defined in eq:def:bt ...
    assert not index < gap / 2.0  # ... but not for what Lemma tau-bound concludes
    assert mean + math.sqrt(2.0 * eta / (pulls + 1.0)) < gap / 2.0  # "<", as in section 3, puts τ_i at 5 here


def test_pulls_at_the_time_of_choice() -> None:
    eta, gap, n = 1.1, 2.0, 60
    rewards = np.array([4.0] + [0.0] * (n - 1))  # of arm i, μ_i = 0
    s = np.arange(1.0, n + 1.0)
    index = rewards.cumsum() / s + np.sqrt(2.0 * eta / s)  # B_i = e
    tau = int(np.flatnonzero(index >= gap / 2.0)[-1]) + 2
    assert 1 < tau <= n  # the arm ends with T_i(n) = n ≥ τ_i, and was chosen with 1 pull at an index above μ_i + Δ_i/2
    assert index[0] >= gap / 2.0
    assert (index[tau - 1 :] < gap / 2.0).all()  # with T_i(t-1) ≥ τ_i the conclusion is right


def asked(path: Floats, gap: float, eta: float, total: Callable[[Floats], Floats]) -> float:
    """Return α of Lemma conc2 for a path of means and a denominator."""
    s = np.arange(1.0, path.size + 1.0)
    below = np.maximum(-gap - path, 0.0)
    return float(np.where(below > 0.0, total(s) * np.exp(s * below**2 / (2.0 * eta)), 0.0).max())


def test_sum_runs_over_all_arms() -> None:
    path = -2.0 / np.arange(1.0, 50.0)
    single = asked(path, 0.1, 1.5, lambda s: s)
    for arms in (2.0, 10.0, 1000.0):  # λ = ∞ for every arm: α grows with K, and no d fixed before it can bound it

        def total(s: Floats, arms: float = arms) -> Floats:
            return arms * s

        assert asked(path, 0.1, 1.5, total) == pytest.approx(arms * single)


def test_limits_do_not_tell_the_optimist() -> None:
    gap = np.array([0.0, 0.9, 1.0, 1.1])
    limits = [tuple(size >= 2.0 * gap[leader] for size in gap) for leader in (2, 3)]
    assert limits[0] == limits[1]  # λ = (∞, ..., ∞) for J = 3 and J = 4,
    assert gap[2] != gap[3]  # but Δ_J differs: E[Δ_J β | λ] does not fix the Δ of Lemma conc2; given (λ, J) it is fixed


def test_maximum_of_values_not_of_arms() -> None:
    gap = np.array([1e-3, 0.5])
    times = np.ceil(1.0 / gap**2)
    assert gap.size < 1e-2 / gap.min()  # max{i: ...} is an arm's number, at most K
    assert np.sqrt(times).max() >= 1.0 / gap.min()


def test_limits_are_at_least_one() -> None:
    # d = 1, Δ = 1/2, unit Gaussian noise: α > 0 once the first mean is below -Δ, and then β > 1.
    ratios = [0.5 * normal_tail(0.5) / min(1.0 / 0.5, math.sqrt(limit)) for limit in (1.0, 1e-2, 1e-4, 1e-8)]
    assert ratios == sorted(ratios)
    assert ratios[-1] > 1e3  # (b) has no constant for λ in (0, 1)
    assert math.ceil(1.0 / 0.3**2) >= 1  # λ_i = τ_i, a number of rewards, is never there


def test_asymptotic_alpha_lacks_mean_and_maximum() -> None:
    eta, arms = 1.5, 3.0
    for level in (10.0, 1e3, 1e6):
        assert math.log(level / (arms * (level + 1.0))) < 0.0  # every α: under the root, a negative number for s > α/K
        assert math.log(max(1.0, level / (arms * (level + 1.0)))) == 0.0
    path = -2.0 / np.arange(1.0, 50.0)
    for shift in (-5.0, 0.0, 5.0):  # adding a number to all means changes no choice and no regret
        literal = asked(path + shift, 0.1, eta, lambda s: arms * s)
        corrected = asked(path + shift - shift, 0.1, eta, lambda s: arms * s)
        assert (literal == pytest.approx(corrected)) == (shift == 0.0)


def test_asymptotic_supremum() -> None:
    # E[α_n] ≥ K s P{mean of s rewards < -ε} with s = 1/ε²: without limit as ε_n falls to 0, while ε_n^-2 is finite for
    # each n. What is meant is a bound on E[α_n], for each n.
    least = [2.0 / eps**2 * normal_tail(1.0) for eps in (0.5, 0.1, 1e-3)]
    assert least[-1] > 1e4 * 2.0 / 0.5**2
    assert all(value <= 2.0 / eps**2 for value, eps in zip(least, (0.5, 0.1, 1e-3), strict=True))


def test_asymptotic_tau_needs_the_running_index() -> None:
    s = np.arange(1.0, 200.0)
    path = np.where(s == 30.0, -9.0, 0.0)  # a mean that dips once
    bound = path + np.sqrt(2.0 * 1.5 / s * math.log(200.0 * math.log(200.0)))
    wanted = 0.4
    literal = int(np.flatnonzero(bound <= wanted)[0]) + 1  # s inside: the supremum over s' has nothing to run over
    assert literal == 30
    assert (bound[literal - 1 :] > wanted).any()  # T_i ≥ τ_{i,n} would not give γ_i ≤ μ_1 - ε_n
    corrected = int(np.flatnonzero(bound > wanted)[-1]) + 2
    assert (bound[corrected - 1 :] <= wanted).all()


def test_union_bound_has_the_exponent_misplaced() -> None:
    rho, limit, s, eta, scale = 0.75, 10.0, 1e6, 1.5, 1e3
    printed, corrected = min(s**rho, limit * s ** (1.0 - rho)), min(s, limit**rho * s ** (1.0 - rho))
    assert printed > corrected

    def width(total: float) -> float:
        return math.sqrt(2.0 * eta / s * math.log(max(1.0, scale / total)))

    mean, gap = -0.1 - (width(printed) + width(corrected)) / 2.0, 0.1
    assert mean + width(printed) <= -gap  # the printed event happens,
    assert not mean + width(corrected) <= -gap  # and none that Σ q_k is a bound for


def test_integral_lacks_its_measure() -> None:
    for value, total in ((5.0, 2.0), (5.0, 100.0)):
        integral = value / total  # ∫ P{α ≥ xΛ} dx for an α that is always `value`
        assert value > integral
        assert value == pytest.approx(total * integral)


def test_time_is_not_beta() -> None:
    # The last line of Appendix D bounds E[Δt]; a t there can only be a round, and rounds have no bound. d = λ = 1.
    bound = min(1.0 / 0.5, 1.0)
    assert [0.5 * t / bound for t in (10, 10**3, 10**6)] == [5.0, 500.0, 500000.0]
    # What the proof has bounded by then is ΔE[β] = O(ΔΛ/W(Λ)), and that is within 2 of the right side for every Δ.
    for gap in np.logspace(-8.0, -0.5, 20):
        level = math.log(gap**-2) / gap
        beta = level / float(special.lambertw(level).real)
        assert beta * math.log(beta) == pytest.approx(level)
        assert gap * beta <= 2.0 * min(1.0 / gap, 1.0)


def test_commented_bernoulli_index() -> None:
    eta, t, pulls, mean = 1.1, 1000.0, 50.0, 0.3
    level = eta * math.log(t / pulls)
    gaussian = mean + math.sqrt(2.0 * level / pulls)  # eq:ucb+
    assert (gaussian - mean) ** 2 / 2.0 * pulls == pytest.approx(level)  # T d(mean, θ) ≤ level, d(p, q) = (p - q)²/2
    assert (gaussian - mean) ** 2 / 2.0 < level / 9.0  # without T it is another, much wider index
    assert relative_entropy(mean, 0.99) < level  # in the Bernoulli case near 1, whatever was observed 50 times


def test_commented_bernoulli_divergence() -> None:
    p = 0.3
    literal = p * math.log(p / p) + (1.0 - p) * math.log(1.0 - p) / (1.0 - p)
    assert literal != 0.0  # but d(p, p) = 0
    assert relative_entropy(p, p) == 0.0


def test_commented_bernoulli_bound() -> None:
    best, worse, n = 0.5, 0.45, 100
    divergence = relative_entropy(worse, best)
    gap = best - worse
    assert gap + gap / divergence * math.log(n * divergence) < 0.0 < gap  # regret is at least one gap
    assert n * gap <= math.e * (gap + gap / divergence * max(1.0, math.log(n * divergence)))


def test_times_end_with_the_run() -> None:
    """T_i(n) ≤ τ_i is known up to round n: B_i has this n, and the index goes on to rise with t."""
    n, gap, eta = 1000, 1.0, 1.1
    settled = 2.0 * eta * math.log(n * gap**2 * math.log(n)) / (gap / 2.0) ** 2  # τ_i if the sample means are exact
    later = math.exp(100.0)
    assert math.sqrt(2.0 * eta * math.log(n * math.log(n) / settled) / settled) < gap / 2.0
    assert math.sqrt(2.0 * eta * math.log(later * math.log(later) / settled) / settled) > gap / 2.0


def test_third_sum_has_no_arms_of_gap_zero() -> None:
    """For such an arm min{1/Δ_i, √ω_j} is √ω_j, which is infinite for the arms without a limit."""
    omega = [7.0, math.inf]
    assert math.inf in [min(math.inf, math.sqrt(one)) for one in omega]  # Δ_i = 0: 1/Δ_i is infinite
    assert all(min(1.0 / 0.1, math.sqrt(one)) <= 10.0 for one in omega)


def test_a_tie_is_not_excluded() -> None:
    """γ_i ≤ μ_1 - ε and γ_1 ≥ μ_1 - ε allow γ_i = γ_1, and then the argmax may be i."""
    best, other = 0.25, 0.25
    assert other <= 0.25 <= best
    assert not best > other


def test_optimists_are_asked_for_n_samples() -> None:
    """An arm may be optimistic for as many samples as n rounds can show, and not for ever: no later sample is met."""
    n, eta_1 = 400, 1.05
    samples = np.concatenate((np.zeros(n), np.full(10**4, -5.0)))
    s = np.arange(1.0, samples.size + 1.0)
    low = -np.sqrt(2.0 * eta_1 * s * np.log(np.maximum(math.e, np.log(s))))
    inside = np.cumsum(samples) >= low
    assert inside[:n].all()
    assert not inside.all()
