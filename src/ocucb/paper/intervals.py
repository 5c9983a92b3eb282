"""Inequalities proved by interval arithmetic: boxes that cover a range, and on each of them a margin above 0.

Arb, by python-flint, gives every result as a ball that holds the true value, whatever was rounded. A function of balls
that is above 0 on a box is above 0 at each of its points. A box on which that is not seen is cut in two.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any, NamedTuple

from ocucb.errors import OcucbError

Ball = Any  # flint.arb, which publishes no types
Box = tuple[tuple[float, float], ...]
Margin = Callable[..., Ball]

BOXES = 20_000  # after so many, a proof is given up


class Cover(NamedTuple):
    """What came of a proof.

    boxes : how many were looked at.
    left : a box on which the margin was not seen to be above 0; None if there is none, so that all is proved.
    below : whether the margin is certainly below 0 at the middle of that box, so that the inequality is false.
    """

    boxes: int
    left: Box | None
    below: bool


def flint() -> Any:
    """Return python-flint.

    Raises
    ------
    OcucbError : it is not installed.
    """
    try:
        return importlib.import_module("flint")
    except ModuleNotFoundError:
        raise OcucbError("proofs need python-flint; pip install 'ocucb[paper]'") from None


def ball(low: float, high: float | None = None) -> Ball:
    """Return the smallest ball around an interval, or around one number."""
    arb = flint().arb
    return arb(low) if high is None or high == low else arb(low).union(arb(high))


def cover(margin: Margin, box: Box) -> Cover:
    """Try to prove that the margin is above 0 everywhere in a box.

    >>> cover(lambda x: 2.0 + x - x * x, ((-0.9, 1.9),)).left is None
    True
    >>> cover(lambda x: 1.0 - x * x, ((0.0, 2.0),)).below
    True
    """
    waiting, count = [box], 0
    while waiting:
        here = waiting.pop()
        count += 1
        if margin(*(ball(low, high) for low, high in here)) > 0:
            continue
        middle = [0.5 * (low + high) for low, high in here]
        below = bool(margin(*map(ball, middle)) < 0)
        if below or count > BOXES:
            return Cover(count, here, below)
        axis = max(range(len(here)), key=lambda k: (here[k][1] - here[k][0]) / (box[k][1] - box[k][0]))
        low, high = here[axis]
        waiting += [
            (*here[:axis], (low, middle[axis]), *here[axis + 1 :]),
            (*here[:axis], (middle[axis], high), *here[axis + 1 :]),
        ]
    return Cover(count, None, False)


def ends(x: Ball) -> tuple[Ball, Ball]:
    """Return balls around the lowest and the highest number of a ball, each of them one number."""
    return x.lower(), x.upper()


def hull(low: Ball, high: Ball) -> Ball:
    """Return the ball around the values of a monotone function between two values of it."""
    return low.union(high)


def relative_decay(z: Ball) -> Ball:
    """Return (1 - e^-z)/z for z ≥ 0, which falls from 1."""
    low, high = ends(z)
    return hull(_decay(high), _decay(low))


def _decay(z: Ball) -> Ball:
    if z < ball(2.0**-20):  # 1 - z/2 ≤ (1 - e^-z)/z ≤ 1, also a little below 0, where a ball may reach
        return hull(1 - abs(z), 1 + abs(z))
    return (1 - (-z).exp()) / z


def relative_growth(z: Ball) -> Ball:
    """Return sinh(z)/z for z ≥ 0, which rises from 1."""
    low, high = ends(z)
    return hull(_growth(low), _growth(high))


def _growth(z: Ball) -> Ball:
    if z < ball(2.0**-20):  # 1 ≤ sinh(z)/z ≤ 1 + z²
        return hull(ball(1.0), 1 + z * z)
    return z.sinh() / z


def minus_x_log_x(x: Ball) -> Ball:
    """Return -x log x for x ≥ 0: it rises from 0 to 1/e, and falls."""
    low, high = ends(x)
    if low > ball(2.0**-30):
        return -x * x.log()
    if high < ball(0.36):
        return hull(ball(0.0), -high * high.log() if high > 0 else ball(0.0))
    return hull(ball(-2.0) * high * high, ball(0.37))
