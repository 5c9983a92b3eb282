"""The leader is pulled without selecting only while it would have been selected, for every policy that allows it."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from ocucb import Bernoulli, Gaussian, Noise, Policy
from ocucb.compiled import QUANTILE, Floats, address, call_quantile, kernel, reals
from ocucb.lab.problem import Problem
from ocucb.lab.shard import Shard, play
from ocucb.policies import OCUCB, Gittins, Rule, Trend
from ocucb.selection import Selector
from ocucb.selection.bound_tree import largest_bound
from ocucb.selection.expiry import clock
from ocucb.selection.index import arm_index
from ocucb.selection.leader import lead_floor, may_lead
from ocucb.selection.operations import add_pull, add_reward, pick, rebuild_if_stale
from ocucb.selection.order import lower_pulls, raise_pulls
from ocucb.selection.state import State, arms_at, state_at
from ocucb.uniforms import stream, uniform
from samples import POLICY_SAMPLES, with_horizon

HORIZON = 400
LEADING = [policy for policy in POLICY_SAMPLES if may_lead(policy.rule())]


@kernel
def loses(state: State, length: int, floor: float) -> bool:
    """Return whether the leader, at its floor, fails to beat every bound in one of the rounds of its lead."""
    this = arms_at(state.arms)[state.leader]
    pulls, mean, lost = this.pulls, this.mean, False
    this.mean = floor
    for more in range(length):
        if more > 0 and state.ordered:
            raise_pulls(state, state.leader, pulls + more)
        this.pulls = pulls + more
        lost = lost or not arm_index(state, state.leader, state.rounds + 1 + more) > largest_bound(state)
    if state.ordered:
        lower_pulls(state, state.leader, pulls)
    this.pulls, this.mean = pulls, mean
    return lost


@kernel
def unsafe_leads(at: int, means: Floats, rounds: int, quantile: int) -> tuple[int, int]:
    """Play; return how many leads were not safe down to their floor, and how many there were."""
    state = state_at(at)
    arms = arms_at(state.arms)
    unsafe, leads = 0, 0
    while state.rounds < rounds:
        rebuild_if_stale(state)
        arm = pick(state)
        add_pull(state, arm)
        draw = uniform(stream(np.uint64(7), arm), int(arms[arm].pulls))
        add_reward(state, arm, call_quantile(quantile, (means[arm], draw, reals(state.family))))
        if state.leader == arm:
            for length in (1, 2, 8, 32, 128):
                if length <= min(rounds - state.rounds, state.next_expiry - 1 - clock(state, state.rounds)):
                    floor = lead_floor(state, length)
                    if floor < np.inf:
                        leads += 1
                        unsafe += loses(state, length, floor)
    return unsafe, leads


@pytest.mark.parametrize("noise", [Gaussian(0.3), Bernoulli()], ids=str)
@pytest.mark.parametrize("policy", LEADING, ids=str)
def test_the_leader_at_its_floor_beats_every_bound(policy: Policy, noise: Noise) -> None:
    for means in ([0.7, 0.4], [0.6, 0.5, 0.4, 0.3], [0.8] + [0.2] * 9):
        selector = Selector(with_horizon(policy, HORIZON).rule(), noise.family(), 0, len(means), changing=False)
        quantile = address(noise.family().quantile, QUANTILE)
        unsafe, leads = unsafe_leads(selector.address, np.array(means), HORIZON, quantile)
        assert selector.rounds == HORIZON
        assert leads > 0
        assert unsafe == 0


@dataclasses.dataclass(frozen=True)
class Scanned(Policy):
    """Any policy, served by the scan of all arms, which never leads."""

    inner: Policy

    def rule(self) -> Rule:
        return self.inner.rule()._replace(trend=Trend.NEITHER)


@pytest.mark.parametrize("horizon", [100, 300])
@pytest.mark.parametrize("policy", [Gittins(100), Gittins(100, approximate=True), OCUCB(100)], ids=str)
def test_hundreds_of_runs_with_a_level_that_falls(policy: Policy, horizon: int) -> None:
    """Levels that fall with t fall fastest near a short horizon; with two close arms the lead is in danger there."""
    policy = with_horizon(policy, horizon)
    for problem in (Problem((0.2, 0.0), Gaussian(0.3)), Problem((0.5, 0.3, 0.1), Gaussian())):
        shard = Shard(problem, policy, horizon, (horizon,), seed=1, first=0, runs=400, trace=horizon)
        led, scanned = play(shard), play(dataclasses.replace(shard, policy=Scanned(policy)))
        assert np.array_equal(led.choices, scanned.choices)
