"""A fleet: one node is the lab's own run, and sharing after every round is as good as one node."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from ocucb import UCB, Bernoulli, OCUCBn, ParameterError, ThompsonSampling
from ocucb.lab import Delay, Problem, worst_case
from ocucb.lab.fleet import fleet_regret
from ocucb.lab.shard import Shard, play

EASY = Problem((0.8, 0.3, 0.3), Bernoulli())


def test_one_node_is_a_run_of_the_lab() -> None:
    for policy in (OCUCBn(), ThompsonSampling(), UCB()):
        alone = fleet_regret(EASY, policy, nodes=1, every=7, horizon=200, runs=3, seed=5)
        lab = play(Shard(EASY, policy, 200, (200,), 5, 0, 3)).regret[:, -1]
        assert alone == pytest.approx(lab, rel=1e-12)


def test_sharing_after_every_round_is_one_node() -> None:
    """A policy without a seed of its own chooses by what is known, whoever asks."""
    for problem in (EASY, worst_case(4, 0.5)):
        alone = fleet_regret(problem, OCUCBn(), nodes=1, every=1, horizon=120, runs=2)
        shared = fleet_regret(problem, OCUCBn(), nodes=5, every=1, horizon=120, runs=2)
        assert shared == pytest.approx(alone)


def test_never_sharing_costs_what_so_many_small_runs_cost() -> None:
    """Nodes that never share each try all arms on their own: two bad arms at least once each, a gap of 0.5 apart."""
    never = fleet_regret(EASY, OCUCBn(), nodes=10, every=10**6, horizon=300, runs=4)
    often = fleet_regret(EASY, OCUCBn(), nodes=10, every=10, horizon=300, runs=4)
    assert never.min() >= 10 * 2 * 0.5
    assert often.mean() < never.mean()


WRONG: list[tuple[dict[str, Any], str]] = [
    ({"nodes": 0}, "nodes must be 1 or more, got 0"),
    ({"every": 0}, "every must be 1 or more, got 0"),
    ({"horizon": 2}, "horizon must be 3 or more, got 2"),
    (
        {"problem": replace(EASY, delay=Delay("fixed", (3,)))},
        "a fleet needs a plain problem, got one where rewards come",
    ),
]


@pytest.mark.parametrize(("given", "message"), WRONG, ids=[message[:30] for _, message in WRONG])
def test_wrong_input_gets_one_clear_line(given: dict[str, Any], message: str) -> None:
    everything: dict[str, Any] = {"problem": EASY, "policy": UCB(), "nodes": 2, "every": 5, "horizon": 20}
    with pytest.raises(ParameterError) as caught:
        fleet_regret(**{**everything, **given})
    assert message in str(caught.value)
