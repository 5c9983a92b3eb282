"""The reward tape: uniform, independent along every counter, and with the right law for each noise family.

The battery has fixed seeds. Every test asks for a p-value above THRESHOLD = 1e-6; there are about 130 of them, so a
good generator would fail any with probability below 2e-4.
"""

from __future__ import annotations

import importlib
import itertools
import math
from collections.abc import Callable

import numpy as np
import pytest

from ocucb import Bernoulli, Bounded, Exponential, Gaussian, Noise, Poisson
from ocucb.compiled import DRAWS, QUANTILE, Floats, address, call_draws, kernel, reals
from ocucb.lab.tape import arm_key, choice_seed, drawing, reward
from ocucb.uniforms import uniform

stats = importlib.import_module("scipy.stats")  # publishes no types

THRESHOLD = 1e-6
COUNT = 200_000


@kernel
def fill(out: Floats, seed: int, run: int, arm: int, s: int, along: int) -> None:
    """Write uniforms with one of the four counters (seed, run, arm, s) counting up."""
    for i in range(len(out)):
        key = arm_key(seed + i if along == 0 else seed, run + i if along == 1 else run, arm + i if along == 2 else arm)
        out[i] = uniform(key, s + i if along == 3 else s)


def draws(along: int, seed: int = 1, run: int = 0, arm: int = 0, s: int = 1) -> Floats:
    out = np.empty(COUNT)
    fill(out, seed, run, arm, s, along)
    return out


ALONG = {"seed": 0, "run": 1, "arm": 2, "s": 3}
BASES = [(0, 0, 0, 1), (12345, 7, 3, 1000), (2**62, 10**6, 10**5, 2**40)]


@pytest.mark.parametrize("base", BASES, ids=str)
@pytest.mark.parametrize("along", ALONG.values(), ids=ALONG)
class TestUniforms:
    def test_uniform_in_a_thousand_bins(self, along: int, base: tuple[int, int, int, int]) -> None:
        found = np.bincount((draws(along, *base) * 1000).astype(int), minlength=1000)
        assert stats.chisquare(found).pvalue > THRESHOLD
        assert stats.chisquare(found).pvalue < 1 - THRESHOLD  # too even is no better

    def test_low_bits_are_uniform_too(self, along: int, base: tuple[int, int, int, int]) -> None:
        bits = (draws(along, *base) * 2**52).astype(np.int64) & 255
        assert stats.chisquare(np.bincount(bits, minlength=256)).pvalue > THRESHOLD

    @pytest.mark.parametrize("lag", [1, 2, 7, 1024])
    def test_neighbours_are_independent(self, along: int, base: tuple[int, int, int, int], lag: int) -> None:
        values = draws(along, *base)
        pairs = (values[:-lag] * 30).astype(int) * 30 + (values[lag:] * 30).astype(int)
        assert stats.chisquare(np.bincount(pairs, minlength=900)).pvalue > THRESHOLD


@pytest.mark.parametrize(("one", "two"), list(itertools.combinations(ALONG, 2)))
def test_two_counters_do_not_alias(one: str, two: str) -> None:
    """Sequences along s that start one apart in another counter are unrelated, and share no value."""
    other = {"seed": 0, "run": 0, "arm": 0, "s": 1}
    base = draws(3, **other)
    for moved in (one, two):
        if moved == "s":
            continue
        shifted = draws(3, **{**other, moved: other[moved] + 1})
        pairs = (base * 30).astype(int) * 30 + (shifted * 30).astype(int)
        assert stats.chisquare(np.bincount(pairs, minlength=900)).pvalue > THRESHOLD
        assert not np.isin(base, shifted).any()
    assert not np.isin(draws(ALONG[one], 0, 0, 0, 1)[1:], draws(ALONG[two], 0, 0, 0, 1)[1:]).any()


def test_strictly_between_zero_and_one() -> None:
    values = np.concatenate([draws(along) for along in ALONG.values()])
    assert values.min() > 0.0
    assert values.max() < 1.0


def test_choices_have_random_numbers_of_their_own() -> None:
    seeds = {choice_seed(1, run) for run in range(1000)}
    assert len(seeds) == 1000
    assert all(0 <= seed < 2**63 for seed in seeds)
    assert seeds.isdisjoint(int(arm_key(1, run, arm)) for run in range(50) for arm in range(20))


PINNED_REWARDS = {  # by seed, run and arm
    (0, 0, 0): 2558736989570252433,
    (0, 0, 1): 17913671590881668180,
    (0, 1, 0): 3391245575278488096,
    (1, 0, 0): 12793040940332582595,
    (1, 2, 3): 9613205829653846581,
    (12345, 7, 100): 12533843140981021577,
}
PINNED_CHOICES = {  # by seed and run
    (0, 0): 2547805098422156800,
    (0, 1): 1991035113953453139,
    (1, 0): 4307004014346495028,
    (12345, 7): 2078950832899427683,
}


def test_the_keys_of_the_streams_are_those_of_every_run_before() -> None:
    """Merged or renumbered streams would be as random as ever, but no run could be repeated, nor policies compared."""
    assert {at: int(arm_key(*at)) for at in PINNED_REWARDS} == PINNED_REWARDS
    assert {at: choice_seed(*at) for at in PINNED_CHOICES} == PINNED_CHOICES
    assert uniform(np.uint64(arm_key(1, 2, 3)), 4) == 0.16120795754059503


@kernel
def fill_rewards(out: Floats, at: int, family: int, mean: float) -> None:
    key = arm_key(3, 1, 2)
    for i in range(len(out)):
        out[i] = reward(at, key, i + 1, mean, reals(family))


def rewards(noise: Noise, mean: float) -> Floats:
    family = noise.family()
    parameters = np.array(family.parameters, dtype=float)
    out = np.empty(COUNT)
    fill_rewards(out, address(family.quantile, QUANTILE), parameters.ctypes.data, mean)
    return out


@kernel
def sum_of_draws(at: int, sums: int, family: int, mean: float, end: int, least: float) -> int:
    return int(call_draws(at, (mean, arm_key(3, 1, 2), 0, end, least, reals(sums), reals(family))))


@pytest.mark.parametrize("count", [1, 3, 4, 5, 1000])
@pytest.mark.parametrize(
    ("noise", "mean"),
    [(Gaussian(0.7), 0.3), (Bernoulli(), 0.4), (Bounded(-1.0, 3.0), 0.5), (Poisson(), 0.7), (Poisson(), 60.0)],
    ids=str,
)
def test_many_draws_are_the_single_draws_to_the_last_bit(noise: Noise, mean: float, count: int) -> None:
    single = rewards(noise, mean)[:count]
    family, total = noise.family(), np.array([1.0])
    parameters = np.array(family.parameters, dtype=float)
    given = address(drawing(family.quantile), DRAWS), total.ctypes.data, parameters.ctypes.data, mean
    assert sum_of_draws(*given, count, -1.0) == count
    assert total[0] == np.add.accumulate([1.0, *single])[-1]


def test_draws_stop_where_the_mean_reaches_the_floor() -> None:
    """For every floor: the first count whose sum is not above it, and no reward after that one."""
    family, parameters = Gaussian().family(), np.array([1.0])
    single = rewards(Gaussian(), 0.0)[:200]
    sums = np.add.accumulate([5.0, *single])
    for least in (-0.3, -0.05, 0.0, 0.02, 0.1, 1.0):
        total = np.array([5.0])
        given = address(drawing(family.quantile), DRAWS), total.ctypes.data, parameters.ctypes.data
        found = sum_of_draws(*given, 0.0, 200, least)
        below = np.flatnonzero(sums <= least * np.arange(201.0))
        assert found == (below[0] if len(below) else 200)
        assert total[0] == sums[found]


LAWS: list[tuple[Noise, float, Callable[[Floats], Floats]]] = [
    (Gaussian(), 0.3, lambda x: stats.norm.cdf(x, 0.3, 1.0)),
    (Gaussian(2.5), -4.0, lambda x: stats.norm.cdf(x, -4.0, 2.5)),
    (Exponential(), 3.0, lambda x: stats.expon.cdf(x, scale=3.0)),
]


@pytest.mark.parametrize(("noise", "mean", "law"), LAWS, ids=[str(law[0]) for law in LAWS])
def test_continuous_laws(noise: Noise, mean: float, law: Callable[[Floats], Floats]) -> None:
    values = rewards(noise, mean)
    assert stats.kstest(values, law).pvalue > THRESHOLD
    for tail in (1e-1, 1e-2, 1e-3, 1e-4):  # how many fall into each tail is binomial
        for found in (np.count_nonzero(law(values) < tail), np.count_nonzero(law(values) > 1 - tail)):
            assert stats.binomtest(int(found), COUNT, tail).pvalue > THRESHOLD


@pytest.mark.parametrize(
    ("noise", "mean", "variance"),
    [
        (Gaussian(0.5), 1.0, 0.25),
        (Bernoulli(), 0.2, 0.16),
        (Bounded(-1.0, 3.0), 0.0, 3.0),
        (Poisson(), 0.7, 0.7),
        (Poisson(), 60.0, 60.0),
        (Exponential(), 2.0, 4.0),
    ],
    ids=str,
)
def test_moments(noise: Noise, mean: float, variance: float) -> None:
    values = rewards(noise, mean)
    z = (values.mean() - mean) / math.sqrt(variance / COUNT)
    assert 2 * stats.norm.sf(abs(z)) > THRESHOLD
    squares = (values - mean) ** 2
    z = (squares.mean() - variance) / (squares.std() / math.sqrt(COUNT))
    assert 2 * stats.norm.sf(abs(z)) > THRESHOLD
    low, high = noise.support()
    assert low <= values.min() <= values.max() <= high


@pytest.mark.parametrize("mean", [0.4, 12.0])
def test_poisson_counts(mean: float) -> None:
    values = rewards(Poisson(), mean).astype(int)
    most = int(mean + 6 * math.sqrt(mean))
    expected = stats.poisson.pmf(np.arange(most), mean) * COUNT
    found = np.bincount(np.minimum(values, most), minlength=most + 1)
    expected = np.append(expected, COUNT - expected.sum())
    kept = expected > 10
    if not kept.all():
        found = np.append(found[kept], found[~kept].sum())
        expected = np.append(expected[kept], expected[~kept].sum())
    assert stats.chisquare(found, expected).pvalue > THRESHOLD


def test_the_battery_finds_a_bad_generator() -> None:
    """A counter that is scrambled too little fails it."""
    weak = (np.arange(COUNT) * 0.6180339887498949) % 1.0
    pairs = (weak[:-1] * 30).astype(int) * 30 + (weak[1:] * 30).astype(int)
    assert stats.chisquare(np.bincount(pairs, minlength=900)).pvalue < THRESHOLD
