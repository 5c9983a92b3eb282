"""Verdicts: which arm is best, if that is certain, and how often one is wrong."""

from __future__ import annotations

import importlib
import math
from typing import Any

import numpy as np
import pytest

from ocucb import (
    KLLUCB,
    Bandit,
    Bernoulli,
    Bounded,
    Exponential,
    Gaussian,
    Noise,
    OCUCBn,
    Poisson,
    Policy,
    StateError,
    ThompsonSampling,
    TopTwo,
    Uniform,
)
from ocucb.compiled import BOUND, QUANTILE, Floats, address, call_quantile, kernel, reals
from ocucb.confidence_sequences import against_both, is_better
from ocucb.verdict import pair_errors

stats: Any = importlib.import_module("scipy.stats")  # untyped

FALSE_ALARM = 1e-6
NOISES = [Gaussian(2.0), Bernoulli(), Poisson(), Exponential()]


class Evidence:
    """The compiled evidence of a noise family, and the parameters that it points to."""

    def __init__(self, noise: Noise) -> None:
        found = noise.evidence()
        assert found is not None
        self._parameters = np.array(found.parameters, dtype=float)
        self.function, self.family = address(found.function, BOUND), int(self._parameters.ctypes.data)


@pytest.mark.parametrize("first", [1, 2, 10])
def test_errors_add_up(first: int) -> None:
    arms = 300
    shares = np.array(
        [sum(error * named for error, named in pair_errors(beater, arms, first, 1.0)) for beater in range(arms)]
    )
    np.fill_diagonal(shares, 0.0)
    assert shares.sum(axis=0).max() <= 1.0 + 1e-12
    assert shares.sum(axis=0).min() > 0.89 or first == 1


@pytest.mark.parametrize("noise", NOISES, ids=str)
@pytest.mark.parametrize(
    ("mean", "count", "other", "others"), [(0.5, 50, 0.25, 900), (0.5, 900, 0.25, 50), (0.9, 9, 0.01, 7)]
)
def test_better_is_against_every_mean_in_between(
    noise: Noise, mean: float, count: float, other: float, others: float
) -> None:
    law = Evidence(noise)
    grid = np.linspace(other, mean, 20_001)[1:-1]
    one, two = (mean, count, law.family), (other, others, law.family)
    least = min(against_both(law.function, one, two, q) for q in grid)
    if least > 0.0:
        assert is_better(law.function, one, two, least * (1.0 - 1e-5))
    assert not is_better(law.function, one, two, abs(least) * (1.0 + 1e-5))
    assert not is_better(law.function, two, one, 0.1)


@kernel
def count_wrong(function: int, family: int, sums: Floats, others: Floats, level: float) -> int:
    """Return in how many runs an arm is ever called better than one of equal mean and three times its pulls."""
    wrong = 0
    for run in range(len(sums)):
        for i in range(sums.shape[1] // 3):
            count, more = i + 1, 3 * i + 3
            mean, other = sums[run, count - 1] / count, others[run, more - 1] / more
            if is_better(function, (mean, float(count), family), (other, float(more), family), level):
                wrong += 1
                break
    return wrong


@kernel
def draw_all(quantile: int, mean: float, uniforms: Floats, family: Floats, rewards: Floats) -> None:
    for i in range(len(uniforms)):
        rewards[i] = call_quantile(quantile, (mean, uniforms[i], reals(family.ctypes.data)))


@pytest.mark.parametrize("noise", NOISES, ids=str)
def test_arms_of_equal_means_are_rarely_told_apart(noise: Noise) -> None:
    """At most 1 run in 10 may be wrong, over all rounds at once."""
    runs, rounds, error = 400, 900, 0.1
    uniforms = np.random.default_rng(9).random((2, runs, rounds))
    family = noise.family()
    rewards = np.empty_like(uniforms)
    parameters = np.array([*family.parameters, 0.0])
    draw_all(address(family.quantile, QUANTILE), 0.3, uniforms.ravel(), parameters, rewards.ravel())
    sums, others = np.cumsum(rewards, axis=2)
    law = Evidence(noise)
    wrong = count_wrong(law.function, law.family, sums, others, math.log(1.0 / error))
    assert wrong <= stats.binom.ppf(1.0 - FALSE_ALARM, runs, error)
    assert wrong >= 1


def play(bandit: Bandit, means: dict[str, float], rounds: int, seed: int) -> None:
    generator = np.random.default_rng(seed)
    for _ in range(rounds):
        arm = str(bandit.choose())
        bandit.learn(arm, bandit.noise.sample(means[arm], generator))


@pytest.mark.parametrize("noise", [*NOISES, Bounded(0.0, 1.0)], ids=str)
@pytest.mark.parametrize("policy", [OCUCBn(), ThompsonSampling(), TopTwo()], ids=str)
def test_verdicts_asked_for_in_every_round_are_rarely_wrong(noise: Noise, policy: Policy) -> None:
    """Rewards come late, one choice in ten never does. At most 1 run in 10 may ever rule out the best arm."""
    runs, rounds, delay = 15, 120, 5
    means = (0.5, 0.45, 0.1)
    wrong = 0
    for run in range(runs):
        bandit = Bandit(policy, 3, noise, seed=run)
        draw = np.random.default_rng(run)
        late: list[int] = []
        ruled_out: set[Any] = set()
        for _ in range(rounds):
            late.append(int(bandit.choose()))
            if len(late) > delay:
                arm = late.pop(0)
                bandit.forget(arm) if draw.random() < 0.1 else bandit.learn(arm, noise.sample(means[arm], draw))
                ruled_out |= set(bandit.best(0.9).ruled_out)
        wrong += 0 in ruled_out
    assert wrong <= stats.binom.ppf(1.0 - FALSE_ALARM, runs, 0.1)


def test_policies_that_look_for_a_verdict_reach_it_sooner() -> None:
    """Ten arms, three of them near the best: fewer rounds than uniform play, over four runs."""

    def needed(policy: Policy, run: int) -> int:
        bandit = Bandit(policy, 10, Gaussian(0.25), seed=run)
        draw = np.random.default_rng(run)
        means = [0.0, *[-0.1] * 3, *[-0.5] * 3, *[-1.0] * 3]
        while bandit.best(0.99).best is None:
            for _ in range(50):
                arm = int(bandit.choose())
                bandit.learn(arm, means[arm] + 0.25 * draw.standard_normal())
        return bandit.rounds

    uniform = sum(needed(Uniform(), run) for run in range(4))
    for policy in (TopTwo(), KLLUCB(0.01)):
        assert sum(needed(policy, run) for run in range(4)) < 0.8 * uniform


def test_a_verdict_from_nothing_to_certainty() -> None:
    means = {"a": 0.2, "b": 0.8, "c": 0.1}
    bandit = Bandit(Uniform(), list(means), Bernoulli(), seed=0)
    nothing = bandit.best()
    assert (nothing.best, nothing.contenders, nothing.ruled_out) == (None, ("a", "b", "c"), ())
    assert (nothing.rounds_needed, nothing.confidence) == (None, 0.95)
    play(bandit, means, 24, 1)
    soon = bandit.best()
    assert soon.best is None
    assert soon.contenders[0] == "b"
    assert soon.rounds_needed is not None
    assert soon.rounds_needed > 0
    play(bandit, means, 3000, 2)
    certain = bandit.best(0.99)
    assert (certain.best, certain.contenders, certain.rounds_needed) == ("b", ("b",), 0)
    assert certain.ruled_out == ("a", "c")


def test_the_forecast_comes_true_if_means_stay() -> None:
    bandit = Bandit(OCUCBn(), 2, Bernoulli())
    bandit.learn_many([0] * 100 + [1] * 100, [1] * 60 + [0] * 40 + [1] * 40 + [0] * 60)
    verdict = bandit.best()
    assert verdict.best is None
    assert verdict.rounds_needed is not None
    for more, sure in ((0.9, False), (1.1, True)):
        times = 1.0 + more * verdict.rounds_needed / 200
        later = Bandit(OCUCBn(), 2, Bernoulli())
        ones = [round(60 * times), round(40 * times)]
        zeros = [round(40 * times), round(60 * times)]
        for arm in range(2):
            later.learn_many([arm] * (ones[arm] + zeros[arm]), [1] * ones[arm] + [0] * zeros[arm])
        assert (later.best().best is not None) == sure


def test_equal_means_have_no_forecast() -> None:
    bandit = Bandit(OCUCBn(), 2, Bernoulli())
    bandit.learn_many([0, 1] * 50, [1, 1, 0, 0] * 25)
    assert bandit.best().rounds_needed is None


def test_retired_arms_are_out_and_added_ones_are_in() -> None:
    bandit = Bandit(OCUCBn(), ["a", "b", "c"], Bernoulli())
    for arm, ones in (("a", 900), ("b", 500), ("c", 100)):
        bandit.learn_many([arm] * 1000, [1] * ones + [0] * (1000 - ones))
    assert bandit.best().best == "a"
    bandit.retire_arm("a")
    assert bandit.best().best == "b"
    assert bandit.best().ruled_out == ("c",)
    bandit.add_arm("d")
    assert bandit.best().best is None
    assert set(bandit.best().contenders) == {"b", "d"}
    bandit.learn_many(["d"] * 1000, [1] * 200 + [0] * 800)
    assert bandit.best().best == "b"
    bandit.retire_arm("c")
    bandit.retire_arm("d")
    assert bandit.best().best == "b"


def test_pairs_are_sharper_than_intervals() -> None:
    bandit = Bandit(OCUCBn(), 2, Bernoulli())
    bandit.learn_many([0] * 400 + [1] * 400, [1] * 230 + [0] * 170 + [1] * 170 + [0] * 230)
    low, high = bandit.intervals(1.0 - 0.05 / 2)
    assert low[0] < high[1]
    assert bandit.best(0.95).best == 0


def test_a_saved_bandit_knows_which_arms_were_added() -> None:
    bandit = Bandit(OCUCBn(), ["a", "b"], Bernoulli())
    assert "first_arms" not in bandit.to_dict()
    bandit.add_arm("c")
    for arm, ones in (("a", 8), ("b", 5), ("c", 1)):
        bandit.learn_many([arm] * 20, [1] * ones + [0] * (20 - ones))
    data = bandit.to_dict()
    assert data["first_arms"] == 2
    assert Bandit.from_dict(data).to_dict() == data
    assert Bandit.from_dict(data).best() == bandit.best()
    for wrong in (0, 4, True, 1.0, "2", None):
        with pytest.raises(StateError, match="first_arms must be a whole number from 1 to 3"):
            Bandit.from_dict({**data, "first_arms": wrong})
