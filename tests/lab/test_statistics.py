"""Intervals and quantiles: numbers by hand, SciPy as oracle, and whether 95 % intervals cover."""

from __future__ import annotations

import importlib
import math
from typing import Any, Literal

import numpy as np
import pytest

from ocucb import UCB, OCUCBn
from ocucb.compiled import Floats
from ocucb.errors import ParameterError
from ocucb.lab.problem import linear_gaps
from ocucb.lab.shard import Shard, play
from ocucb.lab.statistics import (
    INTERVAL_KINDS,
    Estimate,
    IntervalKind,
    bootstrap_interval,
    interval,
    normal_interval,
    quantiles,
)

scipy_stats: Any = importlib.import_module("scipy.stats")

NOT_RUN = math.nan


def test_mean_error_and_normal_interval_by_hand() -> None:
    # Mean 3, standard deviation √2.5, error √0.5; Student's 97.5 % quantile with 4 degrees of freedom is 2.776445.
    estimate = normal_interval([1.0, 2.0, 3.0, 4.0, 5.0])
    assert estimate.mean == 3.0
    assert estimate.standard_error == pytest.approx(math.sqrt(0.5))
    assert estimate.high - 3.0 == pytest.approx(2.776445 * math.sqrt(0.5), rel=1e-6)
    assert estimate.low + estimate.high == pytest.approx(6.0)


@pytest.mark.parametrize("kind", INTERVAL_KINDS)
def test_the_standard_error_divides_by_one_less_than_the_runs(kind: IntervalKind) -> None:
    """√(Σ(x - mean)²/(n - 1)/n); with n for n - 1 it would be √0.4."""
    assert interval([1.0, 2.0, 3.0, 4.0, 5.0], kind).standard_error == pytest.approx(math.sqrt(0.5))


@pytest.mark.parametrize("kind", INTERVAL_KINDS)
def test_intervals_of_many_checkpoints_at_once(kind: IntervalKind) -> None:
    samples = np.random.default_rng(0).exponential(size=(40, 3))
    together = interval(samples, kind)
    for column in range(3):
        alone = interval(samples[:, column], kind)
        for name in together._fields:
            np.testing.assert_allclose(getattr(together, name)[column], getattr(alone, name), rtol=1e-12)


@pytest.mark.parametrize("kind", INTERVAL_KINDS)
def test_samples_that_were_not_run_do_not_count(kind: IntervalKind) -> None:
    with_holes = interval([1.0, NOT_RUN, 2.0, 4.0, NOT_RUN], kind)
    assert with_holes == interval([1.0, 2.0, 4.0], kind)


@pytest.mark.parametrize("kind", INTERVAL_KINDS)
def test_one_run_has_a_mean_but_no_interval_and_no_run_has_neither(kind: IntervalKind) -> None:
    one, none = interval([7.0], kind), interval([NOT_RUN], kind)
    assert one.mean == 7.0
    assert math.isnan(one.standard_error)
    assert math.isnan(one.low)
    assert all(math.isnan(value) for value in none)


@pytest.mark.parametrize("kind", INTERVAL_KINDS)
def test_equal_samples_have_an_interval_of_no_width(kind: IntervalKind) -> None:
    estimate = interval([0.1] * 10, kind)
    np.testing.assert_allclose(list(estimate), [0.1, 0.0, 0.1, 0.1], atol=1e-15)


def test_bad_questions_are_refused() -> None:
    with pytest.raises(ParameterError, match="confidence"):
        normal_interval([1.0, 2.0], confidence=1.0)
    with pytest.raises(ParameterError, match="confidence"):
        bootstrap_interval([1.0, 2.0], confidence=0.0)
    with pytest.raises(ParameterError, match="resamples"):
        bootstrap_interval([1.0, 2.0], resamples=10)


def test_few_samples_at_once_give_the_same_bootstrap(monkeypatch: pytest.MonkeyPatch) -> None:
    samples = np.random.default_rng(9).exponential(size=20)
    together = bootstrap_interval(samples, resamples=500)
    monkeypatch.setattr("ocucb.lab.statistics.RESAMPLED_AT_ONCE", 20 * 7)
    np.testing.assert_allclose(bootstrap_interval(samples, resamples=500), together, rtol=1e-12)


def test_bootstrap_repeats_itself_and_heeds_its_seed() -> None:
    samples = np.random.default_rng(2).exponential(size=30)
    assert bootstrap_interval(samples, seed=4) == bootstrap_interval(samples, seed=4)
    assert bootstrap_interval(samples, seed=4).low != bootstrap_interval(samples, seed=5).low


@pytest.mark.parametrize(("method", "name"), [("percentile", "percentile"), ("bca", "BCa")])
def test_bootstrap_agrees_with_scipy(method: Literal["percentile", "bca"], name: str) -> None:
    """An end of 10⁵ resamples is off by 0.0015 standard deviations of a sample at most; 4.5 of that, twice: 3e-5."""
    samples = np.random.default_rng(5).exponential(size=60)

    def oracle(kind: str) -> Floats:
        answer = scipy_stats.bootstrap((samples,), np.mean, method=kind, n_resamples=100_000, rng=1, batch=10_000)
        return np.array([answer.confidence_interval.low, answer.confidence_interval.high])

    ours = bootstrap_interval(samples, method=method, resamples=100_000)
    tolerance = 4.5 * math.sqrt(2) * 0.0015 * samples.std()
    np.testing.assert_allclose([ours.low, ours.high], oracle(name), atol=tolerance, rtol=0)
    # The tolerance can tell one method from the other.
    assert (abs(oracle("percentile") - oracle("BCa")) > tolerance).any()


def test_quantiles_by_hand() -> None:
    np.testing.assert_array_equal(quantiles([0.0, 10.0, NOT_RUN, 20.0], [0.5, 0.05, 1.0]), [10.0, 1.0, 20.0])
    assert np.isnan(quantiles([NOT_RUN], [0.5])).all()
    assert quantiles(np.ones((4, 7)), [0.1, 0.9]).shape == (2, 7)


# Coverage of 95 % intervals, from samples of RUNS each. True coverages lie within COVERS in all cases below: 20,000
# repetitions gave Student's 0.948 to 0.952, percentile 0.943 to 0.947, BCa 0.937 (differences have heavy tails) to
# 0.947. The count of intervals that cover is binomial; the band leaves 5e-5 on each side, so one check is a false alarm
# with probability 1e-4 at most. 90 % intervals do fail, as the last test shows.
RUNS, FALSE_ALARM = 400, 1e-4
REPETITIONS: dict[IntervalKind, int] = {"normal": 20_000, "percentile": 2000, "bca": 2000}
COVERS: dict[IntervalKind, tuple[float, float]] = {
    "normal": (0.947, 0.953),
    "percentile": (0.941, 0.950),
    "bca": (0.936, 0.950),
}


def draws(case: str) -> tuple[Floats, float]:
    """Samples, one column per repetition, and their true mean."""
    generator = np.random.default_rng(17)
    size = (RUNS, max(REPETITIONS.values()))
    if case == "exponential":
        return generator.exponential(size=size), 1.0
    one, other = (
        play(Shard(linear_gaps(5), policy, 100, (100,), 3, 0, 20_000)).regret[:, 0] for policy in (OCUCBn(), UCB())
    )
    # Drawn with replacement from runs really played, so that the mean of those is the truth, exactly.
    pool = one if case == "regret" else other - one
    return generator.choice(pool, size=size), float(pool.mean())


def covered(kind: IntervalKind, samples: Floats, truth: float, confidence: float = 0.95) -> int:
    """How many intervals hold the truth."""
    if kind == "normal":
        return holding(normal_interval(samples, confidence), truth)
    # Columns that share their resamples are not quite independent: few do.
    return sum(
        holding(
            bootstrap_interval(samples[:, first : first + 10], confidence, method=kind, resamples=500, seed=first),
            truth,
        )
        for first in range(0, REPETITIONS[kind], 10)
    )


def holding(estimate: Estimate, truth: float) -> int:
    return int(((estimate.low <= truth) & (truth <= estimate.high)).sum())


def band(kind: IntervalKind) -> tuple[int, int]:
    low = scipy_stats.binom.ppf(FALSE_ALARM / 2, REPETITIONS[kind], COVERS[kind][0])
    high = scipy_stats.binom.ppf(1 - FALSE_ALARM / 2, REPETITIONS[kind], COVERS[kind][1])
    return int(low), int(high)


@pytest.mark.parametrize("case", ["exponential", "regret", "paired difference"])
def test_intervals_cover_as_often_as_they_say(case: str) -> None:
    samples, truth = draws(case)
    for kind in INTERVAL_KINDS:
        low, high = band(kind)
        assert low <= covered(kind, samples, truth) <= high, kind


def test_ninety_percent_intervals_would_fail() -> None:
    samples, truth = draws("exponential")
    for kind in INTERVAL_KINDS:
        assert covered(kind, samples, truth, confidence=0.90) < band(kind)[0], kind
