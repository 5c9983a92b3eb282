"""Claim 14: the Discussion on bounds by the divergence of the noise; `posterior` has those that are sharper still."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ocucb.compiled import Floats, Parameters, kernel
from ocucb.lab.chart import Chart, Line
from ocucb.lab.problem import Problem, bernoulli_rare, bernoulli_worst_case
from ocucb.noise import Bernoulli, Gaussian, Noise
from ocucb.noise.binary import relative_entropy
from ocucb.noise.noise import Family
from ocucb.paper.claim import Check, Conclusion, Effort, Finding, Table, Wrong
from ocucb.paper.claims import posterior
from ocucb.paper.evidence import ALARM, Interval, at_most
from ocucb.paper.paired import change, format_percent
from ocucb.paper.regrets import format_power, regrets
from ocucb.policies import OCUCBn

BERNOULLI = Bernoulli()
HALVINGS = 16  # of an interval, to about 2e-5


@dataclass(frozen=True)
class Believed(Noise):
    """Rewards of one family, met by a policy with the bounds of another."""

    rewards: Noise
    bounds: Noise

    def family(self) -> Family:
        """Return the bounds of the one with the rewards of the other, which must read no parameters of its own."""
        return self.bounds.family()._replace(quantile=self.rewards.family().quantile)

    def support(self) -> tuple[float, float]:
        return self.rewards.support()

    def standard_deviation(self, mean: float) -> float:
        return self.rewards.standard_deviation(mean)


@kernel
def exchanged(p: float, q: float, family: Parameters) -> float:
    return relative_entropy(q, 1.0 - q, p, 1.0 - p, p - q)


@kernel
def upper_exchanged(mean: float, pulls: float, level: float, family: Parameters) -> float:
    """Return about the largest q >= mean with pulls * d(q, mean) <= level."""
    low, high = mean, 1.0
    for _ in range(HALVINGS):
        middle = 0.5 * (low + high)
        if pulls * relative_entropy(middle, 1.0 - middle, mean, 1.0 - mean, mean - middle) <= level:
            low = middle
        else:
            high = middle
    return low


@dataclass(frozen=True)
class Exchanged(Bernoulli):
    """Bernoulli bounds with the arguments of the divergence exchanged."""

    def family(self) -> Family:
        return Bernoulli().family()._replace(divergence=exchanged, upper=upper_exchanged)


def check_regret(effort: Effort, *, bounds: Noise = BERNOULLI) -> Finding:
    """Play OCUCB-n on Bernoulli rewards with these bounds and with subgaussian ones, on the same rewards."""
    n = effort.pick((5_000,), (5_000, 50_000))
    runs = effort.pick((60, 60, 300), (2_000, 2_000, 5_000))
    problems = (bernoulli_rare(), bernoulli_worst_case(10, 0.9, 0.1), bernoulli_worst_case(10, 0.5, 0.1))
    cases = [
        (problem, count // (1 if m == n[0] else 5), m) for m in n for problem, count in zip(problems, runs, strict=True)
    ]
    changes: list[Interval] = []
    rows: list[tuple[str, ...]] = []
    for problem, count, m in cases:
        wide, tight = (
            _play(problem, Believed(Bernoulli(), belief), m, count, effort.seed) for belief in (Gaussian(0.5), bounds)
        )
        changes.append(change(tight, wide, len(cases)))
        means = f"{wide.mean():.1f}", f"{tight.mean():.1f}"
        rows.append((problem.name, format_power(m), str(count), *means, format_percent(changes[-1])))
    conclusion = at_most(changes, [0.0] * len(cases))
    worst = max(range(len(cases)), key=lambda k: changes[k].value)
    best = min(range(len(cases)), key=lambda k: changes[k].value)
    told = [f"{cases[k][0].name}, n = {format_power(cases[k][2])}: {format_percent(changes[k])}" for k in (best, worst)]
    return Finding(
        conclusion,
        f"Most changed: {told[0]}. Least: {told[1]}.",
        ALARM,
        f"{told[1]}, η = 1.1, ρ = 1/2." if conclusion is Conclusion.FAILS else "",
        (
            Table(
                "Mean regret of OCUCB-n on Bernoulli rewards",
                ("problem", "n", "runs", "subgaussian bounds", "divergence", "change"),
                tuple(rows),
            ),
        ),
    )


def _play(problem: Problem, noise: Noise, n: int, runs: int, seed: int) -> Floats:
    return regrets(OCUCBn(), Problem(problem.means, noise, problem.name), (n,), runs, seed)[:, 0]


def check_width(effort: Effort, *, scale: float = 0.5) -> Finding:
    """Compare the bound by the Bernoulli divergence with the subgaussian one at many means and levels."""
    steps = effort.pick(200, 4_000)
    means = np.linspace(0.0, 1.0, steps + 1)
    shares = (0.01, 0.03, 0.1, 0.3, 1.0, 3.0)  # level over pulls
    tight, wide = Bernoulli(), Gaussian(scale)
    rises = {x: np.array([tight.upper(m, x) - m for m in means.tolist()]) for x in shares}
    limits = {x: wide.upper(0.0, x) for x in shares}
    excess = {x: rise - limits[x] for x, rise in rises.items()}
    worst = max(shares, key=lambda x: float(excess[x].max()))
    at = int(excess[worst].argmax())
    fails = float(excess[worst][at]) > 0.0
    case = f"mean {means[at]:g}, level/pulls = {worst:g}: {rises[worst][at]:.6f} and {limits[worst]:.6f} above the mean"
    drawn = means[:: steps // 200]
    lines = [
        Line(f"divergence, L/T = {x:g}", drawn.tolist(), rises[x][:: steps // 200].tolist()) for x in (0.01, 0.1, 1.0)
    ]
    lines += [Line(f"subgaussian, L/T = {x:g}", [0.0, 1.0], [limits[x]] * 2, bound=True) for x in (0.01, 0.1)]
    return Finding(
        Conclusion.FAILS if fails else Conclusion.HOLDS,
        f"At {len(shares) * len(means)} points the bound by the divergence is "
        + ("not always the tighter" if fails else "the tighter one")
        + f". Nearest to each other, or most exceeded: {case}.",
        0.0,
        f"{case}, for the divergence and the subgaussian bound." if fails else "",
        charts=(Chart("How far a bound is above the mean", "mean", "distance", tuple(lines)),),
    )


_PLACES = ("informational confidence bounds",)

CHECKS: tuple[Check, ...] = (
    Check(
        "divergence, its width",
        _PLACES,
        "Where more is known of the noise, for example that it is bounded, bounds by the KL divergence can be "
        "substituted without loss.",
        "For rewards in [0, 1] the largest q with T d(mean, q) ≤ L is compared with the subgaussian bound at scale "
        "1/2, mean + √(L/(2T)), at means from 0 to 1 and L/T from 0.01 to 3. Its width is at most that of the other.",
        check_width,
        Wrong("The subgaussian scale 1/4, which rewards in [0, 1] need not have.", {"scale": 0.25}),
    ),
    Check(
        "divergence, its regret",
        _PLACES,
        "Bounds by the KL divergence improve performance for bounded rewards.",
        "OCUCB-n with η = 1.1 and ρ = 1/2 meets the same Bernoulli rewards twice: with the bounds of their divergence, "
        "and with subgaussian bounds of scale 1/2. Rare successes, frequent ones, and even ones, where the two bounds "
        "are almost the same. Asked is whether mean regret is less on every problem.",
        check_regret,
        Wrong("The arguments of the divergence exchanged, d(q, mean) for d(mean, q).", {"bounds": Exchanged()}),
    ),
    *posterior.CHECKS,
)
