"""Part 1 of docs/errata.md: statements that fail as printed, and what holds in their place."""

from __future__ import annotations

import importlib
import math
from typing import Any

import numpy as np
import numpy.typing as npt

from ocucb import Bandit, OCUCBn
from ocucb.theory.gaps import effective_arms, gaps

special: Any = importlib.import_module("scipy.special")  # not typed

Floats = npt.NDArray[np.float64]
SMALL_GAPS = np.logspace(-4, -0.5, 8)


def log_plus(x: float) -> float:
    """Return the paper's log₊ x = max{1, log x}."""
    return max(1.0, math.log(x)) if x > 0.0 else 1.0


def peak(gap: float, n: int, effective: float, *floor: float) -> float:
    """Return log max{n Δ² log(n) / k, log(n), ...}, the logarithm of Theorem 1."""
    return math.log(max(n * gap * gap * math.log(n) / effective, math.log(n), *floor))


def test_theorem_1_needs_e_inside_the_logarithm() -> None:
    for gap in SMALL_GAPS:
        effective = float(effective_arms([0.0, -gap], 0.5)[1])
        regret = gap  # rounds 1 and 2 play arms 1 and 2, whatever the policy thinks
        assert gap + peak(gap, 2, effective) / gap < 0.0 < regret
        assert gap + peak(gap, 2, effective, math.e) / gap >= regret
        for n in (3, 4, 10, 1000, 10**6, 10**12):  # from n = 3 on, the two differ by a constant factor at most
            assert peak(gap, n, effective, math.e) * math.log(math.log(3)) <= peak(gap, n, effective)


def test_kl_ucb_plus_bound_needs_log_plus() -> None:
    gap, n = 0.05, 100
    assert gap + math.log(n * gap**2) / gap < 0.0 < gap  # arm 2 is played in round 2: regret is at least its gap
    for gap in SMALL_GAPS:
        n = math.ceil(1.0 / gap**2)
        assert 1.0 / gap**2 > 9.0 * 1.0  # at n Δ² = 1 the printed bound on E[τ_i] is 1, but τ_i is at least 1/Δ²
        for rounds in (2, n // 2 + 2, n, 2 * n):
            corrected = gap + log_plus(rounds * gap**2) / gap
            assert rounds * gap <= 3.0 * corrected  # regret is at most n Δ, and n Δ² stays below 3 here


def test_stopping_times_are_at_least_one() -> None:
    n, ratios = 1000, []
    for gap in (10.0, 100.0, 1000.0, 10000.0):
        # K = 2: no arm above 2, so Δ_J = Δ_2, and τ is at least 1: the left side of (a) is at least Δ_2.
        means = [0.0, -gap]
        printed = math.sqrt(1.0 + peak(gap, n, float(effective_arms(means)[1]), math.e) / gap**2)
        ratios.append(gap / printed)
        assert gap <= printed + float(gaps(means).sum())
        # K = 3 with gaps Δ and 5Δ: J is 3 or 4, and Δ_J = 5Δ both times: the left side of (b) is at least Δ.
        means = [0.0, -gap, -5.0 * gap]
        effective = effective_arms(means)
        logs = [
            peak(float(gaps(means)[i]), n, float(effective[i]), math.e) / float(gaps(means)[i]) ** 2 for i in (1, 2)
        ]
        printed = sum(math.sqrt(1.0 + log) for log in logs)
        ratios.append(gap / printed)
        assert gap <= printed + float(gaps(means).sum())
        assert 9.0 * gap**-2.0 < 1.0  # KL-UCB+: E[τ_Δ] = O(Δ^-2), while τ_Δ is at least 1
    assert min(ratios[-2:]) > 500.0 * max(ratios[:2])  # no constant will do


def alpha(path: Floats, gap: float, eta: float, limits: Floats, rho: float) -> float:
    """Return α of Lemma conc2 for one path of means, in closed form: the largest that some s asks for."""
    s = np.arange(1.0, path.size + 1.0)
    total = np.minimum(s[:, None], limits**rho * s[:, None] ** (1.0 - rho)).sum(axis=1)
    below = np.maximum(-gap - path, 0.0)
    asked = np.where(below > 0.0, total * np.exp(s * below**2 / (2.0 * eta)), 0.0)
    return float(asked.max())


def test_confidence_constant_does_not_vanish() -> None:
    etas = (1.5, 2.0, 4.0, 30.0, 1e3, 1e6)
    # Unit Gaussian noise, d = 1, λ = ∞, ρ = 1, Δ = 1: α is at least 1 once the first mean is below -1.
    least = 0.5 * math.erfc(1.0 / math.sqrt(2.0))
    ratios = [least * (eta - 1.0) ** 2 for eta in etas]
    assert ratios == sorted(ratios)
    assert ratios[-1] > 1e10
    # What holds: α falls with η, so what holds at η = 2 holds beyond; the constant is O(1/min{1, η - 1}²).
    rng = np.random.default_rng(1)
    for _ in range(100):
        path = rng.standard_normal(400).cumsum() / np.arange(1.0, 401.0)
        for rho in (0.5, 1.0):
            values = [alpha(path, 0.1, eta, np.array([1.0, 7.0, 1e9]), rho) for eta in etas]
            assert values == sorted(values, reverse=True)
    # The important remark meets the same end: noise that is always 0 is 1-subgaussian, and Lemma tail's τ grows with η.
    times = [math.floor(2.0 * eta * math.log(10.0)) + 1 for eta in etas]
    assert times[-1] > 1e5 * times[0]
    assert all(time <= 8.0 * eta * math.log(10.0) + 1.0 for time, eta in zip(times, etas, strict=True))


def test_beta_must_be_zero_where_alpha_is() -> None:
    excess = []
    for gap in (1.5, 3.0, 6.0, 12.0):
        s = np.arange(1.0, 200.0)
        never = 1.0 - float(np.exp(-s * gap**2 / 2.0).sum())  # at most: P{no mean is below -Δ}, and then α = 0
        # β log β = 0 has the solution 1 (and, with 0 log 0 = 0, also 0). The bound of (b), d = 1, λ = ∞: C/Δ.
        excess.append(gap * never * 1.0 / (1.0 / gap))
        # With β = 0 there: α is 0 or at least 1, so β ≤ 1.77 α, and E[α] ≤ Σ_s √(s/2π) e^{-sΔ²/2}/Δ for any η > 1.
        mean = float((np.sqrt(s / (2.0 * math.pi)) * np.exp(-s * gap**2 / 2.0)).sum()) / gap
        assert gap * 1.77 * mean <= 2.0 * min(1.0 / gap, math.inf)
    assert excess == sorted(excess)
    assert excess[-1] > 100.0


def test_small_lambda_is_not_trivial() -> None:
    for value in np.logspace(0.0, 12.0, 200):
        beta = value / float(special.lambertw(value).real)
        assert abs(beta * math.log(beta) / value - 1.0) < 1e-9
        assert beta <= 1.77 * value
    # "Trivial" for Λ < e? The display before it gives Δ E[β] = O(Δ Λ / W(Λ)), never less than Δ: no C/Δ.
    wide = np.array([2.0, 20.0, 200.0])  # d = 1 and λ = ∞: Λ = Δ^-2
    assert ((wide * wide**-2.0 / special.lambertw(wide**-2.0).real) / (1.0 / wide) > 0.9 * wide**2).all()
    # What works: Δ E[β] ≤ 1.77 Δ E[α] = O(Δ Λ), and each term of Δ Λ is at most e min{1/Δ, √λ} where Λ < e.
    for gap in np.logspace(-2.0, 2.0, 81):
        for limit in np.logspace(0.0, 6.0, 61):
            for rho in (0.5, 0.6, 0.75, 1.0):
                term = min(gap**-2, limit**rho * gap ** (2 * rho - 2) * log_plus(1.0 / (limit * gap**2)))
                if term < math.e:
                    assert gap * term <= math.e * min(1.0 / gap, math.sqrt(limit))


def series(eta: float, rho: float, limit: float, x: float) -> float:
    """Return the left side of Lemma tech1."""
    power = np.arange(1.0, math.log(800.0 / x + 1.0) / math.log(eta) + 3.0) * math.log(eta)
    other = rho * math.log(limit) + (1.0 - rho) * power if rho > 0.0 else power
    return float(np.exp(np.minimum(power, other) - x * np.exp(power) / eta).sum())


def technical_bound(eta: float, rho: float, limit: float, x: float, *, corrected: bool) -> float:
    """Return the right side of Lemma tech1, as printed or corrected."""
    log = math.log(eta)
    if x * limit >= 1.0:
        return eta / x * (1.0 / math.e + 1.0 / log) if corrected else (2.0 / math.e + eta / log) / x
    inner = 1.0 + 1.0 / math.e + math.log(1.0 / (limit * x))
    factor = float(limit**rho * x ** (rho - 1.0))
    return eta * factor * (1.0 + inner / log) if corrected else factor / log * inner


def test_technical_lemma_lacks_eta() -> None:
    printed: dict[bool, dict[float, float]] = {True: {}, False: {}}
    for eta in (1.05, 1.2, 1.5, 1.65, 2.0, 3.0, 6.0, 12.0, 21.0, 100.0, 1e4):
        for rho in (0.0, 0.25, 0.5, 0.75, 1.0):
            for limit in (0.01, 0.5, 1.0, 2.0, 30.0, 1e3, 1e6, math.inf):
                for x in (1e-7, 0.999e-6, 1e-4, 0.999e-3, 0.03, 0.3, 0.499, 0.999, 1.0, 3.0):
                    left = series(eta, rho, limit, x)
                    assert left < technical_bound(eta, rho, limit, x, corrected=True)
                    ratios = printed[x * limit >= 1.0]
                    ratios[eta] = max(ratios.get(eta, 0.0), left / technical_bound(eta, rho, limit, x, corrected=False))
    assert printed[True][21.0] > 1.0  # the first case: from about η = 12.3 on, at a small x
    assert printed[True][6.0] < 1.0
    assert printed[False][1.5] > 1.0  # the second case: from η = 1 + 1/e on, at ρ = 0 and λ x near 1
    assert printed[False][1.2] < 1.0
    for eta in (1.65, 2.0, 5.0):  # ρ = 1/2, as in Theorem 1
        assert series(eta, 0.5, 22387.0, 4.4623e-05) > technical_bound(eta, 0.5, 22387.0, 4.4623e-05, corrected=False)
    # The last line: O(η/(η - 1)) is O(1) for large η, but the first term of the series alone is η e^{-x}.
    assert series(1e4, 1.0, math.inf, 1.0) / (1e4 / (1e4 - 1.0)) > 3e3
    assert all(series(eta, 1.0, math.inf, 1.0) < 2.0 * eta**2 / (eta - 1.0) for eta in (1.05, 2.0, 21.0, 1e4))


def test_noise_must_be_independent() -> None:
    """Noise that is drawn once for each arm and stays is 1-subgaussian in every round, and regret is linear."""
    gap, shares = 0.5, []
    chance = 0.5 * math.erfc((gap + 1.0) / 2.0)  # that arm 2 seems better by 1 or more: P{N(0, 2) ≥ Δ + 1}
    for n in (100, 1000, 10_000):
        bandit = Bandit(OCUCBn(), arms=2)
        for _ in range(n):
            arm = bandit.choose()
            bandit.learn(arm, (0.0, 1.0)[int(arm)])  # frozen noise that makes arm 2 look better by 1
        wrong = float(bandit.statistics().pulls[1])
        regret = chance * gap * wrong  # what such noise alone contributes, and a larger difference misleads more
        shares.append(regret / (gap + peak(gap, n, 2.0, math.e) / gap))
    assert chance > 0.14
    assert shares[1] > 5.0 * shares[0]
    assert shares[2] > 5.0 * shares[1]
