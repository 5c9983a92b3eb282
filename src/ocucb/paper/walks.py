"""Random walks S_n = X_1 + ... + X_n with steps of mean 0 and variance 1, all 1-subgaussian.

A step is a pure function of (seed, purpose, run, n). Walks of the same seed, purpose and run are the same walk,
whatever is read off them; another purpose gives independent walks.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from ocucb.compiled import Floats, Integers, kernel
from ocucb.noise.normal import quantile
from ocucb.uniforms import stream, uniform

GAUSSIAN, RADEMACHER, UNIFORM = 0, 1, 2
# Uniform steps lie in [-√3, √3]: E exp(λX) = sinh(√3 λ)/(√3 λ) <= exp(λ²/2), so 1 is their scale, and no less would do.
NAMES = {GAUSSIAN: "Gaussian", RADEMACHER: "Rademacher", UNIFORM: "Uniform"}

_ROOT_THREE = math.sqrt(3.0)


@kernel
def step(noise: int, key: np.uint64, n: int) -> float:
    """Return X_n of the walk with this key."""
    level = uniform(key, n)
    if noise == GAUSSIAN:
        return quantile(level)
    if noise == RADEMACHER:
        return 1.0 if level > 0.5 else -1.0
    return _ROOT_THREE * (2.0 * level - 1.0)


@kernel
def _key(seed: int, purpose: int, run: int) -> np.uint64:
    return stream(stream(np.uint64(seed), purpose), run)


@kernel
def _peaks(noise: int, seed: int, purpose: int, weights: Floats, checkpoints: Integers, peaks: Floats) -> None:
    for run in range(peaks.shape[0]):
        key = _key(seed, purpose, run)
        total, peak, n = 0.0, -math.inf, 0
        for c in range(checkpoints.size):
            while n < checkpoints[c]:
                n += 1
                total += step(noise, key, n)
                peak = max(peak, total * weights[n - 1])
            peaks[run, c] = peak


def running_peaks(
    noise: int, weights: npt.ArrayLike, checkpoints: npt.ArrayLike, runs: int, seed: int, purpose: int
) -> Floats:
    """Return max { weights_n S_n : n <= checkpoint }, one row per run, one column per checkpoint.

    weights : weights_n stands at n - 1; as long as the last checkpoint.
    checkpoints : increasing whole numbers.
    """
    ends = np.asarray(checkpoints, dtype=np.int64)
    peaks = np.empty((runs, ends.size))
    _peaks(noise, seed, purpose, np.asarray(weights, dtype=np.float64), ends, peaks)
    return peaks


@kernel
def _last(noise: int, seed: int, purpose: int, slope: float, slacks: Floats, horizon: int, last: Integers) -> None:
    for run in range(last.shape[0]):
        key = _key(seed, purpose, run)
        last[run, :] = 0
        total = 0.0
        for n in range(1, horizon + 1):
            total += step(noise, key, n)
            missing = slope * n - total
            root = math.sqrt(n)
            a = slacks.size - 1
            while a >= 0 and slacks[a] * root >= missing:
                last[run, a] = n
                a -= 1


def last_times(
    noise: int, slope: float, slacks: npt.ArrayLike, horizon: int, runs: int, seed: int, purpose: int
) -> Integers:
    """Return the last n <= horizon with S_n/n + slack/√n >= slope, or 0: one row per run, one column per slack.

    slacks : increasing.
    """
    room = np.asarray(slacks, dtype=np.float64)
    last = np.empty((runs, room.size), dtype=np.int64)
    _last(noise, seed, purpose, slope, room, horizon, last)
    return last


@kernel
def _leaps(seed: int, purpose: int, delta: float, growth: float, checkpoints: Floats, peaks: Floats) -> None:
    old, new = math.sqrt(1.0 / growth), math.sqrt(1.0 - 1.0 / growth)
    for run in range(peaks.shape[0]):
        key = _key(seed, purpose, run)
        place, log_n, number, peak = quantile(uniform(key, 0)), math.log(16.0), 0, -math.inf
        for c in range(checkpoints.size):
            while log_n < checkpoints[c]:
                peak = max(peak, place / math.sqrt(2.0 * math.log(log_n / delta)))
                number += 1
                place = old * place + new * quantile(uniform(key, number))
                log_n += math.log(growth)
            peaks[run, c] = peak


def leaping_peaks(
    delta: float, log_checkpoints: npt.ArrayLike, runs: int, seed: int, purpose: int, growth: float = 1.05
) -> Floats:
    """Return max S_n/√(2n log(log(n)/δ)) over n = 16, 16 growth, 16 growth², ... with log n below each checkpoint.

    Steps are Gaussian, so S_n/√n at these times is a chain that can be followed to n = exp(10^5), which no sum of steps
    can. Rounding these n to whole numbers would change the chain by about 1/n.
    """
    ends = np.asarray(log_checkpoints, dtype=np.float64)
    peaks = np.empty((runs, ends.size))
    _leaps(seed, purpose, delta, growth, ends, peaks)
    return peaks


@kernel
def _lattice(highest: Floats, mass: Floats, survival: Floats) -> None:
    # mass[i] is that of S_n = 2i - n; going down, the old mass[i - 1] is still there when mass[i] needs it.
    alive = 0  # all mass above this place is 0
    for n in range(1, highest.size + 1):
        alive = min(alive + 1, math.floor(0.5 * (min(highest[n - 1], float(n)) + n)))
        total = 0.0
        for i in range(alive, 0, -1):
            mass[i] = 0.5 * (mass[i] + mass[i - 1])
            total += mass[i]
        mass[0] *= 0.5
        mass[alive + 1] = 0.0
        survival[n - 1] = total + mass[0]


def lattice_survival(barrier: npt.ArrayLike) -> Floats:
    """Return P(S_m <= barrier_m for all m <= n) for n = 1, 2, ..., exactly, for Rademacher steps.

    barrier : barrier_n stands at n - 1; 0 or more.
    """
    highest = np.floor(np.asarray(barrier, dtype=np.float64))
    mass = np.zeros(highest.size + 2)
    mass[0] = 1.0
    survival = np.empty(highest.size)
    _lattice(highest, mass, survival)
    return survival
