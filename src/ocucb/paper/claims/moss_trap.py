"""Claim 7: where MOSS suffers and OCUCB-n does not."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ocucb.compiled import Floats
from ocucb.lab.chart import Chart, Line
from ocucb.lab.problem import moss_trap
from ocucb.lab.shard import Shard, play
from ocucb.paper.claim import Check, Effort, Finding, Table, Verdict, Wrong
from ocucb.paper.evidence import ALARM, Interval, at_least, mean_interval, proportion
from ocucb.paper.regrets import format_interval, without_warning
from ocucb.policies import MOSS, OCUCBn, Policy
from ocucb.theory import finite_time_sum

ZERO = "OCUCB-n, ρ = 0"
ROUNDS = 16  # n = 16 K³, so that √(K/n) is the smallest gap, 1/(4K)


class Played(NamedTuple):
    """One value per run: regret, and whether the second best arm was pulled in most of the rounds."""

    regret: Floats
    misjudged: npt.NDArray[np.bool_]


def ocucb_n() -> Policy:
    """Return OCUCB-n with its canonical ρ."""
    return OCUCBn(1.1, 0.5)


def anytime_moss() -> Policy:
    """Return OCUCB-n with ρ = 0 and without its logarithms, L = η log⁺(t/(K T)): MOSS with t for n."""
    return without_warning(OCUCBn, 1.1, 0.0, "all")


def check_trap(effort: Effort, *, algorithm: Callable[[], Policy] = ocucb_n) -> Finding:
    """Count on the same rewards how often MOSS, and how often the algorithm, settles on the second best arm."""
    sizes = effort.pick({10: 800, 20: 200}, {10: 4_000, 20: 1_000, 30: 500, 100: 300})
    shares: dict[int, Interval] = {}
    played: dict[tuple[str, int], Played] = {}
    for arms, runs in sizes.items():
        n = ROUNDS * arms**3
        policies: dict[str, Policy] = {"MOSS": MOSS(n), "OCUCB-n": algorithm()}
        if arms <= effort.pick(10, 30):
            policies |= {"MOSS, c = 2": MOSS(n, 2.0), ZERO: without_warning(OCUCBn, 1.1, 0.0)}
        played |= {(name, arms): _play(policy, arms, n, runs, effort.seed) for name, policy in policies.items()}
        moss, other = played["MOSS", arms].misjudged, played["OCUCB-n", arms].misjudged
        shares[arms] = proportion(int((moss & ~other).sum()), int((moss ^ other).sum()), len(sizes))
    verdict = at_least(shares.values(), [0.5] * len(shares))
    worst = min(shares, key=lambda arms: shares[arms].high)
    chances = {key: proportion(int(runs.misjudged.sum()), len(runs.misjudged)) for key, runs in played.items()}
    return Finding(
        verdict,
        " ".join(_sentence(arms, shares[arms], chances, played) for arms in sizes) + f" {_movement(chances)}",
        ALARM,
        f"K = {worst}, n = {ROUNDS * worst**3}: where just one of the two settles on the second best arm, it is MOSS "
        f"in a share {format_interval(shares[worst])} of the runs only."
        if verdict is Verdict.FAILS
        else "",
        (_table(played, chances),),
        (_chart(chances),),
    )


def _play(policy: Policy, arms: int, n: int, runs: int, seed: int) -> Played:
    outcome = play(Shard(moss_trap(arms), policy, n, (n,), seed, 0, runs))
    return Played(outcome.regret[:, 0], outcome.pulls[:, 1] > n / 2)


def _sentence(
    arms: int,
    share: Interval,
    chances: Mapping[tuple[str, int], Interval],
    played: Mapping[tuple[str, int], Played],
) -> str:
    moss, other = ("MOSS", arms), ("OCUCB-n", arms)
    difference = mean_interval(played[moss].regret - played[other].regret)
    return (
        f"K = {arms}: MOSS settles on the second best arm in {100 * chances[moss].value:.1f}% of the runs, OCUCB-n in "
        f"{100 * chances[other].value:.1f}%; where just one does, it is MOSS in a share {format_interval(share)}. "
        f"MOSS's regret is larger by {format_interval(difference, 0)}."
    )


def _movement(chances: Mapping[tuple[str, int], Interval]) -> str:
    """Say what the chances mean, and how they depend on ρ at the last K where ρ = 0 was played."""
    arms = max(arms for name, arms in chances if name == ZERO)
    return (
        "Theorem 1 allows a regret of order K log K here. Settling costs nΔ/2 = √(Kn)/2 = 2K² or more, so its chance "
        "should fall like (log K)/K; the whole regret shows this only at larger K. OCUCB-n with ρ = 0 "
        f"settles on the second best arm in {100 * chances[ZERO, arms].value:.1f}% of the runs at K = {arms}, with ρ "
        f"= 1/2 in {100 * chances['OCUCB-n', arms].value:.1f}%."
    )


def _table(played: Mapping[tuple[str, int], Played], chances: Mapping[tuple[str, int], Interval]) -> Table:
    return Table(
        "On moss_trap(K), n = 16 K³",
        ("policy", "K", "runs", "settles on the second best arm", "regret", "over Theorem 1's sum"),
        tuple(
            (
                name,
                str(arms),
                str(len(runs.regret)),
                format_interval(chances[name, arms], 3),
                format_interval(mean_interval(runs.regret), 0),
                f"{runs.regret.mean() / float(finite_time_sum(moss_trap(arms).means, ROUNDS * arms**3)):.2f}",
            )
            for (name, arms), runs in sorted(played.items(), key=lambda item: item[0][::-1])
        ),
    )


def _chart(chances: Mapping[tuple[str, int], Interval]) -> Chart:
    lines = []
    for name in ("MOSS", "OCUCB-n"):
        mine = {arms: chance for (other, arms), chance in chances.items() if other == name}
        low, value, high = (list(ends) for ends in zip(*mine.values(), strict=True))
        lines.append(Line(name, list(mine), value, low, high))
    return Chart(
        "Settled on the second best arm after n = 16 K³ rounds", "K", "probability", tuple(lines), x_scale="log"
    )


CHECKS: tuple[Check, ...] = (
    Check(
        "trap",
        ("thm:main",),
        "MOSS, and OCUCB-n with ρ = 0 which is like it, suffer in some regimes; OCUCB-n with ρ ≥ 1/2 does not.",
        "One arm is 1/(4K) below the best, all others are 1 below. MOSS counts all K arms as rivals and is sure of "
        "an arm after n/K pulls; with n = 16 K³ the gap is then just one standard error. MOSS and OCUCB-n meet the "
        "same rewards. Counted is who settles on the second best arm, that is, pulls it in most rounds; asked is "
        "whether, where just one of the two does, it is MOSS more often than not, for each K.",
        check_trap,
        Wrong(
            "OCUCB-n with ρ = 0 and all its logarithms dropped, which is MOSS without n.", {"algorithm": anytime_moss}
        ),
    ),
)
