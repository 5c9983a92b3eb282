"""The boundaries of section 2 and Appendices B and C: what is printed of them, and what holds."""

from __future__ import annotations

import importlib
import itertools
import math
from typing import Any

import numpy as np

special: Any = importlib.import_module("scipy.special")  # not typed

TIMES = 16  # a walk of unit Gaussian steps, looked at after 16^k steps, k = 1, 2, ...
LOG = math.log(TIMES)
CORRELATION = TIMES**-0.5  # of S_t/√t at neighbouring times; at times k apart, its k-th power
EXPONENT = 2.0 / (1.0 + CORRELATION)


def comparison() -> float:
    """Return (1/2π) Σ_k r_k/√(1 - r_k²), the weight of Berman's normal comparison lemma.

    P{U_k ≤ x_k for all k} - Π P{U_k ≤ x_k} ≤ (1/2π) Σ_{j<k} r_jk (1 - r_jk²)^{-1/2} exp(-(x_j² + x_k²) / (2(1 + r_jk)))
    """
    r = CORRELATION ** np.arange(1.0, 60.0)
    return float((r / np.sqrt(1.0 - r**2)).sum()) / (2.0 * math.pi)


def test_boundary_with_log_over_delta_is_crossed_almost_surely() -> None:
    eta = 1.5
    root, step = math.sqrt(eta), math.log(math.sqrt(eta))
    first = math.ceil(math.e / step)
    tail = step**-root * float(special.zeta(root, first))
    constant = first * math.exp(-root) + tail  # Σ_k max{e, k log √η}^{-√η}, by peeling at powers of √η
    for delta in (1e-1, 1e-2, 1e-3, 1e-6):
        # Printed: after 16^k steps S/√t must stay below x_k = √(2 log(k L/δ)). P{N > x} ≥ x/(1 + x²) φ(x) and
        # φ(x_k) = δ/(k L √2π), so Σ_{k ≤ m} P{N > x_k} ≥ δ/(L √2π) [x - arctan x] from x_1 to x_m: it has no limit.
        low, high = math.sqrt(2.0 * math.log(LOG / delta)), 1e4 / delta
        crossings = delta / (LOG * math.sqrt(2.0 * math.pi)) * (high - math.atan(high) - low + math.atan(low))
        linked = comparison() * (delta / LOG) ** EXPONENT * float(special.zeta(EXPONENT))
        never = math.exp(-crossings) + linked
        assert never < 0.01
        assert (1.0 - never) / delta > 9.0  # and 1e5 times δ in the end: not O(δ)
        # With η > 1 before n and max{e, log n} for log n it is O_η(δ).
        assert constant * delta**root / delta <= constant < 22.0


def test_constants_are_not_polynomial() -> None:
    exponents = []
    for excess in (1e-4, 1e-6, 1e-8, 1e-10):
        eta = 1.0 + excess  # the η_1 of Φ
        # For unit Gaussian noise P{i ∈ Φ} is at most P{S_t ≤ √(2ηt log log t) for t = 16^k and k ≥ k_1}. Its crossings,
        # from log(k_1 log 16) = start on, are counted as above, with φ(x_k) = (k L)^-η/√2π.
        start = 0.3 / math.sqrt(excess) + 2.0
        share = 2.0 * start / (1.0 + 2.0 * start)
        rate = share / (LOG * math.sqrt(4.0 * math.pi * eta)) * math.sqrt(math.pi / excess)
        crossings = rate * math.erfc(math.sqrt(excess * start))
        linked = math.log(comparison() * EXPONENT / (EXPONENT - 1.0) / LOG) + (1.0 - EXPONENT) * start
        optimistic = float(np.logaddexp(-crossings, linked))  # the logarithm of the bound
        # J is 2 plus a geometric variable, cut at K + 1, so E[J] tends to 2 + 1/P{i ∈ Φ} as K grows.
        exponents.append(-optimistic / math.log(1.0 / excess))
        assert -optimistic > 0.1 / math.sqrt(excess)  # what holds: E[J] exceeds exp(0.1/√(η_1 - 1)) for K large
    assert exponents == sorted(exponents)  # E[J] > (η_1 - 1)^-1.8, ^-12, ^-97, ^-781
    assert exponents[-1] > 700.0


def test_iterated_logarithm_needs_unit_variance() -> None:
    steps = np.linspace(-30.0, 30.0, 601)
    for scale in (0.0, 0.5, 1.0):  # fair coin flips ±scale are 1-subgaussian, all three
        assert (np.logaddexp(scale * steps, -scale * steps) - math.log(2.0) <= steps**2 / 2.0 + 1e-12).all()
    eta = 1.5
    printed = {scale: math.sqrt(1.0 / eta) for scale in (0.0, 0.5, 1.0)}
    corrected = {scale: math.sqrt(scale**2 / eta) for scale in (0.0, 0.5, 1.0)}
    # The walk of scale 1/2 is half the walk of scale 1, step by step, and so is its limsup.
    assert printed[0.5] != 0.5 * printed[1.0]
    assert printed[0.0] != 0.0
    assert all(value == scale * corrected[1.0] <= printed[scale] for scale, value in corrected.items())


def test_naive_bound_of_the_iterated_logarithm() -> None:
    chance = 0.006
    odds = math.log((1.0 - chance) / chance)
    width = math.sqrt(2.0 * odds / (1.0 - 2.0 * chance)) * (1.0 - 1e-6)
    up, down = (1.0 - chance) * width, -chance * width  # X = up with that chance, else down
    tilt = np.linspace(-60.0, 60.0, 24001)
    tilt = tilt[np.abs(tilt) > 1e-3]
    moment = np.logaddexp(math.log(chance) + tilt * up, math.log(1.0 - chance) + tilt * down)
    assert (moment < tilt**2 / 2.0).all()  # 1-subgaussian (Kearns and Saul)
    eta = up**2 / 2.0
    block = 1.0 + (eta - 1.0) / 2.0  # G_0 = [1, 1 + ε] holds n = 1, 2, 3, and log n < e there
    assert 3.0 <= block < 4.0
    crossed = 0.0
    for jumps in itertools.product((False, True), repeat=3):
        walk = itertools.accumulate(up if jump else down for jump in jumps)
        if any(total >= up * math.sqrt(n) for n, total in enumerate(walk, 1)):  # √(2ηn) = up √n
            crossed += math.prod(chance if jump else 1.0 - chance for jump in jumps)
    assert crossed > math.exp(-eta) * (1.0 + 5e-5)
    assert crossed < math.exp(-eta / block)


def test_product_of_the_iterated_logarithm() -> None:
    for eta in (1.001, 1.1, 2.0, 5.0, 100.0):
        naive = math.exp(-eta / (1.0 + (eta - 1.0) / 2.0))
        # P{F} ≤ a gives P{¬F} ≥ 1 - a. The printed product has the bound on P{F} itself, exp(-η), in its place.
        assert abs(math.exp(-eta) - (1.0 - naive)) > 0.1
        assert math.exp(-eta) < 1.0 - naive  # which happens to be smaller, so that the product is still a lower bound


def test_power_of_the_iterated_logarithm_is_a_bound() -> None:
    for eta in (1.1, 1.5, 3.0):
        block = 1.0 + (eta - 1.0) / 2.0
        power = 1.0 + (block - 1.0) / block
        for k in range(1, 200):
            level = k * math.log(block)
            exact = math.exp(-eta / block * max(1.0, math.log(level)))
            printed = level**-power
            assert exact <= printed * (1.0 + 1e-12)
            assert (abs(printed / exact - 1.0) < 1e-9) == (level >= math.e)  # equal from k log(1 + ε) = e on only


def test_conditioning_starts_at_block_zero() -> None:
    chance, up, down, eta = 0.2, 2.0, -0.5, 1.5

    def probability(first: bool, second: bool) -> float:
        total = 0.0
        for jumps in itertools.product((False, True), repeat=3):
            walk = list(itertools.accumulate(up if jump else down for jump in jumps))
            good = [value <= math.sqrt(2.0 * eta * n) for n, value in enumerate(walk, 1)]
            if (good[0] or not first) and (all(good[1:]) or not second):
                total += math.prod(chance if jump else 1.0 - chance for jump in jumps)
        return total

    whole = probability(first=True, second=True)
    printed = probability(first=True, second=False) * probability(first=False, second=True)  # given ¬F_1, ..., ¬F_0
    chained = probability(first=True, second=False) * (whole / probability(first=True, second=False))
    assert abs(printed - whole) > 0.01
    assert abs(chained - whole) < 1e-15


def test_tail_event_is_off_by_one() -> None:
    # Δ = 10, η = 1.1, b = e: t_0 = 1. With α = 1, τ ≥ α t_0 is certain; some mean reaching Δ/2 is not.
    gap, eta = 10.0, 1.1
    assert math.ceil(8.0 * eta / gap**2) == 1
    reached = sum(math.exp(-t * gap**2 / 8.0) for t in range(1, 50))
    assert reached < 1e-5 < 1.0
    # τ > α t_0 gives a t ≥ α t_0 with mean + width ≥ Δ: on any path of means, here for α t_0 = 1, 2, ...
    rng = np.random.default_rng(2)
    t = np.arange(1.0, 301.0)
    for _ in range(20):
        path = rng.standard_normal(300).cumsum() / t
        late = np.flatnonzero(path + np.sqrt(2.0 * eta / t) >= 0.5)
        tau = int(late[-1]) + 2 if late.size else 1  # the first n from which on all is below
        for n in range(1, 301):
            exists = bool((path[n - 1 :] + np.sqrt(2.0 * eta / t[n - 1 :]) >= 0.5).any())
            assert (tau > n) == exists


def test_tail_peeling_lacks_alpha() -> None:
    eta = 1.1
    for alpha in (8.0, 16.0, 32.0):
        # Δ² t_0 = 8η. For unit Gaussian noise the mean after α t_0 rewards alone reaches Δ/2 with this probability:
        least = 0.5 * math.erfc(math.sqrt(8.0 * eta * alpha) / 2.0 / math.sqrt(2.0))
        blocks = 2.0 ** np.arange(0.0, 30.0)
        printed = float(np.exp(-(alpha**2) * blocks * 8.0 * eta / 32.0).sum())  # t ≤ t_k, by Lemma conc
        corrected = float(np.exp(-alpha * blocks * 8.0 * eta / 32.0).sum())  # t ≤ α t_k: the paper's next line
        assert printed < least < corrected
