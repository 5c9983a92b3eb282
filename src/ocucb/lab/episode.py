"""The episode: the only loop over t, for every policy and every noise family."""

from __future__ import annotations

import numpy as np

from ocucb.compiled import Floats, Integers, kernel, reals
from ocucb.lab.tape import choice_seed, reward, run_key
from ocucb.policies import Rule, Trend
from ocucb.selection.lazy import rebuild
from ocucb.selection.lead import floor
from ocucb.selection.order import raise_pulls
from ocucb.selection.state import State, arms_at, order_at, state_at
from ocucb.selection.steps import add_pull, add_reward, pick
from ocucb.uniforms import stream


def may_lead(rule: Rule) -> bool:
    """Return whether the leader of a rule may be pulled without selecting again.

    A posterior's quantile, or a bound that switches, need not fall with pulls, so there each round is selected anew.
    """
    return rule.trend is not Trend.NEITHER and rule.bound == "divergence"


@kernel
def reset(state: State, seed: int) -> None:
    """Forget everything: the arms stand in order, never pulled."""
    arms = arms_at(state.arms)
    order = order_at(state.order)
    for arm in range(state.slots):
        this = arms[arm]
        this.pulls = 0.0
        this.mean = 0.0
        this.total = 0.0
        this.learned = 0
        this.span = 0
        this.bucket = -1
        order[arm] = arm
    state.rounds = 0
    state.fresh = state.slots
    state.cursor = 0
    state.leader = -1
    state.hot = -1
    state.stale = 1
    state.seed = seed


@kernel
def lead(state: State, key: np.uint64, mean: float, quantile: int, most: int) -> int:
    """Pull the leader up to `most` times while it leads safely, drawing only rewards; return how many times."""
    this = arms_at(state.arms)[state.leader]
    least = floor(state, state.rounds + 1, most)
    family = reals(state.family)
    total = this.total
    learned = this.learned
    start = learned
    end = learned + most
    while learned < end and total > least * learned:
        learned += 1
        total += reward(quantile, key, learned, mean, family)
    if learned > start:
        this.total = total
        this.learned = learned
        this.mean = total / learned
        state.rounds += learned - start
        if state.ordered:
            raise_pulls(state, state.leader, float(learned))
        else:
            this.pulls = float(learned)
    return int(learned - start)


@kernel
def episode(
    state: State,
    means: Floats,
    seed: int,
    run: int,
    quantile: int,
    leads: bool,
    checkpoints: Integers,
    regret: Floats,
    choices: Integers,
) -> None:
    """Play one run. Write the pseudo-regret after each checkpoint, and the choices of the first rounds, if any."""
    arms = arms_at(state.arms)
    best = means[0]
    for arm in range(len(means)):
        best = max(best, means[arm])
    reset(state, choice_seed(seed, run))
    rewards = run_key(seed, run)
    t, most = 0, 1
    for i in range(len(checkpoints)):
        while t < checkpoints[i]:
            if state.stale and state.fresh == 0:
                rebuild(state, t + 1)
            arm = pick(state)
            add_pull(state, arm)
            key = stream(rewards, arm)
            add_reward(state, arm, reward(quantile, key, int(arms[arm].pulls), means[arm], reals(state.family)))
            count = 1
            if leads and state.leader == arm:
                span = min(most, min(checkpoints[i], state.check - 1) - t - 1)
                if span > 1:
                    count += lead(state, key, means[arm], quantile, span)
                    most = min(2 * most, max(2, int(arms[arm].pulls) >> 3)) if count > span else max(2, most >> 1)
                else:
                    most = max(2, most)
            for r in range(t, min(t + count, len(choices))):
                choices[r] = arm
            t += count
        regret[i] = 0.0
        for arm in range(len(means)):
            regret[i] += arms[arm].pulls * (best - means[arm])


@kernel
def episodes(
    at: int,
    means: Floats,
    seed: int,
    first: int,
    quantile: int,
    leads: bool,
    checkpoints: Integers,
    regret: Floats,
    pulls: Integers,
    choices: Integers,
) -> None:
    """Play the runs first, first + 1, ...: one row of each output for each run."""
    state = state_at(at)
    arms = arms_at(state.arms)
    for row in range(len(regret)):
        episode(state, means, seed, first + row, quantile, leads, checkpoints, regret[row], choices[row])
        for arm in range(len(means)):
            pulls[row, arm] = int(arms[arm].pulls)
