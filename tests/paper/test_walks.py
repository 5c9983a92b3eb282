"""Random walks: against sums made in Python, all coin sequences, and known distributions."""

from __future__ import annotations

import itertools
import math

import numpy as np
import numpy.typing as npt
import pytest

from ocucb.paper.claims.iterated_logarithm_proof import two_jumps
from ocucb.paper.claims.maximal import rademacher_log_peaks
from ocucb.paper.evidence import mean_interval, proportion
from ocucb.paper.walks import (
    GAUSSIAN,
    NAMES,
    RADEMACHER,
    UNIFORM,
    last_times,
    lattice_survival,
    leaping_peaks,
    running_peaks,
    step,
)
from ocucb.uniforms import stream

every_noise = pytest.mark.parametrize("noise", list(NAMES), ids=list(NAMES.values()))


def walk(noise: int, n: int, run: int, seed: int = 5, purpose: int = 3) -> npt.NDArray[np.float64]:
    """The same walk, one step at a time."""
    key = np.uint64(stream(np.uint64(stream(np.uint64(seed), purpose)), run))  # plain integers would be signed
    return np.cumsum([step(noise, key, i) for i in range(1, n + 1)])


@every_noise
def test_peaks_and_last_times_are_those_of_the_walk(noise: int) -> None:
    weights = 1.0 / np.sqrt(np.arange(1, 41))
    peaks = running_peaks(noise, weights, [1, 7, 40], 20, 5, 3)
    last = last_times(noise, 0.3, [0.0, 0.5, 2.0], 40, 20, 5, 3)
    n = np.arange(1, 41)
    for run in range(20):
        path = walk(noise, 40, run)
        np.testing.assert_allclose(peaks[run], [(path * weights)[:end].max() for end in (1, 7, 40)])
        late = [n[path / n + slack / np.sqrt(n) >= 0.3].max(initial=0) for slack in (0.0, 0.5, 2.0)]
        np.testing.assert_array_equal(last[run], late)


@every_noise
def test_steps_have_mean_0_and_variance_1(noise: int) -> None:
    steps = running_peaks(noise, [1.0], [1], 50_000, 0, 0)[:, 0]
    assert mean_interval(steps, of=6).low < 0.0 < mean_interval(steps, of=6).high
    if noise == RADEMACHER:
        assert set(np.unique(steps)) == {-1.0, 1.0}
    else:
        assert mean_interval(steps**2, of=6).low < 1.0 < mean_interval(steps**2, of=6).high
    if noise == UNIFORM:
        assert np.abs(steps).max() <= math.sqrt(3.0)


def test_other_purposes_give_other_walks() -> None:
    one, other = (running_peaks(GAUSSIAN, np.ones(9), [9], 5, 0, purpose) for purpose in (0, 1))
    assert (one != other).all()


def test_lattice_survival_counts_all_sequences() -> None:
    barrier = np.array([1.0, 1.5, math.inf, 1.0, 2.9, 0.0, 3.0, 2.0])
    walks = np.cumsum(list(itertools.product((-1, 1), repeat=8)), axis=1)
    alive = np.logical_and.accumulate(walks <= barrier, axis=1).mean(axis=0)
    np.testing.assert_array_equal(lattice_survival(barrier), alive)


def test_reflection_agrees_with_the_lattice() -> None:
    n = 50
    exact = [1.0 - lattice_survival(np.full(n, m - 1.0))[-1] for m in range(1, 20)]
    np.testing.assert_allclose(np.exp(rademacher_log_peaks(n)[:19]), exact, rtol=1e-9)


def test_simulated_coin_walks_agree_with_the_lattice() -> None:
    barrier = np.sqrt(3.0 * np.arange(1, 201))
    true = float(lattice_survival(barrier)[-1])
    peaks = running_peaks(RADEMACHER, 1.0 / barrier, [200], 20_000, 0, 1)
    measured = proportion(int(np.count_nonzero(peaks <= 1.0)), 20_000)
    assert measured.low < true < measured.high


def test_leaps_agree_with_steps_at_the_same_times() -> None:
    """S_n/√n at n = 16, 32, ..., 1024, once by leaps and once by summing steps."""
    runs, times = 10_000, 16 * 2 ** np.arange(7)
    leaps = leaping_peaks(1.0, [math.log(1500.0)], runs, 0, 2, growth=2.0)[:, 0]
    weights = np.zeros(1024)
    weights[times - 1] = 1.0 / np.sqrt(2.0 * times * np.log(np.log(times)))
    # Weights of 0 put 0 among the values, so only positive peaks can be compared.
    steps = running_peaks(GAUSSIAN, weights, [1024], runs, 0, 3)[:, 0]
    for level in (0.2, 0.6, 1.0, 1.4):
        one, other = (proportion(int(np.count_nonzero(x > level)), runs, of=8) for x in (leaps, steps))
        assert one.low < other.high
        assert other.low < one.high


def test_rare_jumps_of_too_large_a_share_are_not_subgaussian() -> None:
    assert two_jumps(20.0, 0.7)[1] > 0.0
    assert two_jumps(20.0, 0.9)[1] < 0.0
