"""Claim 6: the worst case over all means, as Theorem 1 gives it and as it is measured."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence

import numpy as np

from ocucb.compiled import Floats
from ocucb.lab.chart import Chart, Line
from ocucb.lab.exact import exact_regret
from ocucb.lab.problem import Problem, worst_case
from ocucb.noise import Bernoulli
from ocucb.paper.claim import Check, Conclusion, Effort, Finding, Table, Wrong
from ocucb.paper.evidence import ALARM, Interval, at_most, mean_interval
from ocucb.paper.regrets import format_interval, format_power, largest, quotient, regrets
from ocucb.policies import MOSS, OCUCB, UCB, Greedy, OCUCBn, Policy
from ocucb.theory import worst_case_rate

Rivals = Callable[[Floats], Floats]  # places 2, ..., K in the order of gaps -> least effective arms there
Allowed = Callable[[float, float], float]  # (first n, last n) -> how many times W(n)/√(Kn) may grow

CONSTANT = 4.0
USUAL = OCUCBn(1.1, 0.5)
QUICK_UNITS = (2.0, 3.0, 4.0)  # gaps in units of √(K/n)
FIRST = 16  # log log 16 is 1.02
FULL_UNITS = (1.5, 2.0, 3.0, 4.0, 6.0)


def one_by_one(places: Floats) -> Floats:
    """Return k_i >= i: the i-th arm in the order of gaps has i arms with gaps no larger than its own."""
    return places


def alone(places: Floats) -> Floats:
    """Return k_i >= 1: each arm counts itself only."""
    return np.ones_like(places)


def guaranteed(arms: int, n: float, rivals: Rivals) -> float:
    """Return what Theorem 1's sum, with e in it, leaves of the regret for any gaps in [0, 1].

    Arms with gaps below δ = √(K log log n / n) cost n δ at most together. Each other arm costs at most the largest
    Δ + (1/Δ) log max{nΔ² log(n)/k_i, log n, e} over Δ in [δ, 1], which is no more than 1 and the larger of two
    values of the second part: at δ, and where nΔ² log(n)/k_i = e², if that is above δ.
    """
    log = math.log(n)
    delta = math.sqrt(arms * math.log(log) / n)
    if delta >= 1.0:
        return n
    effective = rivals(np.arange(2.0, arms + 1.0))
    at_delta = np.log(np.maximum(n * delta**2 * log / effective, max(log, math.e))) / delta
    peak = math.e * np.sqrt(effective / log) / math.sqrt(n)
    at_peak = np.where(peak > delta, max(2.0, math.log(log)) / peak, 0.0)
    return n * delta + float(np.sum(1.0 + np.maximum(at_delta, at_peak)))


def check_guarantee(effort: Effort, *, rivals: Rivals = one_by_one) -> Finding:
    """Compare the worst case of Theorem 1's sum with √(K n log log n), with a constant named beforehand."""
    powers = effort.pick((2, 3, 4, 5, 6, 8, 10, 15, 20, 50, 100, 200, 300), tuple(range(2, 301)))
    arms = (2, 10, 100, 1_000, 10_000, *effort.pick((100_000,), (100_000, 1_000_000)))
    ratios: dict[tuple[int, int], float] = {}
    for k in arms:
        for digits in powers:
            if 10**digits >= k:
                n = 10.0**digits
                rate = float(worst_case_rate(k, n)) * math.sqrt(math.log(math.log(n)))
                ratios[k, digits] = guaranteed(k, n, rivals) / rate
    worst = max(ratios, key=lambda key: ratios[key])
    fails = ratios[worst] > CONSTANT
    case = f"K = {worst[0]}, n = 10^{worst[1]}: {ratios[worst]:.3f} times √(K n log log n)"
    shown = [digits for digits in powers if digits in (6, 8, 10, 20, 50, 100, 300)]
    return Finding(
        Conclusion.FAILS if fails else Conclusion.HOLDS,
        f"For K from 2 to {format_power(arms[-1])} and n from K to 10^300 the worst case of the sum is at most "
        f"{ratios[worst]:.2f} √(K n log log n), where 4 is allowed; the most at {case}.",
        0.0,
        case if fails else "",
        (
            Table(
                "Worst case of Theorem 1's sum over √(K n log log n)",
                ("K", *(f"n = 10^{digits}" for digits in shown)),
                tuple((format_power(k), *(f"{ratios[k, digits]:.3f}" for digits in shown)) for k in arms),
            ),
        ),
    )


def level(first: float, last: float) -> float:
    """Return how a constant grows: not at all."""
    return 1.0


def double_logarithm(first: float, last: float) -> float:
    """Return how √(log log n) grows."""
    return math.sqrt(math.log(math.log(last)) / math.log(math.log(first)))


def _ocucb_n(horizon: int) -> Policy:
    return OCUCBn()


def _ucb(horizon: int) -> Policy:
    return UCB()


POLICIES: Mapping[str, Callable[[int], Policy]] = {"OCUCB-n": _ocucb_n, "OCUCB": OCUCB, "MOSS": MOSS, "UCB": _ucb}
CLAIMED: Mapping[str, Allowed] = {"OCUCB-n": double_logarithm, "OCUCB": level, "MOSS": level}


def check_growth(effort: Effort, *, claimed: Mapping[str, Allowed] = CLAIMED) -> Finding:
    """Measure the largest regret over gaps, divided by √(Kn), and how it grows with n."""
    cases = effort.pick(
        {10: {500: 300, 50_000: 90}},
        {2: {100: 4_000, 10_000: 1_500, 1_000_000: 300}, 10: {500: 2_000, 5_000: 800, 50_000: 400, 500_000: 200}},
    )
    units = effort.pick(QUICK_UNITS, FULL_UNITS)
    of = len(POLICIES) * len(units) * sum(len(sizes) for sizes in cases.values())
    worst: dict[tuple[str, int], dict[int, Interval]] = {}
    for name, make in POLICIES.items():
        for arms, sizes in cases.items():
            worst[name, arms] = {
                n: largest([_scaled(make(n), arms, unit, n, runs, effort.seed, of) for unit in units])
                for n, runs in sizes.items()
            }
    grown = {key: quotient(sizes[max(sizes)], sizes[min(sizes)]) for key, sizes in worst.items()}
    limits = {key: claimed[key[0]](min(worst[key]), max(worst[key])) for key in worst if key[0] in claimed}
    conclusion = at_most([grown[key] for key in limits], limits.values())
    over = max(limits, key=lambda key: grown[key].low / limits[key])
    told = "is" if all(grown["UCB", arms].low > 1.0 for arms in cases) else "is not"
    return Finding(
        conclusion,
        " ".join(_sentence(arms, grown, limits, cases[arms]) for arms in cases)
        + " √(log log n) grows so little that no n tells it from a constant, and none says that a constant stays one; "
        f"the √(log n) of UCB {told} told from a constant here.",
        ALARM,
        f"{over[0]}, K = {over[1]}: W(n)/√(Kn) grows {format_interval(grown[over])} times from "
        f"n = {format_power(min(worst[over]))} to {format_power(max(worst[over]))}, allowed {limits[over]:.3f} times."
        if conclusion is Conclusion.FAILS
        else "",
        (_table(worst, grown, limits, units),),
        (_chart(worst, max(cases)),),
    )


def _scaled(policy: Policy, arms: int, unit: float, n: int, runs: int, seed: int, of: int) -> Interval:
    regret = regrets(policy, worst_case(arms, unit * math.sqrt(arms / n)), (n,), runs, seed)
    return mean_interval(regret[:, 0] / float(worst_case_rate(arms, n)), of)


def _sentence(
    arms: int,
    grown: Mapping[tuple[str, int], Interval],
    limits: Mapping[tuple[str, int], float],
    sizes: Mapping[int, int],
) -> str:
    parts = [
        f"{name} {format_interval(grown[name, arms])}"
        + (f" (claimed {limits[name, arms]:.2f})" if (name, arms) in limits else "")
        for name in POLICIES
    ]
    return (
        f"K = {arms}: from n = {format_power(min(sizes))} to {format_power(max(sizes))} the largest regret over √(Kn) "
        f"grows by a factor of {', '.join(parts)}."
    )


def _table(
    worst: Mapping[tuple[str, int], Mapping[int, Interval]],
    grown: Mapping[tuple[str, int], Interval],
    limits: Mapping[tuple[str, int], float],
    units: Sequence[float],
) -> Table:
    return Table(
        f"Largest regret over √(Kn), for gaps of {', '.join(f'{unit:g}' for unit in units)} √(K/n)",
        ("policy", "K", "W(n)/√(Kn)", "growth", "claimed at most"),
        tuple(
            (
                name,
                str(arms),
                "; ".join(f"n = {format_power(n)}: {interval.value:.3f}" for n, interval in sizes.items()),
                format_interval(grown[name, arms], 3),
                f"{limits[name, arms]:.3f}" if (name, arms) in limits else "nothing",
            )
            for (name, arms), sizes in worst.items()
        ),
    )


def _chart(worst: Mapping[tuple[str, int], Mapping[int, Interval]], arms: int) -> Chart:
    lines = []
    for name in POLICIES:
        low, value, high = (list(ends) for ends in zip(*worst[name, arms].values(), strict=True))
        lines.append(Line(name, list(worst[name, arms]), value, low, high))
    return Chart(f"The worst case, K = {arms}", "n", "largest regret / √(Kn)", tuple(lines), x_scale="log")


def check_exactly(effort: Effort, *, policy: Policy = USUAL) -> Finding:
    """Compute W(n) for two Bernoulli arms without error bars, and compare how W(n)/√n and √(log log n) grow."""
    n, count = effort.pick((48, 10), (120, 40))
    gaps = np.geomspace(0.05, 0.95, count)
    curves = [
        exact_regret(Problem((0.5 + gap / 2.0, 0.5 - gap / 2.0), Bernoulli()), policy, n) for gap in gaps.tolist()
    ]
    worst = np.max(curves, axis=0)
    rounds = np.arange(FIRST, n + 1)
    shares = worst[FIRST - 1 :] / np.sqrt(2.0 * rounds)
    allowed = np.sqrt(np.log(np.log(rounds)) / math.log(math.log(FIRST)))
    growth = shares / shares[0]
    holds = bool((growth <= allowed * (1.0 + 1e-9)).all())
    far = 1 + int((growth / allowed)[1:].argmax())
    words = f"n = {rounds[far]}: {growth[far]:.4f} times what it is at n = {FIRST}, allowed {allowed[far]:.4f}"
    return Finding(
        Conclusion.HOLDS if holds else Conclusion.FAILS,
        f"From n = {FIRST} to {n}, W(n)/√(2n) lies between {shares.min():.4f} and {shares.max():.4f}. Nearest to what "
        f"is allowed: {words}.",
        counterexample="" if holds else words,
        charts=(
            Chart(
                "The worst case of two Bernoulli arms, exactly",
                "n",
                "W(n)/√(2n)",
                (
                    Line(f"{policy.name}", rounds.tolist(), shares.tolist()),
                    Line("allowed", rounds.tolist(), (shares[0] * allowed).tolist(), bound=True),
                ),
            ),
        ),
    )


CHECKS: tuple[Check, ...] = (
    Check(
        "from Theorem 1",
        ("thm:main",),
        "Theorem 1 implies a worst-case regret within a factor of √(log log n) of the best possible, √(Kn).",
        "The i-th arm in the order of gaps has k_i ≥ i, whatever ρ is. So arms with gaps below δ = √(K log log n / "
        "n) cost nδ at most and each other arm what its term of the sum is at its largest; with pencil that is at "
        "most 3 √(K n log log n), and 1 for the first pull of each arm, so 4 √(K n log log n) when n ≥ K. Computed "
        "for gaps of at most 1, with e in the maximum, for n up to 10^300, where log log n is 6.5.",
        check_guarantee,
        Wrong("No effective arms: k_i = 1 for every arm, as in the bound for KL-UCB+.", {"rivals": alone}),
    ),
    Check(
        "growth with n",
        ("thm:main",),
        "Over all means, OCUCB-n loses a factor of √(log log n) at most against √(Kn); MOSS and OCUCB, which know n, "
        "lose a constant only.",
        "Each policy is played on equal gaps of a few times √(K/n), where its regret is largest. W(n) is the largest "
        "mean; how much W(n)/√(Kn) grows from the first n to the last is compared with the growth claimed: √(log log "
        "n) or none. UCB, for which nothing is claimed, is played beside them.",
        check_growth,
        Wrong("UCB is claimed to lose a constant only.", {"claimed": {**CLAIMED, "UCB": level}}),
    ),
    Check(
        "two arms, exactly",
        ("thm:main",),
        "Over all means, OCUCB-n loses a factor of √(log log n) at most against √(Kn). Executed for two Bernoulli "
        "arms, without error bars: W(n)/√(2n) grows no faster than √(log log n) from n = 16 on, where this is 1.",
        "Regret itself, by dynamic programming over all that can happen (`ocucb.lab.exact_regret`), for means around "
        "1/2 with many gaps, of which W(n) is the largest regret.",
        check_exactly,
        Wrong("Greedy play, whose regret grows like n.", {"policy": Greedy()}),
    ),
)
