"""Claim 8: KL-UCB+, at finite time and for n without end, for Gaussian and Bernoulli rewards."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial

from ocucb.compiled import Floats, Parameters, kernel
from ocucb.lab.problem import Problem, bernoulli_rare, bernoulli_worst_case, worst_case
from ocucb.noise import Bernoulli
from ocucb.paper.claim import Check, Conclusion, Effort, Finding, Nature, Table, Wrong
from ocucb.paper.claims.finite_time import problems
from ocucb.paper.constant import RegretInstance, find_constant
from ocucb.paper.evidence import ALARM, Interval, at_most, mean_interval
from ocucb.paper.regrets import decades, format_interval, quotient, regrets
from ocucb.paper.slopes import ClaimedSlope, find_slopes
from ocucb.policies import UCB, KLUCBPlus, LevelPolicy, Policy
from ocucb.theory import (
    asymptotic_slope,
    gaps,
    klucb_plus_bernoulli_sum,
    klucb_plus_sum,
    lai_robbins_slope,
)

Statement = Callable[..., Floats]  # (means, n) -> the sum at each n
Algorithm = Callable[[float], Policy]  # η -> policy

corrected = partial(klucb_plus_sum, corrected=True)
corrected_bernoulli = partial(klucb_plus_bernoulli_sum, corrected=True)


def without_logarithm(means: tuple[float, ...], n: tuple[int, ...]) -> Floats:
    """Return Σ (Δ_i + 1/Δ_i) at each n: the bound without its logarithm."""
    gap = gaps(means)
    gap = gap[gap > 0.0]
    return 0.0 * corrected(means, n) + float((gap + 1.0 / gap).sum())


def check_gaussian(effort: Effort, *, statement: Statement = klucb_plus_sum) -> Finding:
    """Measure the constant that KL-UCB+ needs before its sum, and compare it with 2η."""
    blocks = effort.pick(((2, 4, 80), (10, 4, 30), (100, 4, 15)), ((2, 6, 200), (10, 5, 200), (100, 5, 40)))
    instances = [
        RegretInstance(f"η = {eta:g}", KLUCBPlus(eta), problem, decades(2, digits), runs, 2.0 * eta)
        for arms, digits, runs in blocks
        for eta in effort.pick((1.1,), (1.01, 1.1, 2.0))
        for problem in problems(arms)
    ]

    def sums(instance: RegretInstance) -> Floats:
        return statement(instance.problem.means, instance.horizons)

    return find_constant(instances, sums, effort.seed, "2η")


def bernoulli_problems() -> list[Problem]:
    """Return Bernoulli problems: even and rare and frequent successes, near and far, few and many arms."""
    pairs = ((0.5, 0.4), (0.9, 0.1), (0.99, 0.9), (0.1, 0.05), (0.01, 0.001), (0.5, 0.0))
    return [
        *(Problem(pair, Bernoulli(), f"Bernoulli {pair[0]:g} and {pair[1]:g}") for pair in pairs),
        bernoulli_worst_case(10, 0.5, 0.1),
        bernoulli_rare(),
    ]


def check_bernoulli(effort: Effort, *, statement: Statement = klucb_plus_bernoulli_sum) -> Finding:
    """Measure the constant that KL-UCB+ needs before its sum for Bernoulli rewards, and compare it with η."""
    digits, runs = effort.pick((4, 200), (5, 600))
    instances = [
        RegretInstance(f"η = {eta:g}", KLUCBPlus(eta), problem, decades(2, digits), runs, eta)
        for eta in effort.pick((1.1,), (1.01, 1.1, 2.0))
        for problem in bernoulli_problems()
    ]

    def sums(instance: RegretInstance) -> Floats:
        return statement(instance.problem.means, instance.horizons)

    return find_constant(instances, sums, effort.seed, "η")


def without_bernoulli_logarithm(means: tuple[float, ...], n: tuple[int, ...]) -> Floats:
    """Return Σ (Δ_i + Δ_i/d_i) at each n: the bound without its logarithm."""
    return 0.0 * corrected_bernoulli(means, n) + corrected_bernoulli(means, (1,))


@kernel
def printed_level(t: float, pulls: float, effective: float, arms: float, parameters: Parameters) -> float:
    return parameters[0] * pulls * math.log(max(1.0, t / pulls))


def printed_index(eta: float) -> Policy:
    """Return the index of the commented block, the largest θ with d(mean, θ) <= η log(t/T), not divided by T."""
    return LevelPolicy("kl-ucb+ without 1/T", printed_level, {"eta": eta}, trend="neither")


def check_index(effort: Effort, *, algorithm: Algorithm = printed_index) -> Finding:
    """Ask whether the share of rounds that goes to the worse of two arms falls as n grows tenfold."""
    first, last = 1_000, 10_000
    pairs = ((0.5, 0.4), (0.9, 0.1), (0.1, 0.05))
    shares: dict[str, tuple[Interval, Interval]] = {}
    for best, other in pairs:
        problem = Problem((best, other), Bernoulli(), f"{best:g} and {other:g}")
        regret = regrets(algorithm(1.1), problem, (first, last), effort.pick(50, 1_000), effort.seed) / (best - other)
        shares[problem.name] = (
            mean_interval(regret[:, 0] / first, 2 * len(pairs)),
            mean_interval(regret[:, 1] / last, 2 * len(pairs)),
        )
    change = {name: quotient(late, early) for name, (early, late) in shares.items()}
    conclusion = at_most(change.values(), [0.5] * len(pairs))
    worst = max(change, key=lambda name: change[name].low)
    early, late = map(_percent, shares[worst])
    case = f"means {worst}, η = 1.1: {early} at n = {first}, {late} at n = {last}"
    return Finding(
        conclusion,
        f"The worse arm's share of the rounds falls least for {case}. With a regret of order log n it falls to about "
        "a seventh; below one half was asked.",
        ALARM,
        f"Rounds that go to the worse arm, {case}." if conclusion is Conclusion.FAILS else "",
        (
            Table(
                "Rounds that go to the worse of two Bernoulli arms",
                ("means", f"n = {first}", f"n = {last}", "change"),
                tuple((name, *map(_percent, shares[name]), format_interval(change[name])) for name in shares),
            ),
        ),
    )


def _percent(share: Interval) -> str:
    return f"{100 * share.value:.2f}% [{100 * share.low:.2f}, {100 * share.high:.2f}]"


def ucb_squared(eta: float) -> Policy:
    """Return UCB with the level η log(t²)."""
    return UCB(4.0 * eta)


def check_slope(effort: Effort, *, algorithm: Algorithm = KLUCBPlus) -> Finding:
    """Measure the slope of regret in log n for both noise models and compare it with η times Lai and Robbins'."""
    eta, label = 1.1, "η = 1.1"
    gaussian = [worst_case(2, 1.0), Problem((0.0,) + (-0.5,) * 3 + (-1.0,) * 3 + (-2.0,) * 3, name="ten Gaussian arms")]
    bernoulli = [
        Problem((0.8, 0.3), Bernoulli(), "Bernoulli 0.8 and 0.3"),
        Problem((0.9,) + (0.6,) * 4 + (0.3,) * 4, Bernoulli(), "nine Bernoulli arms"),
    ]
    rows = [
        *(ClaimedSlope(label, algorithm(eta), problem, asymptotic_slope(problem.means, eta)) for problem in gaussian),
        *(
            ClaimedSlope(label, algorithm(eta), problem, eta * lai_robbins_slope(problem.means, problem.noise))
            for problem in bernoulli
        ),
    ]
    return find_slopes(rows, effort.pick(decades(2, 5), decades(2, 7)), effort.pick(120, 100), effort.seed)


_GAUSSIAN = (
    "If the asymptotic remark is right, regret divided by the sum comes to 2η at most for large n. Asked is whether "
    "that constant, fixed beforehand, is enough at every finite n too: KL-UCB+ is played on the problems of claim 2, "
    "and its mean regret is divided by 2η times the sum."
)
_BERNOULLI = (
    "If regret rises like η Σ Δ_i/d_i times log n, regret divided by the sum comes to η for large n. Asked is "
    "whether that constant, fixed beforehand, is enough at every finite n too: KL-UCB+ with the Bernoulli divergence "
    "is played on even, rare and frequent successes, and its mean regret is divided by η times the sum."
)
_INDEX = (
    "Two arms are played with this index, and the share of rounds that goes to the worse one is measured after 1000 "
    "and after 10000 rounds. If regret is of order log n, it falls to about a seventh in between; asked is whether "
    "it falls below one half."
)

CHECKS: tuple[Check, ...] = (
    Check(
        "finite time as printed",
        ("eq:ucb+", "sec:warmup"),
        "For subgaussian noise, KL-UCB+ has a regret of O_η(1) times Σ (Δ_i + (1/Δ_i) log(nΔ_i²)).",
        _GAUSSIAN,
        check_gaussian,
        None,
    ),
    Check(
        "finite time",
        ("eq:ucb+", "sec:warmup"),
        "The same with log max{e, nΔ_i²}, which is what Lemma tail gives: it has log₊ where the text has log, and "
        "speaks of numbers above 1 only. As printed the sum is negative for small gaps at every n.",
        _GAUSSIAN,
        check_gaussian,
        Wrong("The sum without its logarithm, Σ (Δ_i + 1/Δ_i).", {"statement": without_logarithm}),
        {"statement": corrected},
        corrects="finite time as printed",
    ),
    Check(
        "Bernoulli as printed",
        ("sec:warmup",),
        "In the part of the source that is commented out: for Bernoulli rewards regret is at most C_η Σ (Δ_i + "
        "(Δ_i/d_i) log(n d_i)), where d_i = d(μ_i, μ*).",
        _BERNOULLI,
        check_bernoulli,
        None,
    ),
    Check(
        "Bernoulli",
        ("sec:warmup",),
        "The same with log max{e, n d_i}: as printed the sum is negative where n d_i is small.",
        _BERNOULLI,
        check_bernoulli,
        Wrong("The sum without its logarithm, Σ (Δ_i + Δ_i/d_i).", {"statement": without_bernoulli_logarithm}),
        {"statement": corrected_bernoulli},
        corrects="Bernoulli as printed",
    ),
    Check(
        "Bernoulli index as printed",
        ("sec:warmup",),
        "In the same part, the index for Bernoulli rewards is the largest θ with d(mean_i, θ) ≤ η log(t/T_i), and "
        "gives a regret of order log n.",
        _INDEX,
        check_index,
        None,
    ),
    Check(
        "Bernoulli index",
        ("sec:warmup",),
        "The same with d(mean_i, θ) ≤ (η/T_i) log(t/T_i), as in the Gaussian index. Without the division by T_i the "
        "indices of all arms can be equal only if each arm keeps a share of the rounds, exp(-d(μ_i, θ)/η), so that "
        "regret grows like n.",
        _INDEX,
        check_index,
        Wrong("No division by T_i, as printed.", {"algorithm": printed_index}),
        {"algorithm": KLUCBPlus},
        corrects="Bernoulli index as printed",
    ),
    Check(
        "slope",
        ("sec:warmup",),
        "Regret divided by log n comes to Σ 2η/Δ_i at most as n goes to infinity, a factor of η from the lower bound "
        "of Lai and Robbins; for Bernoulli rewards and their divergence this reads η Σ Δ_i/d_i.",
        "KL-UCB+ is played for long with Gaussian and with Bernoulli rewards. Over the last two decades of n, the "
        "rise of mean regret per unit of log n is compared with the slope claimed; a rise above it is called a "
        "failure.",
        check_slope,
        Wrong("UCB with the level η log(t²), so that its regret rises twice as fast.", {"algorithm": ucb_squared}),
        nature=Nature.ONE_SIDED,
    ),
)
