"""Claim 18: inequalities that the proofs rest on, proved by interval arithmetic over the whole of their ranges.

What machines cannot do is said in words in each check: how an inequality of many variables, or over an unbounded range,
comes down to one over a box.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from ocucb.errors import OcucbError
from ocucb.paper.claim import Check, Conclusion, Effort, Finding, Table, Wrong
from ocucb.paper.intervals import (
    Ball,
    Box,
    Cover,
    Margin,
    ball,
    cover,
    minus_x_log_x,
    relative_decay,
    relative_growth,
)

Proof = Callable[..., Finding]


class Part(NamedTuple):
    """One inequality of a proof: what it says, its margin, and the box on which this is above 0."""

    says: str
    margin: Margin
    box: Box


def prove(parts: Sequence[Part]) -> Finding:
    """Prove all parts, or say which one is false, or not proved."""
    try:
        found = [cover(part.margin, part.box) for part in parts]
    except OcucbError as problem:
        return Finding(Conclusion.OPEN, str(problem))
    rows = [(part.says, _words(part.box), str(one.boxes), _state(one)) for part, one in zip(parts, found, strict=True)]
    table = Table("What was covered", ("inequality", "range", "boxes", "state"), tuple(rows))
    false = [(part, one.left) for part, one in zip(parts, found, strict=True) if one.left is not None and one.below]
    if false:
        part, left = false[0]
        return Finding(
            Conclusion.FAILS,
            f"It is false: {part.says} does not hold.",
            counterexample=f"{part.says}: not so in the middle of {_words(left or part.box)}",
            tables=(table,),
        )
    missing = [part.says for part, one in zip(parts, found, strict=True) if one.left is not None]
    if missing:
        return Finding(Conclusion.OPEN, f"Not proved: {'; '.join(missing)}.", tables=(table,))
    boxes = sum(one.boxes for one in found)
    return Finding(Conclusion.PROVED, f"Proved, by {boxes} boxes that cover the whole range.", tables=(table,))


def _words(box: Box) -> str:
    if all(low == high for low, high in box):
        return "a number"
    return " × ".join(f"[{low:g}, {high:g}]" for low, high in box)


def _state(one: Cover) -> str:
    return "proved" if one.left is None else "false" if one.below else "not proved"


def power_and_logarithm(effort: Effort, *, limit: float = 2.0) -> Finding:
    """Prove e^(-hL) min{1/(1/2-h), L} ≤ limit."""

    def early(y: Ball) -> Ball:
        return 1 / (1 + y)

    def late(h: Ball) -> Ball:
        return limit - 1 / (h * ball(1.0).exp())

    return prove(
        (
            Part(f"2(1+y)e^(-y) ≤ {limit:g} at y = 0", lambda _: _at_least(limit, 2.0), ((0.0, 0.0),)),
            Part("y - log(1+y) rises: its derivative over y is above 0", early, ((0.0, 1.0),)),
            Part("1/(eh) < limit for h from 1/4 to 1/2", late, ((0.25, 0.5),)),
        )
    )


def series(effort: Effort, *, limit: float = 3.0) -> Finding:
    """Prove √a + a^(ρ-1/2) ∫_a^1 v^-ρ dv + a^(ρ-1/2)/e ≤ limit + 1/e."""

    def margin(log: Ball, h: Ball) -> Ball:
        small = ball(-1.0).exp()
        integral = log * relative_decay((0.5 - h) * log)
        falling = (-h * log).exp()
        return limit + small - (-log / 2).exp() - falling * integral - falling * small

    def far(_: Ball) -> Ball:
        return limit - 2 - ball(-20.0).exp()

    return prove(
        (
            Part("the sum over √a is at most limit + 1/e, log(1/a) up to 40", margin, ((0.0, 40.0), (0.0, 0.5))),
            Part("e^-20 + 2 + 1/e < limit + 1/e", far, ((0.0, 0.0),)),
        )
    )


def technical_lemma(effort: Effort, *, largest: float = 1.0) -> Finding:
    """Prove 0 ≤ (1 - e^-z)/z ≤ largest, from which Lemma tech1, corrected, follows."""
    return prove(
        (
            Part(
                "(1 - e^-z)/z > 0, which is also the derivative of z - 1 + e^-z over z", relative_decay, ((0.0, 64.0),)
            ),
            Part(f"its limit 1 at z = 0 is at most {largest:g}", lambda _: _at_least(largest, 1.0), ((0.0, 0.0),)),
        )
    )


def data_processing(effort: Effort, *, share: float = 0.25) -> Finding:
    """Prove the step from E[T_i] to P'(T_i < n/2) ≥ (1 - 1/k) y; share is the constant of eq. lower1."""

    def margin(log: Ball) -> Ball:
        least = ball(2.0).log()  # log n at n = 2, and log(1/(1 - 1/k)) at k = 2
        weight = (-log).exp() * (4 * share) / (2 * least)
        inner = log * (2 * log + least + 1 + (4 * least / (4 * share)).log()) + minus_x_log_x(log)
        return 2 * (1 - 2 * share) * log + 1 - weight * inner

    return prove((Part("the margin at k = 2, n = 2, over L = log(1/y)", margin, ((0.0, 40.0),)),))


def two_arms(effort: Effort, *, share: float = 0.25) -> Finding:
    """Prove that no policy is below both statements, for two arms; share is the constant of the first."""

    def margin(log: Ball) -> Ball:
        least = ball(2.0).log()
        p = log * (-log).exp() * share / least
        entropy = minus_x_log_x(p) - (1 - p) * (1 - p).log()
        return (1 - 2 * share) * log + least - p * (log + least) - entropy

    return prove(
        (
            Part("L/2 + log 2 > p(L + log 2) + h(p), p = L e^-L/(4 log 2)", margin, ((0.0, 40.0),)),
            Part(
                "p < 1/2, so that the right side rises with p",
                lambda _: 0.5 - share / ball(2.0).log() / ball(1.0).exp(),
                ((0.0, 0.0),),
            ),
            Part("1 ≤ 2 log 2", lambda _: 2 * ball(2.0).log() - 1, ((0.0, 0.0),)),
        )
    )


def last_line(effort: Effort, *, rivals: int = 3) -> Finding:
    """Prove Δ'² ≤ k' log n: for a best arm of μ, and for another one, which has k' ≥ rivals."""

    def best(_: Ball) -> Ball:
        return 2 * ball(2.0).log() - 1

    def other(_: Ball) -> Ball:
        return rivals * ball(5.0).log() - 4

    def few(n: float) -> Callable[[Ball], Ball]:
        return lambda _: 3 - ball(n) / ball(n).log()

    point = ((0.0, 0.0),)
    return prove(
        (
            Part("1 ≤ 2 log 2", best, point),
            Part(f"4 ≤ {rivals} log 5", other, point),
            *(Part(f"n/log n < 3 at n = {n}, so that n ≥ 5", few(n), point) for n in (2, 3, 4)),
        )
    )


def survival(effort: Effort, *, limit: float = 2.0) -> Finding:
    """Prove (η-1)^(3/2) log(1/p(η)) ≤ limit for η from 1 to 2."""

    def margin(u: Ball) -> Ball:
        e, root = ball(1.0).exp(), ball(3.0).sqrt()
        v = u / root
        cosh = v.cosh()
        r = (1 - relative_growth(v) ** 2 / 3) / cosh**2
        s = 1 + u**2 * r
        factor = -(1 - 1 / e).log() * e
        return limit - factor * (-s).exp() * (2 * u**3 + e * s * root / 4 / r)

    return prove((Part("(η-1)^(3/2) times the sum over blocks, u = √(η-1)", margin, ((0.0, 1.0),)),))


def falls_with_rho(effort: Effort, *, least: float = 0.0) -> Finding:
    """Prove that w^(2ρ), w = Δ_i/Δ_j, does not rise with ρ; least is the smallest log(1/w)."""

    def factor(rho: Ball, z: Ball) -> Ball:
        return (-2 * rho * z).exp()

    return prove(
        (
            Part("e^(-2ρz) > 0", factor, ((0.0, 1.0), (least, 64.0))),
            Part(f"z ≥ 0 at the least z = {least:g}", lambda _: _at_least(least, 0.0), ((0.0, 0.0),)),
        )
    )


def _at_least(one: float, other: float) -> Ball:
    """Return a margin above 0 if and only if one ≥ other, both being numbers of a few digits."""
    return ball(one) - ball(other) + ball(2.0**-60)


_PLACE = "shrinking the confidence level"

CHECKS: tuple[Check, ...] = (
    Check(
        "power and logarithm",
        ("app:tech", _PLACE),
        "Step 1 of docs/theorem.md: e^(-hL) min{1/(1/2-h), L} ≤ 2 for all h in [0, 1/2] and L ≥ 0.",
        "In words: it rises in L up to min{1/h, 1/(1/2-h)} and then falls, so for h ≤ 1/4 its largest value is "
        "2(1+y)e^(-y) with y = h/(1/2-h) in [0, 1], at most 2 if y - log(1+y) ≥ 0; for h ≥ 1/4 it is 1/(eh). By boxes: "
        "y - log(1+y) is 0 at 0 and its derivative is y times something above 0; 1/(eh) < 2.",
        power_and_logarithm,
        Wrong("1.9 in place of 2.", {"limit": 1.9}),
    ),
    Check(
        "series",
        ("lem:conc2", "lem:tech1", _PLACE),
        "Step 2 of docs/theorem.md, which is the series of Lemma conc2: for all λ, x and ρ in [1/2, 1] the integral is "
        "at most (b/log b) (3 + 1/e) min{1/x, √(λ/x)}.",
        "In words: with a = λx < 1 it is (b/(x log b)) (a + a^ρ ∫_a^1 v^-ρ dv + a^ρ/e) at most, and for a ≥ 1 it is "
        "b/(x log b); b and x drop out. By boxes: the bracket over √a, for L = log(1/a) up to 40 and h = ρ - 1/2 in "
        "[0, 1/2]; beyond 40 the first term is below e^-20 and the second at most 2 by step 1.",
        series,
        Wrong("1.5 in place of 3.", {"limit": 1.5}),
    ),
    Check(
        "tech1 corrected",
        ("lem:tech1", "app:tech"),
        "Lemma tech1 as corrected (1.6 of the errata), second case: a^(1-ρ) + ∫_a^1 v^-ρ dv + 1/e ≤ 1 + 1/e + log(1/a) "
        "for all a < 1 and ρ in [0, 1].",
        "In words: with L = log(1/a) and z = (1-ρ)L the right side minus the left is zφ(z) + L(1 - φ(z)), φ(z) = (1 - "
        "e^-z)/z, so that 0 ≤ φ ≤ 1 is enough; and z(1 - φ(z)) = z - 1 + e^-z is 0 at 0 and has the derivative zφ(z). "
        "By boxes: φ > 0 for z up to 64, enclosed by its values at both ends, as it falls; beyond, e^-z < 1.",
        technical_lemma,
        Wrong("0.9 in place of 1.", {"largest": 0.9}),
    ),
    Check(
        "data processing",
        ("app:lower", "eq:lower1"),
        "Appendix A, corrected: P'(T_i < n/2) ≥ (1 - 1/k) y for all n ≥ 2, k ≥ 2 and y in (0, 1].",
        "In words: with L = log(1/y), λ = -log(1 - 1/k) and p = L e^-L/(2k log n) it is p(L + λ) + h(p) ≤ L/2 + λ. As "
        "h(p) ≤ p log(e/p), 1 ≤ kλ and λ ≤ log 2, it is enough that kL/2 + 1 - (L e^-L/(2 log n)) (2L + log 2 + 1 + "
        "log(2k log n) - log L) ≥ 0. That rises with k, as k log n ≥ 1, and with n, as 2L - log L + 3 log 2 + 1 + log "
        "log 2 > 1; so k = 2 and n = 2 are the worst. By boxes: L up to 40; beyond, the last term is below 3L² e^-L.",
        data_processing,
        Wrong("1 in place of 1/4 in eq. lower1.", {"share": 1.0}),
    ),
    Check(
        "two arms",
        ("app:lower",),
        "Appendix A for two arms: for any strategy, all n ≥ 2 and all gaps up to 1 that meet the condition, R_μ ≥ "
        "(1/4Δ) log(1/y) or R_μ' ≥ (1/2Δ) log(1/y), 1/y = nΔ²/(2 log n).",
        "In words: let R_μ be less, L = log(1/y). Then E[T_2] < L/(4Δ²), so P(T_2 ≥ n/2) ≤ p = L e^-L/(4 log n) by "
        "Markov, and the divergence of all rounds is below L/2. By data processing (1-p) log(1/q) ≤ L/2 + h(p) for q "
        "= P'(T_2 < n/2), so q ≥ y/2 if p(L + log 2) + h(p) ≤ L/2 + log 2. That is hardest at n = 2, as its left side "
        "rises with p < 1/2. Then R_μ' ≥ (nΔ/2)(y/2) = log(n)/(2Δ), and log n ≥ log(1/y) as Δ² ≤ 1 ≤ 2 log n. By "
        "boxes: L up to 40; beyond, p(L + log 2) + h(p) < L² e^-L.",
        two_arms,
        Wrong("1 in place of 1/4 in statement 1.", {"share": 1.0}),
    ),
    Check(
        "last line",
        ("app:lower",),
        "Appendix A, last line: log n ≥ log(nΔ'²/(k' log n)), that is Δ'² ≤ k' log n.",
        "In words: for a best arm j of μ, Δ'_j ≤ 1, k'_j ≥ 2 and n ≥ 2; for another, Δ'_j ≤ 2, k'_j ≥ 3, and n/log n "
        "≥ 3 by the condition for the arm of the largest gap, which has k = K ≥ 3. By balls: five numbers.",
        last_line,
        Wrong("k' ≥ 2 in place of 3.", {"rivals": 2}),
    ),
    Check(
        "survival",
        ("lem:lil", "app:lem:lil"),
        "p(η) ≥ exp(-2 (η-1)^(-3/2)) for all η in (1, 2] (docs/explicit_bound.md), where the paper's proof gives "
        "exp(-C (η-1)^-2).",
        "In words: blocks of width w = 4√((η-1)/3) in log n, s = η/cosh²(w/4): Σ_k -log(1 - max{e, kw}^-s) is at most "
        "-e log(1 - 1/e) e^-s (2 + (e/w) s/(s-1)), as -log(1-x)/x rises. By boxes: (η-1)^(3/2) times that, in u = "
        "√(η-1) from 0 to 1; sinh(v)/v is enclosed by its values at both ends, as it rises.",
        survival,
        Wrong("1/2 in place of 2.", {"limit": 0.5}),
    ),
    Check(
        "k falls with rho",
        ("remarks after thm:main",),
        "k_{i,ρ} does not rise with ρ: no term min{1, (Δ_i/Δ_j)^(2ρ)} does.",
        "In words: a term is 1, or w^(2ρ) with w < 1, whose derivative is -2z e^(-2ρz) with z = log(1/w) ≥ 0. By "
        "boxes: the exponential is above 0, as it is beyond z = 64.",
        falls_with_rho,
        Wrong("Without the minimum with 1, so that w may be 2.", {"least": -0.7}),
    ),
)
