"""The proofs of Lemmas conc2 and tech1 (Appendices D and H): steps that are wrong, and what is right in their place."""

from __future__ import annotations

import importlib
import math
from typing import Any

import numpy as np

integrate: Any = importlib.import_module("scipy.integrate")  # not typed
special: Any = importlib.import_module("scipy.special")

LIMITS = (1.0, 2.0, 50.0, 1e4)
RHOS = (0.5, 0.6, 0.75, 0.9, 1.0)


def log_plus(x: float) -> float:
    """Return the paper's log₊ x = max{1, log x}."""
    return max(1.0, math.log(x))


def lambert(x: float) -> float:
    """Return the paper's productlog."""
    return float(special.lambertw(x).real)


def level(gap: float, rho: float, limit: float) -> float:
    """Return one term of Λ."""
    return float(min(gap**-2, limit**rho * gap ** (2.0 * rho - 2.0) * log_plus(1.0 / (limit * gap**2))))


def peeled(eta: float, gap: float, rho: float, limit: float) -> float:
    """Return Σ_k min{η_1^{k+1}, λ^ρ η_1^{(k+1)(1-ρ)}} exp(-Δ² η_1^k / (2η)), what the peeling of conc2 leaves."""
    base = (1.0 + eta) / 2.0
    power = np.arange(1.0, math.log(1600.0 * eta / gap**2 + 1.0) / math.log(base) + 3.0) * math.log(base)
    other = rho * math.log(limit) + (1.0 - rho) * power
    return float(np.exp(np.minimum(power, other) - gap**2 * np.exp(power) / base / (2.0 * eta)).sum())


def test_peeling_constant_lacks_its_power() -> None:
    printed = []
    for eta in (1.02, 1.2, 2.0, 10.0, 100.0, 1000.0):
        first, second = (1.0 + eta) / 2.0, 2.0 * eta / (1.0 + eta)
        constant = 2.0 * eta * first * (2.0 + (2.4 + math.log(2.0 * eta)) / math.log(first))
        worst = 0.0
        for gap in (1e-3, 0.03, 0.3, 1.0, 3.0):
            for rho in RHOS:
                for limit in LIMITS:
                    ratio = peeled(eta, gap, rho, limit) / level(gap, rho, limit)
                    assert ratio <= constant  # so P{α ≥ xΛ} ≤ (constant/x)^η_2
                    worst = max(worst, ratio**second)
        printed.append(worst * (eta - 1.0) / eta)  # what the O of O(η/(η - 1)) would have to hide
    assert printed[-1] > 1e4 * printed[0]


def test_tail_of_beta_has_one_lambda_too_many() -> None:
    power = 4.0 / 3.0
    for total in (0.01, 1.0, 30.0, 1e4):
        start = total / lambert(total)
        for x in start * np.logspace(0.01, 3.0, 20):
            # Let P{α ≥ yΛ} = min{1, y^-η_2}, the bound itself. β ≥ x exactly when α ≥ x log x.
            exact = min(1.0, (x * math.log(x) / total) ** -power)
            printed = min(1.0, (x * math.log(x) / total**2) ** -power)  # P{α ≥ (x/Λ) log x}
            assert exact <= (total / (x * math.log(x))) ** power * (1.0 + 1e-12)  # the next line of the paper
            if total < 1.0:
                assert printed < exact  # too small to bound P{β ≥ x}
            if total > 1.0:
                assert printed > (total / (x * math.log(x))) ** power  # too large for the next line


def test_product_logarithm_of_the_wrong_number() -> None:
    for gap in (0.2, 0.1, 1e-2, 1e-4, 1e-8):  # d = 1, ρ = 1/2, λ = 1
        inner = min(1.0 / gap, log_plus(gap**-2) / lambert(level(gap, 0.5, 1.0)))
        assert inner > log_plus(gap**-2) / max(1.0, lambert(gap**-2))
    for rho in (*RHOS, 0.51, 0.99):
        for limit in LIMITS:
            for ratio in np.logspace(-40.0, -0.001, 200):  # ratio = λΔ² < 1
                gap = math.sqrt(ratio / limit)
                total, log = level(gap, rho, limit), math.log(1.0 / ratio)
                left = limit**rho * gap ** (2.0 * rho - 1.0) * max(1.0, log) / max(1.0, lambert(total))
                middle = math.sqrt(limit) * ratio ** (rho - 0.5) * max(1.0, log) / max(1.0, (1.0 - rho) * log)
                assert left <= middle * (1.0 + 1e-12) <= 2.0 * math.sqrt(limit) * (1.0 + 1e-11)


def test_supremum_of_the_technical_lemma_lacks_eta() -> None:
    k = np.linspace(-20.0, 60.0, 200001)
    for eta in (1.5, 2.0, 5.0):
        for x in (1e-3, 0.1, 0.9):
            supremum = float(np.exp((k + 1.0) * math.log(eta) - x * eta**k)[k >= 0.0].max())  # λ = ∞
            assert supremum > 1.0 / (math.e * x)
            assert supremum <= eta / (math.e * x)


def test_first_integral_is_a_bound() -> None:
    for eta in (1.2, 2.0, 10.0):
        for x in (0.01, 0.5, 1.0, 4.0):
            top = math.log(800.0 / x) / math.log(eta)
            value = integrate.quad(lambda k, eta=eta, x=x: eta**k * math.exp(-(eta**k) * x), 0.0, top, limit=500)[0]
            assert abs(value * x * math.log(eta) - math.exp(-x)) < 1e-6  # not 1
            assert value < 1.0 / (x * math.log(eta))


def test_integral_past_the_peak_has_its_exponent_reversed() -> None:
    for eta in (1.2, 2.0, 10.0):
        for rho in (0.0, 0.5, 1.0):

            def printed(k: float, eta: float = eta, rho: float = rho) -> float:
                return float(eta ** (k * (1.0 - rho)) * math.exp(-(eta**-k)))

            def corrected(k: float, eta: float = eta, rho: float = rho) -> float:
                return float(eta ** (k * (1.0 - rho)) * math.exp(-(eta**k)))

            for k in (1.0, 10.0, 100.0):
                assert printed(k) >= math.exp(-1.0)  # never falls: the integral is infinite
            end = math.log(700.0) / math.log(eta)
            assert integrate.quad(corrected, 0.0, end, limit=500)[0] <= 1.0 / (math.e * math.log(eta)) + 1e-9


def test_integral_before_lambda_lacks_eta() -> None:
    for eta in (1.2, 2.0, 10.0):
        for limit in (0.2, 3.0, 50.0):
            crossing = math.log(limit) / math.log(eta)
            value = eta * integrate.quad(lambda k, eta=eta: eta**k, 0.0, crossing)[0]
            assert abs(value - eta * (limit - 1.0) / math.log(eta)) < 1e-6
            assert abs(value - (limit - 1.0) / math.log(eta)) > 0.01
            assert (value < 0.0) == (limit < 1.0)  # no bound on a part of a positive integral where λ < 1
            for x in np.array([0.01, 0.3, 0.99]) / limit:
                for rho in (0.0, 0.5, 1.0):
                    assert value <= eta * limit**rho * x ** (rho - 1.0) / math.log(eta)  # the 1 in 1 + 1/e, with its η
    # At ρ = 0, η^k = λ^ρ η^{k(1-ρ)} holds for every k: k_λ is to be defined by η^{k_λ} = λ.
    assert all(2.0**k == 7.0**0.0 * 2.0 ** (k * (1.0 - 0.0)) for k in range(5))
