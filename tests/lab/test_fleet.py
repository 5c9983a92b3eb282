"""A fleet: nodes that are bandits and merge, one after another, are its oracle; one node is the lab's own run."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from ocucb import (
    UCB,
    Bandit,
    Bernoulli,
    Gaussian,
    GaussianUnknownScale,
    OCUCBn,
    ParameterError,
    Policy,
    ThompsonSampling,
    UCBTuned,
    Window,
)
from ocucb.lab import (
    Delay,
    Experiment,
    Fleet,
    Identification,
    Problem,
    Remembering,
    exact_regret,
    simulate,
    switching,
    worst_case,
)
from ocucb.lab.gpu_shards import unfit
from ocucb.lab.shard import Shard, ShardResult, play
from ocucb.lab.spec import describe_policy, format_policy, parse_policy
from ocucb.lab.tape import arm_key, choice_seed
from ocucb.uniforms import uniform

EASY = Problem((0.8, 0.3, 0.3), Bernoulli())
SEED = 5


def bandits_choose(problem: Problem, fleet: Fleet, horizon: int, run: int, wait: int = 0) -> list[int]:
    """Return the choices of a run, by bandits that merge; each reward comes `wait` rounds late."""

    def fresh(node: int) -> Bandit:
        return Bandit(fleet.policy, problem.arms, problem.noise, seed=(choice_seed(SEED, run) + node) % 2**63)

    shared, nodes = fresh(0), range(fleet.nodes)
    here, since = [fresh(node) for node in nodes], [fresh(node) for node in nodes]
    pulls, choices, late = [0] * problem.arms, [], []
    for t in range(horizon):
        arm = here[t % fleet.nodes].choose()
        assert isinstance(arm, int)
        choices.append(arm)
        pulls[arm] += 1
        luck = uniform(np.uint64(arm_key(SEED, run, arm)), pulls[arm])
        late.append((t % fleet.nodes, arm, problem.noise.quantile(problem.means[arm], luck)))
        if t >= wait:
            node, known, reward = late[t - wait]
            here[node].learn(known, reward)
            since[node].learn(known, reward)
        if fleet.nodes > 1 and (t + 1) % fleet.every == 0:
            for one in since:
                shared.merge(one)
            pending = [one.pending.tolist() for one in here]
            here, since = [fresh(node) for node in nodes], [fresh(node) for node in nodes]
            for node in nodes:
                here[node].merge(shared)
                for other, count in enumerate(pending[node]):
                    for _ in range(count):
                        here[node].count_pull(other)
    return choices


def played(problem: Problem, policy: Policy, horizon: int, first: int = 0, runs: int = 1) -> ShardResult:
    return play(Shard(problem, policy, horizon, (horizon // 2, horizon), SEED, first, runs, trace=horizon))


@pytest.mark.parametrize("policy", [OCUCBn(), UCB(), ThompsonSampling()], ids=str)
@pytest.mark.parametrize(("nodes", "every"), [(1, 7), (3, 1), (4, 10), (5, 33), (2, 10**6)])
def test_the_choices_of_bandits_that_merge(policy: Policy, nodes: int, every: int) -> None:
    for problem in (EASY, worst_case(4, 0.5)):
        fleet = Fleet(policy, nodes, every)
        outcome = played(problem, fleet, 150, first=2, runs=2)
        for row in range(2):
            assert outcome.choices[row].tolist() == bandits_choose(problem, fleet, 150, 2 + row)
            assert outcome.pulls[row].tolist() == np.bincount(outcome.choices[row], minlength=problem.arms).tolist()
            assert outcome.regret[row, -1] == pytest.approx(float(outcome.pulls[row] @ np.array(problem.gaps)))


@pytest.mark.parametrize("wait", [1, 7, 40])
def test_pending_choices_stay_pending_at_their_node(wait: int) -> None:
    late = replace(EASY, delay=Delay("fixed", (wait,)))
    fleet = Fleet(OCUCBn(), 3, 20)
    assert played(late, fleet, 200, first=1).choices[0].tolist() == bandits_choose(EASY, fleet, 200, 1, wait)


def test_one_node_is_a_run_of_the_lab() -> None:
    for problem in (EASY, switching(3, 0.5, 50, 4), replace(EASY, delay=Delay("geometric", (9,), 0.2))):
        for policy in (OCUCBn(), ThompsonSampling(), UCB()):
            alone, lab = played(problem, Fleet(policy, 1, 7), 200, runs=3), played(problem, policy, 200, runs=3)
            for ours, theirs in zip(alone, lab, strict=True):
                assert np.array_equal(ours, theirs)


def test_sharing_after_every_round_is_one_node() -> None:
    """A policy without a seed of its own chooses by what is known, whoever asks."""
    for problem in (EASY, worst_case(4, 0.5), switching(3, 0.5, 30, 4)):
        alone, shared = played(problem, OCUCBn(), 120, runs=2), played(problem, Fleet(OCUCBn(), 5, 1), 120, runs=2)
        assert np.array_equal(alone.choices, shared.choices)
        assert shared.regret == pytest.approx(alone.regret)


def test_never_sharing_costs_what_so_many_small_runs_cost() -> None:
    """Nodes that never share each try all arms on their own: two bad arms at least once each, a gap of 0.5 apart."""
    policies = (("never", Fleet(OCUCBn(), 10, 10**6)), ("often", Fleet(OCUCBn(), 10, 10)))
    result = simulate(Experiment((EASY,), policies, 300, 4))
    never, often = (result.dataset["regret"].sel(policy=label).isel(t=-1).to_numpy() for label, _ in policies)
    assert never.min() >= 10 * 2 * 0.5
    assert often.mean() < never.mean()


@pytest.mark.parametrize("text", ["ucb(2) on fleet(8, 1000)", "ocucb-n on fleet(nodes=3, every=7)"])
def test_as_text(text: str) -> None:
    policy = parse_policy(text, 1000)
    assert isinstance(policy, Fleet)
    assert parse_policy(format_policy(policy), 1000) == policy
    assert describe_policy(policy) == format_policy(policy) != describe_policy(policy.policy)
    experiment = Experiment((EASY,), ((text, policy),), 100, 2)
    assert Experiment.from_toml(experiment.to_toml()) == experiment


WRONG: list[tuple[str, str]] = [
    ("ucb on fleet(0, 5)", "nodes must be 1 or more, got 0; a fleet needs a node"),
    ("ucb on fleet(2, 0)", "every must be 1 or more, got 0; use every=1 to share after each round"),
    ("ucb on fleet(2)", "arguments of a wrong name or kind"),
    ("ucb on flat(2, 5)", "what a policy is played on must be one of fleet, got 'flat'; did you mean 'fleet'?"),
    ("ucb with window(9) on fleet(2, 5)", "with Window(rounds=9) rounds have no common order; leave the memory out"),
]


@pytest.mark.parametrize(("text", "message"), WRONG)
def test_wrong_text_gets_one_clear_line(text: str, message: str) -> None:
    with pytest.raises(ParameterError) as caught:
        parse_policy(text, 100)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_refused_where_nodes_cannot_share() -> None:
    def experiment(policy: Policy, noise: Any) -> Experiment:
        return Experiment((Problem((0.5, 0.4), noise),), (("fleet", Fleet(policy, 2, 5)),), 100, 2)

    with pytest.raises(ParameterError, match="nodes of a fleet share the sums of rewards"):
        experiment(UCB(), GaussianUnknownScale())
    with pytest.raises(ParameterError, match="nodes of a fleet share the sums of rewards"):
        experiment(UCBTuned(), Bernoulli())
    experiment(UCB(), Gaussian())
    fleet = Fleet(UCB(), 2, 5)
    with pytest.raises(ParameterError, match="exact regret needs one node"):
        exact_regret(EASY, fleet, 10)
    assert "several nodes" in str(unfit(Shard(EASY, fleet, 10, (10,), 0, 0, 1)))
    for policy in (fleet, Remembering(UCB(), Window(9))):
        with pytest.raises(ParameterError, match="identification needs one node that remembers everything, got it"):
            Identification(EASY, (("it", policy),), delta=0.1)
    with pytest.raises(ParameterError, match="policy must be a policy"):
        Fleet(fleet, 2, 5)
