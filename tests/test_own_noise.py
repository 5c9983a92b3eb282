"""A noise family of one's own, from a file of its own: the library, the lab, the service and the page run with it."""

from __future__ import annotations

import importlib
import math
import random
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pytest

from ocucb import UCB, Bandit, BayesUCB, KLUCBSwitch, Noise, OCUCBn, Policy, RewardError, ThompsonSampling
from ocucb.cli import exit_code
from ocucb.lab.experiment import Experiment
from ocucb.lab.problem import Problem
from ocucb.lab.simulation import simulate
from ocucb.noise import NOISES
from ocucb.service.web.docs import describe
from service.web.api import Api

MEANS = (2.0, 1.7, 1.0, 0.3)


@pytest.fixture(scope="module", autouse=True)
def family() -> Iterator[type[Any]]:
    """The class, registered while these tests run."""
    before = NOISES._classes
    NOISES._classes = dict(before)
    yield importlib.import_module("own_noise.geometric").Geometric
    NOISES._classes = before
    del sys.modules["own_noise.geometric"]


def tape(seed: int, first: int, arm: int) -> Iterator[int]:
    """Rewards of an arm, by trying until it ends."""
    luck = random.Random(100 * seed + arm)
    while True:
        count = first
        while luck.random() < MEANS[arm] / (1.0 + MEANS[arm]):
            count += 1
        yield count


def naive_divergence(p: float, q: float) -> float:
    """Sum over the counts, term by term."""
    total = 0.0
    for k in range(2000):
        log_p = k * math.log(p / (1 + p)) - math.log1p(p) if p > 0 else (0.0 if k == 0 else -math.inf)
        log_q = k * math.log(q / (1 + q)) - math.log1p(q)
        total += math.exp(log_p) * (log_p - log_q) if log_p > -700 else 0.0
    return total


def naive_index(p: float, pulls: int, level: float) -> float:
    """Go up in steps of a factor until the divergence is too large."""
    q = max(p, 1e-12)
    step = 2.0
    while step > 1.0 + 1e-12:
        if (
            pulls * (p * math.log(p / (q * step)) if p > 0 else 0.0)
            + pulls * (1 + p) * math.log((1 + q * step) / (1 + p))
            <= level
        ):
            q *= step
        else:
            step = math.sqrt(step)
    return q


def naive_level(t: int, pulls: list[int], arm: int) -> float:
    """OCUCB-n's, with η = 1.1 and ρ = 1/2."""
    effective = sum(min(1.0, math.sqrt(other / pulls[arm])) for other in pulls)
    return 1.1 * math.log(max(math.e, math.log(t), t * math.log(t) / (pulls[arm] * effective)))


@pytest.mark.parametrize(("p", "q"), [(0.3, 0.7), (2.0, 1.0), (5.0, 5.1), (0.0, 1.5)])
def test_the_divergence_is_that_of_the_law(family: type[Any], p: float, q: float) -> None:
    assert family().divergence(p, q) == pytest.approx(naive_divergence(p, q), rel=1e-9)
    assert family(1).divergence(p + 1, q + 1) == family().divergence(p, q)


@pytest.mark.parametrize("first", [0, 1])
@pytest.mark.parametrize("seed", range(5))
def test_choices_are_those_of_a_naive_reading(family: type[Any], first: int, seed: int) -> None:
    bandit = Bandit(OCUCBn(), len(MEANS), family(first))
    rewards = [tape(seed, first, arm) for arm in range(len(MEANS))]
    pulls, totals = [0] * len(MEANS), [0] * len(MEANS)
    for t in range(1, 301):
        chosen = bandit.choose()
        assert isinstance(chosen, int)
        if t > len(MEANS):
            indices = [
                naive_index(totals[arm] / pulls[arm] - first, pulls[arm], naive_level(t, pulls, arm)) + first
                for arm in range(len(MEANS))
            ]
            assert indices[chosen] == pytest.approx(max(indices), rel=1e-9)
        reward = next(rewards[chosen])
        bandit.learn(chosen, reward)
        pulls[chosen] += 1
        totals[chosen] += reward
    assert bandit.indices() is not None


@pytest.mark.parametrize("policy", [UCB(), BayesUCB(), ThompsonSampling(), KLUCBSwitch(horizon=500)], ids=str)
def test_every_kind_of_rule_finds_the_best_arm(family: type[Any], policy: Policy) -> None:
    bandit = Bandit(policy, len(MEANS), family(), seed=3)
    rewards = [tape(1, 0, arm) for arm in range(len(MEANS))]
    for _ in range(500):
        arm = bandit.choose()
        assert isinstance(arm, int)
        bandit.learn(arm, next(rewards[arm]))
    assert max(bandit.pulls[:2]) > 2 * max(bandit.pulls[2:])


def test_a_reward_is_checked_by_the_family(family: type[Any]) -> None:
    bandit = Bandit(OCUCBn(), 2, family(1))
    bandit.choose()
    with pytest.raises(RewardError, match="a whole number, 1 or more"):
        bandit.learn(0, 0.0)


def test_a_bandit_is_saved_and_loaded(family: type[Any], tmp_path: Path) -> None:
    bandit = Bandit(OCUCBn(), 3, family(1))
    for reward in (1, 4, 2, 1, 7):
        bandit.learn(bandit.choose(), reward)
    bandit.save(tmp_path / "bandit.json")
    again = Bandit.load(tmp_path / "bandit.json")
    assert (again.noise, again.peek()) == (family(1), bandit.peek())


def test_intervals_hold_the_mean_as_often_as_they_say(family: type[Any]) -> None:
    noise: Noise = family(1)
    luck = random.Random(1)
    rewards = np.array([[noise.sample(3.0, luck) for _ in range(40)] for _ in range(4000)])
    assert rewards.mean() == pytest.approx(3.0, abs=0.03)
    assert rewards.std() == pytest.approx(noise.standard_deviation(3.0), rel=0.02)
    low, high = noise.interval(rewards.mean(axis=1), np.full(4000, 40.0))
    assert float(np.mean((low <= 3.0) & (high >= 3.0))) == pytest.approx(0.95, abs=0.02)


def test_the_lab_simulates_it(family: type[Any], tmp_path: Path) -> None:
    problem = Problem(MEANS, family(), "tries")
    experiment = Experiment((problem,), (("ours", OCUCBn()), ("ucb", UCB())), horizon=2000, runs=30)
    regret = simulate(experiment, folder=tmp_path / "study.zarr").dataset["regret"].isel(problem=0, t=-1).mean("run")
    assert all(0.0 < float(regret.sel(policy=label)) < 400.0 for label in ("ours", "ucb"))
    assert Experiment.from_toml(experiment.to_toml()) == experiment
    assert 'noise = "geometric(first=0)"' in experiment.to_toml()


def test_the_command_knows_it(capsys: pytest.CaptureFixture[str]) -> None:
    assert exit_code(["bounds", "--means", "2,1.5", "--noise", "geometric"]) == 0
    assert "needs subgaussian noise, which geometric is not" in capsys.readouterr().out


@pytest.fixture
def api(tmp_path: Path) -> Iterator[Api]:
    server = Api(f"sqlite:///{tmp_path / 'service.db'}")
    yield server
    server.close()


def test_the_service_decides_with_it(api: Api) -> None:
    api.create("tries", noise={"name": "geometric", "first": 1})
    rewards = {arm: tape(2, 1, number) for number, arm in enumerate(("red", "green", "blue"))}
    for _ in range(60):
        made = api.decide("tries")
        assert api.reward(made["id"], next(rewards[made["arm"]])).status_code == 200
    refused = api.reward(api.decide("tries")["id"], 0.5)
    assert refused.status_code == 422
    assert "a whole number, 1 or more" in refused.text
    assert api.http.get("/v1/experiments/tries").json()["noise"] == {"name": "geometric", "first": 1}
    api.verify("tries")
    wrong = api.http.post("/v1/experiments", json={"name": "x", "arms": ["a"], "noise": {"name": "geometric", "p": 1}})
    assert wrong.json()["error"]["details"][0]["where"] == "body.noise.p"


def test_the_service_documents_it(api: Api) -> None:
    models = describe(api.app)["components"]["schemas"]
    assert models["NoiseGeometric"]["properties"]["first"]["default"] == 0
    assert "geometric" in str(models["NewExperiment"]["properties"]["noise"])


def test_the_page_shows_it(api: Api) -> None:
    api.create("tries", noise="geometric")
    for _ in range(30):
        api.reward(api.decide("tries")["id"], 3)
    with httpx.Client(base_url=api.url) as browser:
        assert browser.post("/login", data={"key": api.admin}).status_code == 303
        page = browser.get("/experiments/tries").text
        assert "geometric, first 0" in page
        assert "at 95 %: the score interval, whose variance is q(1 + q)" in page
        assert '<svg class="interval"' in page
        form = browser.get("/new").text
        assert '<option value="geometric">tries until something ends (geometric)</option>' in form
        assert "the smallest count, 0 if the last try is not counted and 1 if it is." in form
