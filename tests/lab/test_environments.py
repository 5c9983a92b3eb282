"""Environments that are not plain, played by the lab and, choice by choice, by a bandit in plain Python."""

from __future__ import annotations

import importlib
import math
from collections import defaultdict
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import reference
from ocucb import Bandit, Bernoulli, Exponential, Gaussian, OCUCBn, ParameterError, Policy, ThompsonSampling
from ocucb.lab import Delay, Prior, Problem, from_data, random, rotating, switching, worst_case
from ocucb.lab.rewards_from_data import RewardsFromData, read_rewards
from ocucb.lab.shard import Shard, play
from samples import POLICY_SAMPLES, with_horizon

stats: Any = importlib.import_module("scipy.stats")  # untyped

ROUNDS, SEED, RUN = 150, 11, 4
PROBLEMS, DELAYS, REWARDS, CHOICES = 2, 3, 0, 1  # streams of a seed


def uniform(key: int, number: int) -> float:
    return ((reference.splitmix64(key, number) >> 12) + 0.5) / 2**52


def key_of(stream: int, run: int, *more: int) -> int:
    key = reference.splitmix64(reference.splitmix64(SEED, stream), run)
    for one in more:
        key = reference.splitmix64(key, one)
    return key


@cache
def prior_quantile(prior: Prior, level: float) -> float:
    law: dict[str, Callable[[], Any]] = {
        "uniform": lambda: stats.uniform.ppf(level, prior.parameters[0], prior.parameters[1] - prior.parameters[0]),
        "normal": lambda: stats.norm.ppf(level, *prior.parameters),
        "beta": lambda: stats.beta.isf(level, *prior.parameters),
        "list": lambda: prior.parameters[int(level * len(prior.parameters))],
    }
    return float(law[prior.kind]())


def means_in(problem: Problem, t: int, run: int) -> list[float]:
    """The means of round t = 1, 2, ..., read literally."""
    if problem.prior is not None:
        key = key_of(PROBLEMS, run)
        return [prior_quantile(problem.prior, uniform(key, arm)) for arm in range(problem.arms)]
    known = [(1, problem.means), *problem.changes]
    here = max(i for i, (at, _) in enumerate(known) if at <= t)
    at, means = known[here]
    if not problem.smooth or here + 1 == len(known):
        return list(means)
    end, after = known[here + 1]
    return [mean + (t - at) / (end - at) * (later - mean) for mean, later in zip(means, after, strict=True)]


def wait(problem: Problem, arm: int, number: int, run: int) -> float:
    """Rounds until a reward comes."""
    delay = problem.delay
    if delay is None:
        return 0
    key = key_of(DELAYS, run, arm)
    if uniform(key, 2 * number) < delay.lost:
        return math.inf
    level = uniform(key, 2 * number + 1)
    if delay.kind == "fixed":
        return delay.parameters[0]
    if delay.kind == "uniform":
        low, high = delay.parameters
        return low + math.floor(level * (high - low + 1))
    rate = 1 / (1 + delay.parameters[0])
    return float(stats.geom.isf(level, rate)) - 1 if rate < 1 else 0


def draw(problem: Problem, arm: int, mean: float, level: float) -> float:
    noise = problem.noise
    return noise.quantile(float(arm) if isinstance(noise, RewardsFromData) else mean, level)


def play_plainly(problem: Problem, policy: Policy, run: int = RUN) -> tuple[list[int], list[float]]:
    """Return choices and regret after each round."""
    seed = key_of(CHOICES, run) >> 1
    bandit = Bandit(policy, problem.arms, problem.assumed_noise, seed=seed)
    pulls, regret = [0] * problem.arms, 0.0
    coming: dict[float, list[tuple[int, float]]] = defaultdict(list)
    choices, regrets = [], []
    for t in range(1, ROUNDS + 1):
        means = means_in(problem, t, run)
        arm = int(bandit.choose())
        pulls[arm] += 1
        reward = draw(problem, arm, means[arm], uniform(key_of(REWARDS, run, arm), pulls[arm]))
        coming[t + wait(problem, arm, pulls[arm], run)].append((arm, reward))
        for late, value in coming.pop(t, []):
            bandit.learn(late, value)
        choices.append(arm)
        regret += max(means) - means[arm]
        regrets.append(regret)
    return choices, regrets


def by_data(folder: Path) -> Problem:
    lines = ["arm,reward,count", "a,0,30", "a,2,10", "b,1,5", "b,-1,5", "b,4.5,1", "c,1,7"]
    (folder / "seen.csv").write_text("\n".join(lines), encoding="utf-8")
    return replace(from_data(str(folder / "seen.csv")), name="data")


CHANGING = Problem((0.2, 0.5, 0.4), Bernoulli(), "three", changes=((41, (0.8, 0.5, 0.4)), (90, (0.1, 0.2, 0.9))))
ENVIRONMENTS: dict[str, Callable[[Path], Problem]] = {
    "assumed": lambda _: Problem((0.2, 0.5, 0.4), Bernoulli(), assumed=Gaussian(0.5)),
    "uniform": lambda _: random(4),
    "beta": lambda _: replace(random(3, "beta", 2, 3.5), noise=Bernoulli()),
    "normal": lambda _: random(3, "normal", 1, 0.5),
    "list": lambda _: replace(random(5, "list", values=[0.25, 0.5, 1]), noise=Exponential()),
    "abrupt": lambda _: CHANGING,
    "smooth": lambda _: replace(CHANGING, smooth=True),
    "switching": lambda _: switching(3, 0.5, 40, 4),
    "fixed delay": lambda _: replace(worst_case(3, 0.5), delay=Delay("fixed", (7,))),
    "uniform delay": lambda _: replace(worst_case(3, 0.5), delay=Delay("uniform", (0, 30), lost=0.2)),
    "geometric delay": lambda _: replace(worst_case(3, 0.5), delay=Delay("geometric", (5,))),
    "late and changing": lambda _: replace(CHANGING, delay=Delay("geometric", (2.5,), lost=0.1), assumed=Gaussian()),
    "data": by_data,
}


@pytest.mark.parametrize("environment", ENVIRONMENTS)
def test_choices_and_regret_are_those_of_a_bandit_in_that_environment(environment: str, tmp_path: Path) -> None:
    problem = ENVIRONMENTS[environment](tmp_path)
    for sample in POLICY_SAMPLES[:: 1 if environment in ("abrupt", "uniform delay") else 4]:
        policy = with_horizon(sample, ROUNDS)
        made = play(Shard(problem, policy, ROUNDS, tuple(range(1, ROUNDS + 1)), SEED, RUN, 1, trace=ROUNDS))
        choices, regrets = play_plainly(problem, policy)
        assert made.choices[0].tolist() == choices, policy
        assert made.regret[0] == pytest.approx(regrets, rel=1e-9, abs=1e-9)
        assert made.pulls[0].tolist() == [choices.count(arm) for arm in range(problem.arms)]


@pytest.mark.parametrize("environment", ENVIRONMENTS)
def test_runs_are_the_same_bits_however_they_are_split(environment: str, tmp_path: Path) -> None:
    problem = ENVIRONMENTS[environment](tmp_path)
    whole = play(Shard(problem, ThompsonSampling(), ROUNDS, (50, ROUNDS), SEED, 0, 6))
    parts = [play(Shard(problem, ThompsonSampling(), ROUNDS, (50, ROUNDS), SEED, first, 2)) for first in (4, 0, 2)]
    regret = np.concatenate([part.regret for part in (parts[1], parts[2], parts[0])])
    assert np.array_equal(whole.regret, regret)


def test_no_delay_and_a_delay_of_nothing_are_the_same_bits() -> None:
    plain = worst_case(4, 0.4)
    late = replace(plain, delay=Delay("fixed", (0,)))
    for sample in POLICY_SAMPLES:
        policy = with_horizon(sample, 400)
        ours, theirs = (play(Shard(one, policy, 400, (20, 400), 3, 0, 3)) for one in (late, plain))
        assert np.array_equal(ours.regret, theirs.regret)
        assert np.array_equal(ours.pulls, theirs.pulls)


def test_a_change_to_the_same_means_changes_no_choice() -> None:
    plain = worst_case(4, 0.4)
    changing = replace(plain, changes=((30, plain.means), (31, plain.means), (200, plain.means)))
    for policy in (OCUCBn(), ThompsonSampling()):
        ours, theirs = (play(Shard(one, policy, 400, (20, 400), 3, 0, 3)) for one in (changing, plain))
        assert np.array_equal(ours.pulls, theirs.pulls)
        assert ours.regret == pytest.approx(theirs.regret)


def test_smooth_means_move_evenly() -> None:
    problem = rotating(2, 1.0, 10, 3)
    assert means_in(problem, 6, 0) == pytest.approx([-0.5, -0.5])
    made = play(Shard(problem, OCUCBn(), 21, tuple(range(1, 22)), 0, 0, 1, trace=21))
    means = [means_in(problem, t, 0) for t in range(1, 22)]
    steps = [max(mean) - mean[arm] for mean, arm in zip(means, made.choices[0], strict=True)]
    assert np.diff(made.regret[0], prepend=0.0) == pytest.approx(steps, abs=1e-12)


def test_means_of_random_problems_follow_their_law() -> None:
    """Kolmogorov and Smirnov, at a fixed seed: each false alarm less likely than 1e-6."""
    laws: dict[Prior, Any] = {
        Prior("uniform", (-1, 3)): stats.uniform(-1, 4),
        Prior("beta", (2, 5)): stats.beta(2, 5),
        Prior("normal", (1, 2)): stats.norm(1, 2),
    }
    for prior, law in laws.items():
        means = prior.draw(5, 0, 400, 10)
        assert stats.kstest(means.reshape(-1), law.cdf).pvalue > 1e-6
        assert prior.mean() == pytest.approx(law.mean())
    entries = Prior("list", (0.5, 0.1, 0.5)).draw(5, 0, 400, 10).reshape(-1)
    assert stats.binomtest(int((entries == 0.5).sum()), entries.size, 2 / 3).pvalue > 1e-6
    assert set(entries.tolist()) == {0.1, 0.5}


def test_data_are_drawn_as_often_as_they_were_seen(tmp_path: Path) -> None:
    """The uniforms between which each reward lies, found exactly: its share of the unit interval is its share seen."""
    problem = by_data(tmp_path)
    assert isinstance(problem.noise, RewardsFromData)
    assert problem.means == (0.5, 4.5 / 11, 1.0)
    assert problem.noise.arms == ("a", "b", "c")
    for arm, law in enumerate(problem.noise.laws):
        total = sum(count for _, count in law)
        drawn = [problem.noise.quantile(float(arm), (k + 0.5) / 13_200) for k in range(13_200)]
        for reward, count in law:
            assert drawn.count(reward) / 13_200 == pytest.approx(count / total, abs=2e-3)


def test_what_is_assumed_of_data(tmp_path: Path) -> None:
    def read(*rows: str) -> Problem:
        (tmp_path / "x.csv").write_text("\n".join(["reward,arm", *rows]), encoding="utf-8")
        return from_data(str(tmp_path / "x.csv"))

    assert read("0,a", "1,b").assumed_noise == Bernoulli()
    wide = read("0,a", "3,b", "-1,b").assumed_noise
    assert (wide.name, wide.support()) == ("bounded", (-1.0, 3.0))
    assert replace(read("0,a", "1,b"), assumed=Gaussian()).assumed_noise == Gaussian()


def test_many_arms_from_parquet(tmp_path: Path) -> None:
    arrow: Any = importlib.import_module("pyarrow")
    parquet: Any = importlib.import_module("pyarrow.parquet")
    arms = [arm for arm in range(15_000) for _ in (0, 1)]
    rewards = [float(k % 2) for k in range(30_000)]
    counts = [1 + (k * 7) % 90 for k in range(30_000)]
    path = tmp_path / "seen.parquet"
    parquet.write_table(arrow.table({"arm": arms, "reward": rewards, "count": counts}), path)
    problem = from_data(str(path))
    assert problem.arms == 15_000
    assert problem.means[3] == counts[7] / (counts[6] + counts[7])
    made = play(Shard(problem, OCUCBn(), 20_000, (20_000,), 0, 0, 1))
    assert made.pulls.sum() == 20_000
    assert made.pulls.min() == 1


BAD_ROWS = [
    ("arm,reward,count\na,1,-2\nb,0,1", "line 2: a count must be 0 or more, got -2"),
    ("arm,reward,count\na,one,2\nb,0,1", "line 2: a reward must be a finite number, got 'one'"),
    ("arm,reward,count\na,1,2\nb,nan,1", "line 3: a reward must be a finite number, got 'nan'"),
    ("arm,reward,count\na,1,2\nb,1", "line 3: a count must be a finite number, got None"),
    ("arm,count\na,1\nb,1", "must have the columns arm, reward and count, got arm, count"),
    ("", "must have the columns arm, reward and count, got nothing"),
    ("arm,reward\na,1\na,2", "must have at least two arms, got 1"),
    ("arm,reward,count\na,1,2\nb,1,0", "arm 'b' must have a reward with a count above 0, got none"),
]


@pytest.mark.parametrize(("text", "message"), BAD_ROWS)
def test_bad_data_get_one_clear_line(text: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "bad.csv").write_text(text, encoding="utf-8")
    with pytest.raises(ParameterError) as caught:
        read_rewards(tmp_path / "bad.csv")
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("name", ["none.csv", "none.parquet"])
def test_files_that_are_not_there(name: str, tmp_path: Path) -> None:
    with pytest.raises(
        ParameterError, match=r"^there is no file [^\n]+; give a CSV or Parquet file with columns [^\n]+$"
    ):
        read_rewards(tmp_path / name)


@pytest.mark.parametrize("name", ["text.parquet", "bytes.csv"])
def test_files_that_are_none(name: str, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(b"\xff\xfe\x00 no data")
    with pytest.raises(ParameterError, match=r"^[^\n]+must be a [^\n]+file of arm, reward and count, got: [^\n]+$"):
        read_rewards(tmp_path / name)


BAD: list[tuple[Callable[[], object], str]] = [
    (lambda: random(10, "cauchy"), "a prior must be uniform, beta, normal or list, got 'cauchy'"),
    (lambda: random(1), "arms must be 2 or more, got 1"),
    (lambda: random(3, "uniform", 1, 0), "uniform must go from low to high, got 1 and 0"),
    (lambda: random(3, "beta", 0.5, 1), "parameters of beta must be 1 or more, got 0.5"),
    (lambda: random(3, "normal", 0, 0), "the scale of normal must be greater than 0, got 0"),
    (lambda: random(3, "list"), "a list of means must have an entry, got none"),
    (lambda: Prior("uniform", (1.0,)), "uniform must have two parameters, got 1"),
    (
        lambda: replace(random(3, "normal"), noise=Bernoulli()),
        "means drawn from normal(0, 1) under Bernoulli() must lie",
    ),
    (lambda: replace(random(3, "uniform", 0, 2), noise=Bernoulli()), "must lie between 0 and 1"),
    (lambda: replace(random(3), changes=((5, (0.0, 1.0, 2.0)),)), "means must be random or change, got both"),
    (lambda: Problem((0.0, 1.0), changes=((5, (0.0,)),)), "a change must have 2 means, one per arm, got 1 at round 5"),
    (lambda: Problem((0.0, 1.0), changes=((1, (0.0, 1.0)),)), "the round of a change must be 2 or more, got 1"),
    (lambda: Problem((0.0, 1.0), changes=((5, (0.0, 1.0)), (5, (1.0, 0.0)))), "rounds of changes must increase, got 5"),
    (lambda: Problem((0.0, 1.0), Bernoulli(), changes=((5, (0.0, 2.0)),)), "must lie between 0 and 1, got 2"),
    (lambda: Problem((0.0, 1.0), smooth=True), "smooth needs changes, got none"),
    (lambda: switching(3, 0.0), "gap must be greater than 0, got 0"),
    (lambda: switching(3, stretches=1), "stretches must be 2 or more, got 1"),
    (lambda: Delay("never", ()), "a delay must be fixed, uniform or geometric, got 'never'"),
    (lambda: Delay("fixed", (-1,)), "a delay must be 0 or more, got -1"),
    (lambda: Delay("fixed", (1.5,)), "a delay must be a whole number, got 1.5"),
    (lambda: Delay("fixed", ()), "fixed must have 1 numbers of rounds, got 0"),
    (lambda: Delay("uniform", (5, 2)), "uniform must go from low to high, got 5 and 2"),
    (lambda: Delay("geometric", (math.inf,)), "the mean delay must be a finite number, got inf"),
    (lambda: Delay("fixed", (3,), lost=1.0), "lost must be 0 or more and less than 1, got 1; if no reward ever comes"),
]


@pytest.mark.parametrize(("make", "message"), BAD, ids=[message[:40] for _, message in BAD])
def test_bad_environments_get_one_clear_line(make: Callable[[], object], message: str) -> None:
    with pytest.raises(ParameterError) as caught:
        make()
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)
