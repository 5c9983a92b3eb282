"""The spread of each arm's rewards, for noise families that must learn it and policies that read a variance.

Sums of rewards and of their squares are kept with what rounding takes from them, so that they are exact to some 30
digits: no digits are lost where the mean is far from 0, arms that got the same rewards in another order have the same
spread, and two bandits merge by adding theirs.

Normal rewards never repeat. An arm whose least or largest reward came twice may have others, rare and far off, that it
has not shown yet: revenue is 0 nine times in ten. Its spread is made as if one more reward had come, as far from its
mean as any two rewards of all arms are from each other. When that range grows, such arms must be evaluated anew.
Policies that read a variance know the range of all possible rewards, and get the spread as it is.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from ocucb.compiled import Floats, kernel, reals
from ocucb.selection.state import GUARDED, MOMENTS, State, arms_at, moments_at, state_at

SPLIT = 134217729.0  # 2^27 + 1: halves the digits of a float
SIZE = MOMENTS.itemsize
COLUMNS = tuple(MOMENTS.names or ())[2:]  # what is saved: all but the spread, which follows from it, and the range


@kernel
def sum_rest(a: float, b: float, total: float) -> float:
    """Return what rounding took from total = a + b (Knuth)."""
    part = total - a
    return (a - (total - part)) + (b - part)


@kernel
def product_rest(a: float, b: float, product: float) -> float:
    """Return what rounding took from product = a b (Dekker)."""
    c = SPLIT * a
    a_high = c - (c - a)
    a_low = a - a_high
    c = SPLIT * b
    b_high = c - (c - b)
    b_low = b - b_high
    return a_low * b_low - (((product - a_high * b_high) - a_low * b_high) - a_high * b_low)


@kernel
def squared_deviations(count: float, total: float, total_rest: float, squares: float, squares_rest: float) -> float:
    """Return Σ (reward - mean)², as squares - mean (2 total - count mean), each with its rest."""
    mean = total / count
    product = count * mean
    inner = 2.0 * total - product
    inner_rest = sum_rest(2.0 * total, -product, inner) - product_rest(count, mean, product) + 2.0 * total_rest
    taken = mean * inner
    taken_rest = product_rest(mean, inner, taken) + mean * inner_rest
    found = squares - taken
    return found + (sum_rest(squares, -taken, found) + (squares_rest - taken_rest))


@kernel
def spread_of(own: Any, count: float, total: float) -> float:
    """Return sqrt(Σ (reward - mean)²/n) of moments of one reward or more."""
    if own.least == own.most:
        return 0.0
    found = squared_deviations(count, total, own.total_rest, own.squares, own.squares_rest)
    # The two farthest rewards alone make half the square of their distance.
    return float(max(math.sqrt(max(found, 0.0) / count), (own.most - own.least) / math.sqrt(2.0 * count)))


@kernel
def have_repeated(own: Any) -> bool:
    """Return whether the least or the largest reward of moments came twice, or was the only one."""
    return bool(own.least_count > 1.0 or own.most_count > 1.0 or own.least == own.most)


@kernel
def guarded_spread(own: Any, count: float, total: float, span: float) -> float:
    """Return the spread of moments, with one more reward where rewards repeat: as far off as the span of all."""
    spread = spread_of(own, count, total)
    if not have_repeated(own):
        return spread
    further = (span if span > 0.0 else 1.0) / math.sqrt(count + 1.0)
    return math.sqrt((spread * spread + further * further) * (count / (count + 1.0)))


@kernel
def add_to(own: Any, reward: float, before: float, total: float) -> None:
    """Add a reward to moments; it was added to the sum that was `before` and is `total` now."""
    own.total_rest += sum_rest(before, reward, total)
    square = reward * reward
    squares = own.squares + square
    own.squares_rest += sum_rest(own.squares, square, squares) + product_rest(reward, reward, square)
    own.squares = squares
    own.least_count = 1.0 if reward < own.least else own.least_count + (reward == own.least)
    own.most_count = 1.0 if reward > own.most else own.most_count + (reward == own.most)
    own.least = min(own.least, reward)
    own.most = max(own.most, reward)


@kernel
def plain_spread(state: State, arm: int) -> float:
    """Return sqrt(Σ (reward - mean)²/n) of an arm with a reward."""
    this = arms_at(state.arms)[arm]
    return spread_of(moments_at(state.moments)[arm], float(this.learned), this.total)


@kernel
def repeats(state: State, arm: int) -> bool:
    """Return whether an arm's least or largest reward came twice, or was its only one."""
    return have_repeated(moments_at(state.moments)[arm])


@kernel
def update_spread(state: State, arm: int) -> None:
    """Make the spread that bounds of an arm with a reward receive anew."""
    this = arms_at(state.arms)[arm]
    own = moments_at(state.moments)[arm]
    if state.spreads == GUARDED:
        own.spread = guarded_spread(own, float(this.learned), this.total, state.most - state.least)
    else:
        own.spread = spread_of(own, float(this.learned), this.total)


@kernel
def add_to_moments(state: State, arm: int, reward: float, before: float) -> None:
    """Add a reward, which was added to the sum that was `before`; the spread is made later."""
    add_to(moments_at(state.moments)[arm], reward, before, arms_at(state.arms)[arm].total)


@kernel
def widen(state: State, arm: int) -> bool:
    """Take the rewards of an arm into the range of all rewards; return whether it grew."""
    own = moments_at(state.moments)[arm]
    if own.least >= state.least and own.most <= state.most:
        return False
    state.least = min(state.least, own.least)
    state.most = max(state.most, own.most)
    return True


@kernel
def renew_spreads(address: int) -> None:
    """Make the range of all rewards and every spread anew."""
    state = state_at(address)
    state.least, state.most = math.inf, -math.inf
    for arm in range(state.slots):
        widen(state, arm)
    for arm in range(state.slots):
        if arms_at(state.arms)[arm].learned > 0:
            update_spread(state, arm)


@kernel
def can_add(state: State, arm: int, reward: float) -> bool:
    """Return whether the sum of squares stays finite."""
    return math.isfinite(moments_at(state.moments)[arm].squares + reward * reward)


@kernel
def plain_spreads(address: int, out: Floats) -> None:
    """Write sqrt(Σ (reward - mean)²/n) of every arm; 0 without rewards."""
    state = state_at(address)
    for arm in range(state.slots):
        out[arm] = plain_spread(state, arm) if arms_at(state.arms)[arm].learned > 0 else 0.0


@kernel
def forget_moments(state: State) -> None:
    """Forget all rewards."""
    moments = moments_at(state.moments)
    state.least, state.most = math.inf, -math.inf
    for arm in range(state.slots):
        own = moments[arm]
        own.spread, own.total_rest, own.squares, own.squares_rest = 0.0, 0.0, 0.0, 0.0
        own.least, own.most, own.least_count, own.most_count = math.inf, -math.inf, 0.0, 0.0


@kernel
def family_of(state: State, arm: int) -> Any:
    """Return what a bound of an arm receives from its noise family: parameters, or the arm's spread."""
    return reals(state.moments + arm * SIZE if state.spreads else state.family)


def no_moments(slots: int) -> npt.NDArray[Any]:
    """Return the moments of arms without rewards."""
    made = np.zeros(slots, MOMENTS)
    made["least"], made["most"] = np.inf, -np.inf
    return made


def merge_moments(ours: npt.NDArray[Any], totals: Floats, theirs: npt.NDArray[Any], added: Floats) -> None:
    """Add moments of as many arms, whose sums `totals` are to have `added` added. Spreads are to be made anew."""
    with np.errstate(invalid="ignore", over="ignore"):
        sums, squares = totals + added, ours["squares"] + theirs["squares"]
        ours["total_rest"] += theirs["total_rest"] + _rest(totals, added, sums)
        ours["squares_rest"] += theirs["squares_rest"] + _rest(ours["squares"], theirs["squares"], squares)
        ours["squares"] = squares
    for name, farther in (("least", np.minimum), ("most", np.maximum)):
        end = farther(ours[name], theirs[name])
        count = f"{name}_count"
        ours[count] = np.where(ours[name] == end, ours[count], 0.0) + np.where(theirs[name] == end, theirs[count], 0.0)
        ours[name] = end


def _rest(a: Floats, b: Floats, total: Floats) -> Floats:
    part = total - a
    return np.asarray((a - (total - part)) + (b - part))
