"""Lemma tail: how late the last time is at which a mean plus its confidence width is not yet below Δ."""

from __future__ import annotations

import importlib
import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from ocucb.compiled import Floats
from ocucb.lab.chart import Chart, Line
from ocucb.paper.claim import Check, Conclusion, Effort, Finding, Table, Wrong
from ocucb.paper.evidence import ALARM, Interval, at_most, mean_interval, proportion
from ocucb.paper.walks import GAUSSIAN, NAMES, RADEMACHER, UNIFORM, last_times, running_peaks
from ocucb.theory.concentration import (
    maximal_bound,
    sharp_tail_bound,
    sharp_tail_moment,
    tail_bound,
    tail_moment,
    tail_start,
)

_special: Any = importlib.import_module("scipy.special")  # SciPy publishes no types

NOISES = (GAUSSIAN, RADEMACHER, UNIFORM)
ETAS = (1.1, 2.0)
BS = (1.1, math.e, 100.0, 1e7)
PAIRS = sorted(((eta, b) for eta in ETAS for b in BS), key=lambda pair: pair[0] * math.log(pair[1]))
MISSED = 1e-10  # how likely a walk is not yet below Δ for good where it is left
PURPOSE = 300


def moment_bound(b: float, delta: float, eta: float) -> float:
    """Return C_η (1 + log₊(b)/Δ²) with the constant C_η that the proof gives."""
    return 8.0 * eta * math.sqrt(tail_moment()) * (1.0 + max(1.0, math.log(b)) / delta**2)


def moment_without_square(b: float, delta: float, eta: float) -> float:
    """Return the same with Δ in place of Δ²."""
    return 8.0 * eta * math.sqrt(tail_moment()) * (1.0 + max(1.0, math.log(b)) / delta)


def start_without_log(b: float, delta: float, eta: float) -> int:
    """Return t_0 without its log₊(b)."""
    return math.ceil(8.0 * eta / delta**2)


def horizon(delta: float, pairs: Sequence[tuple[float, float]]) -> int:
    """Return a time beyond which τ lies with probability MISSED at most, by `sharp_tail_bound`, for each (η, b)."""
    slack = max(math.sqrt(2.0 * eta * math.log(b)) for eta, b in pairs)
    return math.ceil(((slack + math.sqrt(2.0 * math.log(1.0 / MISSED))) / delta) ** 2)


def taus(noise: int, delta: float, runs: int, seed: int) -> Floats:
    """Return τ as far as walks up to the horizon show it, one row per run, one column per pair of PAIRS."""
    slacks = [math.sqrt(2.0 * eta * math.log(b)) for eta, b in PAIRS]
    last = last_times(noise, delta, slacks, horizon(delta, PAIRS), runs, seed, PURPOSE + noise)
    return last.astype(np.float64) + 1.0


def check_moment(effort: Effort, *, statement: Callable[[float, float, float], float] = moment_bound) -> Finding:
    """Compare √E[τ²] with the lemma's bound, its constant taken from the proof."""
    deltas = effort.pick((3.0, 1.0, 0.25, 0.0625), (3.0, 1.0, 0.25, 0.0625, 0.03125))
    roots: dict[tuple[int, float, float, float], Interval] = {}
    for noise in NOISES:
        for delta in deltas:
            runs = effort.pick(250 if delta < 0.1 else 1_000, 2_000 if delta < 0.1 else 20_000)
            found = taus(noise, delta, runs, effort.seed)
            for column, (eta, b) in enumerate(PAIRS):
                square = mean_interval(found[:, column] ** 2, of=len(NOISES) * len(deltas) * len(PAIRS))
                later = sharp_tail_moment(horizon(delta, PAIRS), b, delta, eta)
                low, high = max(0.0, square.low), square.high + later
                roots[noise, delta, eta, b] = Interval(math.sqrt(low), math.sqrt(square.value), math.sqrt(high))
    limits = {key: statement(key[3], key[1], key[2]) for key in roots}
    conclusion = at_most(roots.values(), limits.values())
    worst = max(roots, key=lambda key: roots[key].value / limits[key])
    noise, delta, eta, b = worst
    at = (
        f"{NAMES[noise]} steps, Δ = {delta:g}, b = {b:.3g}, η = {eta:g}: √E[τ²] = {roots[worst].value:.1f} (at least "
        f"{roots[worst].low:.1f}), bound {limits[worst]:.1f}"
    )
    largest = max(roots[key].value / _form(key[3], key[1]) / key[2] for key in roots)
    return Finding(
        conclusion,
        f"Nearest to the bound, or worst: {at}. Over the grid √E[τ²] is at most {largest:.2f} η (1 + log₊(b)/Δ²); the "
        f"proof's constant is 8η√{tail_moment():.1f} = {8.0 * math.sqrt(tail_moment()):.1f} η. What happens after a "
        f"walk is left adds less than {_missed(deltas):.0e} of the bound's square.",
        ALARM,
        f"{at}." if conclusion is Conclusion.FAILS else "",
        (_moment_table(roots, deltas),),
        (_moment_picture(roots, deltas, limits),),
    )


def _form(b: float, delta: float) -> float:
    return 1.0 + max(1.0, math.log(b)) / delta**2


def _missed(deltas: Sequence[float]) -> float:
    """Return the largest share of the bound's square that comes after the horizon."""
    return max(
        sharp_tail_moment(horizon(delta, PAIRS), b, delta, eta) / moment_bound(b, delta, eta) ** 2
        for delta in deltas
        for eta, b in PAIRS
    )


def _moment_table(roots: dict[tuple[int, float, float, float], Interval], deltas: Sequence[float]) -> Table:
    rows = []
    for delta in deltas:
        for eta, b in ((1.1, math.e), (2.0, 1e7)):
            ratios = [f"{roots[noise, delta, eta, b].value / _form(b, delta):.2f}" for noise in NOISES]
            sharp = math.sqrt(sharp_tail_moment(0.0, b, delta, eta)) / _form(b, delta)
            rows.append(
                (f"{delta:g}", f"{b:.3g}", f"{eta:g}", *ratios, f"{sharp:.2f}", f"{8 * eta * tail_moment() ** 0.5:.1f}")
            )
    header = ("Δ", "b", "η", *(NAMES[noise] for noise in NOISES), "bound without peeling", "the proof's constant")
    return Table("√E[τ²] / (1 + log₊(b)/Δ²)", header, tuple(rows))


def _moment_picture(
    roots: dict[tuple[int, float, float, float], Interval],
    deltas: Sequence[float],
    limits: dict[tuple[int, float, float, float], float],
) -> Chart:
    lines = []
    for b in BS:
        values = [roots[GAUSSIAN, delta, 1.1, b] for delta in deltas]
        scaled = [Interval(*(x / _form(b, delta) for x in i)) for i, delta in zip(values, deltas, strict=True)]
        low, high = [i.low for i in scaled], [i.high for i in scaled]
        lines.append(Line(f"b = {b:.3g}", deltas, [i.value for i in scaled], low, high))
    bound = [limits[GAUSSIAN, delta, 1.1, math.e] / _form(math.e, delta) for delta in deltas]
    lines.append(Line("bound, b = e", deltas, bound, bound=True))
    title = "Gaussian steps, η = 1.1"
    return Chart(title, "Δ", "√E[τ²] / (1 + log₊(b)/Δ²)", tuple(lines), x_scale="log", y_scale="log")


def check_tail(effort: Effort, *, start: Callable[[float, float, float], int] = tail_start) -> Finding:
    """Compare P(τ >= α t_0) with the proof's sum."""
    alphas, deltas = (1.0, 2.0, 3.0, 4.0, 6.0, 8.0), (1.0, 0.25)
    runs = effort.pick(2_000, 50_000)
    cells, chances = [], []
    for noise in NOISES:
        for delta in deltas:
            found = taus(noise, delta, runs, effort.seed)
            for column, (eta, b) in enumerate(PAIRS):
                for alpha in alphas:
                    late = int(np.count_nonzero(found[:, column] >= alpha * start(b, delta, eta)))
                    low, value, high = proportion(late, runs, of=len(NOISES) * len(deltas) * len(PAIRS) * len(alphas))
                    cells.append((noise, delta, eta, b, alpha))
                    chances.append(Interval(low, value, high + MISSED))
    limits = [min(1.0, float(tail_bound(cell[-1]))) for cell in cells]
    conclusion = at_most(chances, limits)
    told = [i for i, limit in enumerate(limits) if limit < 1.0]
    worst = max(told, key=lambda i: chances[i].value / limits[i])
    noise, delta, eta, b, alpha = cells[worst]
    at = (
        f"{NAMES[noise]} steps, Δ = {delta:g}, b = {b:.3g}, η = {eta:g}, α = {alpha:g}: P(τ ≥ α t₀) = "
        f"{chances[worst].value:.4f} (at least {chances[worst].low:.4f}), bound {limits[worst]:.4f}"
    )
    return Finding(
        conclusion,
        f"The bound is below 1 from α = 3 on. Nearest to it there, or worst: {at}.",
        ALARM,
        f"{at}." if conclusion is Conclusion.FAILS else "",
        (_tail_table(cells, chances, alphas),),
    )


def _tail_table(
    cells: list[tuple[int, float, float, float, float]], chances: list[Interval], alphas: Sequence[float]
) -> Table:
    rows = []
    for alpha in alphas:
        at = [i for i, cell in enumerate(cells) if cell[-1] == alpha]
        most = [max(chances[i].value for i in at if cells[i][0] == noise) for noise in NOISES]
        # The bound without peeling is largest where η log₊(b) is least; P(τ >= m) is P(τ > m - 1).
        sharp = float(sharp_tail_bound(alpha * tail_start(math.e, 0.25, 1.1) - 1.0, math.e, 0.25, 1.1))
        rows.append((f"{alpha:g}", *(f"{x:.4f}" for x in most), f"{sharp:.2g}", f"{float(tail_bound(alpha)):.4f}"))
    header = ("α", *(NAMES[noise] for noise in NOISES), "bound without peeling, b = e, η = 1.1", "the proof's bound")
    return Table("Largest P(τ ≥ α t₀) over Δ, b and η", header, tuple(rows))


class Steps(NamedTuple):
    """The inclusions of the proof: which paths it says are among which.

    wait : it starts from τ >= α t_0 + wait.
    share : a mean past α t_0 must be share·Δ at least.
    stretched : whether block k ends at α t_k, or at t_k.
    """

    wait: int
    share: float
    stretched: bool


PRINTED, CORRECTED = Steps(0, 0.5, False), Steps(1, 0.5, True)


def check_steps(effort: Effort, *, statement: Steps = PRINTED) -> Finding:
    """Look for walks that are in the left event of an inclusion of the proof and not in the right one."""
    runs = effort.pick(8_000, 400_000)
    rows = [row for delta in (math.sqrt(8.8), 1.0) for row in _inclusions(delta, runs, effort.seed, statement)]
    escaped = [row for row in rows if row.escaped != (0, 0)]
    broken = ""
    if escaped:
        delta, alpha, _, (one, two) = escaped[0]
        broken = f"Δ = {delta:.4g}, α = {alpha}: {one} of {runs} walks leave the first inclusion, {two} the second."
    cells = tuple((f"{row.delta:.4g}", str(row.alpha), *map(str, row.events + row.escaped)) for row in rows)
    header = ("Δ", "α", "first event", "second", "third", "first, not second", "second, not third")
    return Finding(
        Conclusion.FAILS if broken else Conclusion.HOLDS,
        f"At {len(escaped)} of {len(rows)} Δ and α some of {runs} walks are in an event and not in the one that should "
        "hold it. "
        + (
            "The final bound stands: its next line has the α, and its spare term k = 0 pays for the 1."
            if broken
            else ""
        ),
        counterexample=_printed_numbers() if statement == PRINTED else broken,
        tables=(Table("Walks in the events of the proof, η = 1.1, b = e", header, cells),),
    )


class Inclusions(NamedTuple):
    """How many walks are in the three events, and in one but not in the next."""

    delta: float
    alpha: int
    events: tuple[int, ...]
    escaped: tuple[int, ...]


def _inclusions(delta: float, runs: int, seed: int, steps: Steps) -> list[Inclusions]:
    eta, b = 1.1, math.e
    first, end = tail_start(b, delta, eta), 2 * horizon(delta, [(eta, b)])
    tau = 1 + last_times(GAUSSIAN, delta, [math.sqrt(2.0 * eta)], end, runs, seed, PURPOSE + 10)[:, 0]
    last = last_times(GAUSSIAN, steps.share * delta, [0.0], end, runs, seed, PURPOSE + 10)[:, 0]
    found = []
    for alpha in (1, 2, 3, 4, 6):
        block = first * (alpha if steps.stretched else 1)
        doublings = range(math.ceil(math.log2(end / block)) + 1)
        ends = [block * 2**k for k in doublings]
        peaks = running_peaks(GAUSSIAN, np.ones(ends[-1]), ends, runs, seed, PURPOSE + 10)
        heights = [alpha * 2.0 ** (k - 1) * first * steps.share * delta for k in doublings]
        events = (tau >= alpha * first + steps.wait, last >= alpha * first, (peaks >= heights).any(axis=1))
        escaped = (events[0] & ~events[1], events[1] & ~events[2])
        counts, outside = (tuple(int(event.sum()) for event in some) for some in (events, escaped))
        found.append(Inclusions(delta, alpha, counts, outside))
    return found


def _printed_numbers() -> str:
    """Return where the two inequalities of probabilities fail as printed, for Gaussian steps."""
    half = 0.5 * math.sqrt(8.8)  # Δ/2 at η = 1.1, b = e, t_0 = 1
    first = float(_special.ndtr(-half))
    second = float(_special.ndtr(-half * np.sqrt(np.arange(2, 400))).sum())
    late = float(_special.ndtr(-half * math.sqrt(8.0)))
    blocks = sum(float(maximal_bound(8.0 * 2.0 ** (k - 1) * half, 2.0**k)) for k in range(20))
    return (
        f"Gaussian steps, η = 1.1, b = e, Δ² = 8.8, so t₀ = 1. α = 2: P(τ ≥ 2) ≥ {first:.4f}, but P(S_t ≥ tΔ/2 for "
        f"some t ≥ 2) ≤ {second:.4f}. α = 8: P(S_t ≥ tΔ/2 for some t ≥ 8) ≥ {late:.2g}, but the sum over blocks that "
        f"end at t_k is ≤ {blocks:.2g}."
    )


CHECKS = (
    Check(
        name="tail moments",
        places=("lem:tail",),
        says="τ, from which on the mean plus √(2η log(b)/t) stays below Δ, has √E[τ²] = O_η(1)(1 + log₊(b)/Δ²).",
        done="τ is read off simulated walks with Gaussian, Rademacher and uniform steps over a grid of b, Δ and η. The "
        "O_η(1) is the constant that follows from the proof's tail bound. A walk is left where τ is later with "
        f"probability {MISSED:g} at most, and what that can add is added.",
        run=check_moment,
        wrong=Wrong("Δ in place of Δ²", {"statement": moment_without_square}),
    ),
    Check(
        name="tail probabilities",
        places=("app:lem:tail",),
        says="P(τ ≥ αt₀) ≤ Σ_{k≥0} exp(-α 2^k/4) for α ≥ 1, where t₀ = ⌈8η log₊(b)/Δ²⌉.",
        done="The share of simulated walks with τ ≥ αt₀, over the same grid of b and η.",
        run=check_tail,
        wrong=Wrong("t₀ = ⌈8η/Δ²⌉, without the logarithm of b", {"start": start_without_log}),
    ),
    Check(
        name="tail proof",
        places=("app:lem:tail",),
        says="τ ≥ αt₀ implies that S_t ≥ tΔ/2 for some t ≥ αt₀, and that implies S_t ≥ α2^{k-1}t₀Δ/2 for some k and "
        "some t ≤ t_k = t₀2^k.",
        done="Both are looked up on simulated Gaussian walks, path by path, and the probabilities compared in numbers.",
        run=check_steps,
        wrong=None,
    ),
    Check(
        name="tail proof, corrected",
        places=("app:lem:tail",),
        says="τ ≥ αt₀ + 1 in the first, as τ - 1 is the last time that is not yet below Δ; t ≤ αt_k in the second, as "
        "the next line of the proof has it.",
        done="As before.",
        run=check_steps,
        wrong=Wrong("the width past αt₀ taken as Δ/4, not Δ/2", {"statement": Steps(1, 0.75, True)}),
        subject={"statement": CORRECTED},
        corrects="tail proof",
    ),
)
