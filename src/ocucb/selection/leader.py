"""Pulls of the leader without selecting again: how many, and down to which mean it leads safely.

In the next pulls of the leader no other arm's bound expires, its level per pull does not fall below what it will be
after the last of them (time stands still, or for a level that falls has run on), and its index grows with its mean. So
if an arm with those pulls and the floor as its mean would still beat every bound, so does the leader until then.

Whoever draws the rewards asks for `lead_length`, draws them while the mean stays above `lead_floor`, and then tells
`add_lead` what came of it. The length is a guess that costs no logarithm: of the floors computed for longer ones half
would let no pull be made.
"""

from __future__ import annotations

import math

from ocucb.compiled import kernel
from ocucb.policies.policy import Rule, Trend
from ocucb.selection.bound_tree import largest_bound
from ocucb.selection.expiry import FALLS, clock
from ocucb.selection.index import least_index, least_level
from ocucb.selection.order import raise_pulls
from ocucb.selection.state import State, arms_at

DEPTH = 0.97  # of the leader's lead over the largest bound, how much the floor uses


def may_lead(rule: Rule) -> bool:
    """Return whether the leader of a rule may be pulled without selecting again.

    A posterior's quantile, or a bound that switches, need not fall with pulls, so there each round is selected anew.
    """
    return rule.trend is not Trend.NEITHER and rule.bound == "divergence"


@kernel
def lead_length(state: State, arm: int, rounds: int) -> int:
    """Return how many of the next rounds may go to the arm just pulled without selecting; 0 if it does not lead."""
    if state.leads == 0 or state.leader != arm:
        return 0
    this = arms_at(state.arms)[arm]
    lead = this.mean + state.lead_width - largest_bound(state)  # about; to compute the index would cost as much again
    if not lead > 0.0:
        return 0
    length = min(state.lead_pulls, rounds, state.next_expiry - 1 - clock(state, state.rounds))
    if length * state.lead_width > lead * this.pulls:  # with so many pulls more it would lose more than its lead
        length = int(lead * this.pulls / state.lead_width)
    if length > 1:
        return int(length)
    state.lead_pulls = max(2, state.lead_pulls)
    return 0


@kernel
def lead_floor(state: State, pulls: int) -> float:
    """Return a mean above which the leader wins so many rounds, if it is pulled in all of them; inf if none is safe."""
    this = arms_at(state.arms)[state.leader]
    t = state.rounds + 1
    after = this.pulls + pulls
    level = least_level(state, state.leader, t + pulls if state.trend == FALLS else t, after)
    rival = largest_bound(state)
    index = least_index(state, this.mean, after, level)
    mean = this.mean - DEPTH * (index - rival)
    if index > rival and least_index(state, mean, after, level) > rival:
        return float(mean)
    return math.inf


@kernel
def add_lead(state: State, length: int, pulls: int) -> None:
    """Count pulls of the leader, of `length` that were tried, whose rewards were added to its sum."""
    this = arms_at(state.arms)[state.leader]
    if pulls > 0:
        this.learned += pulls
        this.mean = this.total / this.learned
        state.rounds += pulls
        if state.ordered:
            raise_pulls(state, state.leader, this.pulls + pulls)
        else:
            this.pulls += pulls
    if pulls == length:
        state.lead_pulls = min(2 * state.lead_pulls, max(2, int(this.pulls) >> 3))
    else:
        state.lead_pulls = max(2, state.lead_pulls >> 1)
