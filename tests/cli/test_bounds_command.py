"""`ocucb bounds`: what it prints is what `ocucb.theory` says."""

from __future__ import annotations

import re

import pytest

from cli.command import lines
from ocucb import cli
from ocucb.noise import Bernoulli, Gaussian
from ocucb.theory import (
    asymptotic_slope,
    effective_arms,
    finite_time_sum,
    lai_robbins_slope,
    lower_bound,
    regret_bound,
)
from ocucb.theory.theorem_bound import theorem_bound


def numbers(text: str) -> list[float]:
    """Return the values in the table of bounds."""
    rows = [line for line in text.splitlines() if re.match(r"Theorem 1, |Upper bound|Lai–Robbins, |Appendix A, ", line)]
    return [float(re.split(r"\s{2,}", line)[1]) for line in rows]


def test_bounds(capsys: pytest.CaptureFixture[str]) -> None:
    means, n, rho, eta = [0.9, 0.6, 0.6, 0.1], 20_000, 0.75, 1.5
    words = ["bounds", "--means", "0.9,0.6,0.6,0.1", "--horizon", "20_000", "--rho", "0.75", "--eta", "1.5"]
    assert cli.exit_code(words) == 0
    out = capsys.readouterr().out
    assert numbers(out) == pytest.approx(
        [
            float(finite_time_sum(means, n, rho)),
            asymptotic_slope(means, eta),
            regret_bound(means, n, eta, rho).value,
            float(f"{theorem_bound(means, n, eta, rho):.3g}"),
            lai_robbins_slope(means, Gaussian()),
            float(lower_bound(means, n)),
        ],
        rel=1e-5,
    )
    effective = effective_arms(means, rho)
    assert [float(word) for word in lines(out)["1–2"]] == pytest.approx([0.6, 0.3, float(effective[1])], rel=1e-5)
    assert "its condition holds" in " ".join(out.split())


def test_bounds_of_other_noise(capsys: pytest.CaptureFixture[str]) -> None:
    means = [0.9, 0.6]
    assert cli.exit_code(["bounds", "--means", "0.9,0.6", "--noise", "bernoulli", "--horizon", "10"]) == 0
    out = capsys.readouterr().out
    found = re.search(r"Theorem 1, slope +(\S+)", out)
    assert found is not None
    assert float(found[1]) == pytest.approx(2 * 1.1 * 0.25 / 0.3, rel=1e-5)
    least = re.search(r"Lai–Robbins, slope +(\S+)", out)
    assert least is not None
    assert float(least[1]) == pytest.approx(lai_robbins_slope(means, Bernoulli()), rel=1e-5)
    assert re.search(r"Appendix A, sum +– +is for Gaussian noise", out)
    assert re.search(r"Upper bound +– +is for Gaussian bounds", out)
    assert cli.exit_code(["bounds", "--means", "3,2", "--noise", "poisson"]) == 0
    assert "needs subgaussian noise, which poisson is not" in capsys.readouterr().out
    assert cli.exit_code(["bounds", "--means", "3,2.9", "--horizon", "10"]) == 0
    out = " ".join(capsys.readouterr().out.split())
    assert "its condition does not hold" in out
    assert "Upper bound 1 n times the largest gap" in out
