"""Means with intervals, and quantiles, of samples: the runs.

Runs are independent samples, so every interval here comes from how much they differ from each other. A run that was not
played is NaN and left out.

Of the intervals, "normal" is the default: it comes nearest to its 95 % in every case that the tests measure. The
bootstrap ones are a little narrow, as usual for few samples; BCa most where tails are heavy (93.7 %, of 400 runs).
"""

from __future__ import annotations

import functools
import importlib
from collections.abc import Iterator
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from ocucb.checks import one_of, whole
from ocucb.compiled import Floats
from ocucb.errors import ParameterError

IntervalKind = Literal["normal", "percentile", "bca"]
Band = IntervalKind | Literal["quantiles"]
INTERVAL_KINDS: tuple[IntervalKind, ...] = ("normal", "percentile", "bca")
CONFIDENCE = 0.95
RESAMPLES = 2000
RESAMPLED_AT_ONCE = 4_000_000  # values held in memory


class Estimate(NamedTuple):
    """A mean, how far it may be off, and an interval for it; numbers or arrays, one entry per checkpoint."""

    mean: Floats
    standard_error: Floats
    low: Floats
    high: Floats


def prepare_intervals() -> None:
    """Import what intervals need."""
    _special()


def normal_interval(samples: npt.ArrayLike, confidence: float = CONFIDENCE) -> Estimate:
    """Return the mean over the first axis, ± Student's quantile times its standard error.

    mean ± t_{n-1, (1+c)/2} s/√n: exact for normal samples, close for others once n is some hundreds.
    """
    values = _finite(samples)
    tail = 0.5 + 0.5 * _share("confidence", confidence)
    runs = len(values)
    if runs < 2:
        return _unknown(values)
    error = values.std(axis=0, ddof=1) / np.sqrt(runs)
    reach = error * float(_special().stdtrit(runs - 1, tail))
    mean = values.mean(axis=0)
    return Estimate(np.asarray(mean), np.asarray(error), np.asarray(mean - reach), np.asarray(mean + reach))


def bootstrap_interval(
    samples: npt.ArrayLike,
    confidence: float = CONFIDENCE,
    *,
    method: Literal["percentile", "bca"] = "bca",
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> Estimate:
    """Return the mean over the first axis, with a bootstrap interval (Efron, 1987).

    percentile: between quantiles of resampled means; bca: those quantiles corrected for bias and for skewness.
    Every checkpoint meets the same resamples, so intervals of a curve do not jump. The same seed, the same interval.
    """
    one_of("method", method, ("percentile", "bca"))
    tail = 0.5 - 0.5 * _share("confidence", confidence)
    values = _finite(samples)
    if len(values) < 2:
        return _unknown(values)
    mean, error = values.mean(axis=0), values.std(axis=0, ddof=1) / np.sqrt(len(values))
    centred = (values - mean).reshape(len(values), -1)
    shifts = np.sort(_resampled_means(centred, whole("resamples", resamples, 100, "use 2000"), seed), axis=0)
    tails = np.array([tail, 1.0 - tail])[:, np.newaxis] * np.ones(shifts.shape[1])
    if method == "bca":
        tails = _corrected(tails, centred, shifts)
    low, high = (_quantile_of_sorted(shifts, share).reshape(mean.shape) for share in tails)
    return Estimate(np.asarray(mean), np.asarray(error), np.asarray(mean + low), np.asarray(mean + high))


def interval(samples: npt.ArrayLike, kind: IntervalKind = "normal", confidence: float = CONFIDENCE) -> Estimate:
    """Return the mean over the first axis with an interval of this kind."""
    if kind == "normal":
        return normal_interval(samples, confidence)
    one_of("interval", kind, INTERVAL_KINDS)
    return bootstrap_interval(samples, confidence, method=kind)


def share_with_interval(count: int, of: int, confidence: float = CONFIDENCE) -> Estimate:
    """Return a share of samples that have something, with Clopper and Pearson's interval, which is never too narrow."""
    if of == 0:
        return _unknown(np.empty(0))
    tail = (1.0 - confidence) / 2.0
    low = _special().betaincinv(count, of - count + 1, tail) if count > 0 else 0.0
    high = _special().betaincinv(count + 1, of - count, 1.0 - tail) if count < of else 1.0
    share = count / of
    return Estimate(*map(np.asarray, (share, np.sqrt(share * (1.0 - share) / of), low, high)))


def quantiles(samples: npt.ArrayLike, shares: npt.ArrayLike) -> Floats:
    """Return quantiles over the first axis, one row per share; NaN if there is no sample."""
    values, wanted = _finite(samples), np.asarray(shares, dtype=np.float64)
    if len(values) == 0:
        return np.full(wanted.shape + values.shape[1:], np.nan)
    return np.asarray(np.quantile(values, wanted, axis=0))


def mean_with_band(samples: Floats, band: Band) -> tuple[Floats, Floats, Floats]:
    """Return the mean over the first axis and the ends of its band; where an end is unknown, the mean itself.

    band : an interval of the mean, of its kind; or "quantiles", from 5 % to 95 % of the samples.
    """
    if band == "quantiles":
        low, high = quantiles(samples, (0.05, 0.95))
        return np.asarray(samples.mean(axis=0)), low, high
    estimate = interval(samples, band)
    known = np.isfinite(estimate.low)
    return estimate.mean, np.where(known, estimate.low, estimate.mean), np.where(known, estimate.high, estimate.mean)


@functools.cache
def _special() -> Any:
    """Return `scipy.special`, which is not typed, and takes its time: so it is imported when it is needed."""
    return importlib.import_module("scipy.special")


def _finite(samples: npt.ArrayLike) -> Floats:
    """Return the samples without those that are NaN."""
    values = np.asarray(samples, dtype=np.float64)
    return values[np.isfinite(values).all(axis=tuple(range(1, values.ndim)))]


def _unknown(values: Floats) -> Estimate:
    """Return the mean of one sample, or of none, of which nobody knows how far it is off."""
    nothing = np.full(values.shape[1:], np.nan)
    return Estimate(values[0] if len(values) else nothing, nothing, nothing, nothing)


def _share(name: str, value: float) -> float:
    if not 0.0 < value < 1.0:
        raise ParameterError(f"{name} must be between 0 and 1, got {value!r}; use 0.95")
    return value


def _resampled_means(columns: Floats, resamples: int, seed: int) -> Floats:
    """Return the mean of each column in every resample, one row per resample."""
    return np.concatenate([weights @ columns for weights in _weights(len(columns), resamples, seed)])


def _weights(runs: int, resamples: int, seed: int) -> Iterator[Floats]:
    """Yield how much each run weighs in each resample, some rows at a time."""
    generator = np.random.default_rng(seed)
    block = max(1, RESAMPLED_AT_ONCE // runs)
    for start in range(0, resamples, block):
        rows = min(block, resamples - start)
        drawn = generator.integers(runs, size=(rows, runs)) + runs * np.arange(rows)[:, np.newaxis]
        yield np.bincount(drawn.ravel(), minlength=rows * runs).reshape(rows, runs) / runs


def _corrected(tails: Floats, centred: Floats, shifts: Floats) -> Floats:
    """Return the tails of the BCa interval: Φ(z0 + (z0 + z)/(1 - a (z0 + z))).

    z0 is how far the sample mean is from the median of resampled means; a, the acceleration, is for a mean the skewness
    over 6√n.
    """
    resamples = len(shifts)
    below = ((shifts < 0.0).sum(axis=0) + 0.5 * (shifts == 0.0).sum(axis=0)) / resamples
    bias = _special().ndtri(np.clip(below, 0.5 / resamples, 1.0 - 0.5 / resamples))
    squares = (centred**2).sum(axis=0)
    cubes = (centred**3).sum(axis=0)
    acceleration = np.divide(cubes, 6.0 * squares**1.5, out=np.zeros_like(cubes), where=squares > 0.0)
    z = bias + _special().ndtri(tails)
    return np.asarray(_special().ndtr(bias + z / (1.0 - acceleration * z)))


def _quantile_of_sorted(ordered: Floats, shares: Floats) -> Floats:
    """Return for each column its own quantile, between neighbours by a straight line."""
    position = shares * (len(ordered) - 1)
    floor = np.minimum(position.astype(np.int64), len(ordered) - 2)
    column = np.arange(ordered.shape[1])
    lower, upper = ordered[floor, column], ordered[floor + 1, column]
    return np.asarray(lower + (position - floor) * (upper - lower))
