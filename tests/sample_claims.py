"""Made-up claims, quick to execute, with every kind of outcome; for tests of what is around the claims."""

from __future__ import annotations

import time

import numpy as np

from ocucb.lab.chart import Chart, Line
from ocucb.paper.claim import Check, Claim, Conclusion, Effort, Finding, Nature, Table, Wrong

HOSTILE = """<b>&"</article><img src=x onerror=alert(1)>' $x_1$ id="x" {{claims}}"""


def mean_of_dice(effort: Effort, *, sides: int = 6) -> Finding:
    """Throw dice; what comes out depends on the seed alone."""
    throws = np.random.default_rng(effort.seed).integers(1, 7, effort.pick(1000, 4000))
    t = np.arange(1, throws.size + 1)
    averages = np.cumsum(throws) / t
    reach = 4.0 / np.sqrt(t)
    low, high = averages - reach, averages + reach
    expected = (1 + sides) / 2
    holds = abs(averages[-1] - expected) <= reach[-1]
    table = Table(
        "Averages after so many throws",
        ("throws", "average", "least", "greatest", "distance", "allowed", "expected", "what this line says of the die"),
        tuple(
            (
                f"{n:,}",
                f"{averages[n - 1]:.4f}",
                f"{throws[:n].min()}",
                f"{throws[:n].max()}",
                f"{averages[n - 1] - expected:+.4f}",
                f"{reach[n - 1]:.4f}",
                f"{expected:.1f}",
                "a fair one, so it seems",
            )
            for n in (10, 100, 1000)
        ),
    )
    chart = Chart(
        "The average against the number of throws",
        "throws t",
        "average",
        (
            Line("average so far", t.tolist(), averages.tolist(), low.tolist(), high.tolist()),
            Line("expectation", [1, throws.size], [expected, expected], bound=True),
        ),
        x_scale="log",
    )
    return Finding(
        Conclusion.HOLDS if holds else Conclusion.FAILS,
        f"The average of {throws.size:,} throws is {averages[-1]:.4f}, {'' if holds else 'not '}within {reach[-1]:.4f} "
        f"of {expected}.",
        false_alarm=1e-4,
        counterexample="" if holds else f"t = {throws.size}: average {averages[-1]:.4f}, expected {expected}",
        tables=(table,),
        charts=(chart,),
    )


def squares(effort: Effort, *, exponent: float = 3.0) -> Finding:
    """Compare sums of odd numbers with a power."""
    n = np.arange(1, 40)
    sums = np.cumsum(2 * n - 1)
    powers = n**exponent
    off = np.flatnonzero(sums != powers)
    lines = (
        Line("sum of odd numbers", n.tolist(), sums.tolist()),
        Line(f"n to the power {exponent:g}", n.tolist(), powers.tolist()),
    )
    chart = Chart("Both sides on logarithmic axes", "n", "value", lines, "log", "log")
    if off.size == 0:
        return Finding(Conclusion.HOLDS, "Equal for n = 1, …, 39.", charts=(chart,))
    where = int(n[off[0]])
    return Finding(
        Conclusion.FAILS,
        f"The sides differ for {off.size} of {n.size} values of n. "
        "Wherever they differ the sum is less, and the more so the greater n is, as the chart shows.",
        counterexample=f"n = {where}: the sum is {sums[where - 1]}, the power is {powers[where - 1]:g}.",
        charts=(chart, chart),
    )


def endless(effort: Effort) -> Finding:
    """Decide nothing."""
    return Finding(Conclusion.OPEN, "Up to n = 10, whose log log is 0.83, nothing can be said of n without end.")


def hostile(effort: Effort) -> Finding:
    """Say what a page must not take for its own."""
    chart = Chart(HOSTILE, HOSTILE, HOSTILE, (Line(HOSTILE, [1, 2], [1, 2]),))
    return Finding(Conclusion.FAILS, HOSTILE, 0.5, HOSTILE, (Table(HOSTILE, (HOSTILE,), ((HOSTILE,),)),), (chart,))


def broken(effort: Effort) -> Finding:
    """Break down."""
    raise ZeroDivisionError(f"there is\nno finding at {effort.size} size")


def slow(effort: Effort) -> Finding:
    """Take a minute."""
    time.sleep(60.0)
    return endless(effort)


def check(name: str, run: object, **more: object) -> Check:
    """Return a check with the words that matter little."""
    words = {"places": ("eq:sample", "remark after the sample"), "says": f"{name} is so.", "done": f"{name} is tried."}
    return Check(name, run=run, **{**words, "wrong": None, **more})  # type: ignore[arg-type]


DICE = Claim(
    1,
    "Dice",
    (
        check(
            "mean-of-dice",
            mean_of_dice,
            says="The average of many throws of a die comes as close to 3.5 as one likes, and stays there.",
            done="A die is thrown a thousand times; after each throw the average is compared with 3.5.",
            wrong=Wrong("the die had seven sides, which moves the expectation to 4", {"sides": 7}),
        ),
        check("endless", endless, wrong=Wrong("nothing", {})),
    ),
)
ODD = Claim(
    2,
    "Sums of odd numbers",
    (
        check("cubes", squares, says="The first n odd numbers add up to n³.", formula=r"\sum_{k=1}^n (2k-1) = n^3"),
        check(
            "squares",
            squares,
            subject={"exponent": 2.0},
            corrects="cubes",
            formula=r"\sum_{k=1}^n (2k-1) = n^2",
            nature=Nature.IDENTITY,
            wrong=Wrong("the exponent were 2.5", {"exponent": 2.5}),
        ),
    ),
)
STRANGE = Claim(3, HOSTILE, (check("hostile", hostile, says=HOSTILE, done=HOSTILE, wrong=Wrong(HOSTILE, {})),))
BROKEN = Claim(4, "What breaks down", (check("broken", broken),))
SLOW = Claim(5, "What takes long", (check("slow", slow),))
CLAIMS = (DICE, ODD)
