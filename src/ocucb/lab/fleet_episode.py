"""The episode of a fleet: the only loop over t in which several selectors choose by turns."""

from __future__ import annotations

import numpy as np

from ocucb.compiled import Floats, Integers, kernel, reals
from ocucb.lab.environment import (
    Environment,
    change_means,
    chosen_at,
    environment_at,
    places_at,
    regret_of,
    rewards_at,
    rounds_at,
    send,
)
from ocucb.lab.episode import begin_run
from ocucb.lab.tape import choice_seed, delay_key, reward, run_key
from ocucb.selection.changes import reset
from ocucb.selection.operations import add_pull, add_reward, pick, pulls_of, rebuild_if_stale
from ocucb.selection.state import State, arms_at, order_at, state_at
from ocucb.uniforms import stream


@kernel
def fleet_episodes(
    nodes: Integers,
    overall_address: int,
    environment_address: int,
    stride: int,
    every: int,
    seed: int,
    first: int,
    counts: Integers,
    totals: Floats,
    checkpoints: Integers,
    regret: Floats,
    pulls: Integers,
    choices: Integers,
) -> None:
    """Play the runs first, first + 1, ... as `episodes` does, by the selectors at these addresses.

    overall : a selector that chooses nothing, and has the pulls of all nodes.
    counts, totals : a row for each node, rewards that it has not shared; and one more, those that all have shared.
    """
    overall, environment = state_at(overall_address), environment_at(environment_address)
    means = environment.stretches
    for row in range(len(regret)):
        run, t = first + row, 0
        begin_run(overall, environment, seed, run, means + row * stride)
        for node in range(len(nodes)):
            reset(state_at(nodes[node]), (choice_seed(seed, run) + node) & 0x7FFFFFFFFFFFFFFF)
        counts[:, :] = 0
        totals[:, :] = 0.0
        for i in range(len(checkpoints)):
            _play_rounds(nodes, overall, environment, every, seed, run, t, checkpoints[i], counts, totals, choices[row])
            t = checkpoints[i]
            regret[row, i] = regret_of(environment, overall)
        for arm in range(environment.arms):
            pulls[row, arm] = int(pulls_of(overall, arm))


@kernel
def _play_rounds(
    nodes: Integers,
    overall: State,
    environment: Environment,
    every: int,
    seed: int,
    run: int,
    t: int,
    end: int,
    counts: Integers,
    totals: Floats,
    choices: Integers,
) -> None:
    """Play the rounds t, ..., end - 1, from 0."""
    places = places_at(environment.places)
    rewards, delays = run_key(seed, run), delay_key(seed, run)
    while t < end:
        if t >= environment.next_change:
            change_means(environment, overall, t)
        node = t % len(nodes)
        state = state_at(nodes[node])
        rebuild_if_stale(state)
        arm = pick(state)
        add_pull(state, arm)
        add_pull(overall, arm)
        number = int(pulls_of(overall, arm))
        got = reward(environment.quantile, stream(rewards, arm), number, places[arm], reals(environment.family))
        if environment.delay:
            send(environment, t, arm, got, stream(delays, arm), number)
            _receive(nodes, environment, t, counts, totals)
        else:
            _learn(state, arm, got, counts[node], totals[node])
        if t < len(choices):
            choices[t] = arm
        t += 1
        if len(nodes) > 1 and t % every == 0:
            _share(nodes, counts, totals)


@kernel
def _learn(state: State, arm: int, got: float, counts: Integers, totals: Floats) -> None:
    add_reward(state, arm, got)
    counts[arm] += 1
    totals[arm] += got


@kernel
def _receive(nodes: Integers, environment: Environment, t: int, counts: Integers, totals: Floats) -> None:
    """Let nodes learn the rewards of their choices that come at the end of round t."""
    which = rounds_at(environment.first)[t]
    while which >= 0:
        node = which % len(nodes)
        got = rewards_at(environment.rewards)[which]
        _learn(state_at(nodes[node]), chosen_at(environment.chosen)[which], got, counts[node], totals[node])
        which = rounds_at(environment.after)[which]


@kernel
def _share(nodes: Integers, counts: Integers, totals: Floats) -> None:
    """Add up what the nodes have learned since they shared last, and let all begin from that."""
    shared = len(nodes)
    for node in range(shared):
        for arm in range(counts.shape[1]):
            counts[shared, arm] += counts[node, arm]
            totals[shared, arm] += totals[node, arm]
            counts[node, arm] = 0
            totals[node, arm] = 0.0
    for node in range(shared):
        _begin_from(state_at(nodes[node]), counts[shared], totals[shared])


@kernel
def _begin_from(state: State, counts: Integers, totals: Floats) -> None:
    """Give a selector these rewards for its own; what was pending is pending still."""
    arms, order = arms_at(state.arms), order_at(state.order)
    state.rounds = 0
    state.unpulled = 0
    for arm in range(state.slots):
        this = arms[arm]
        this.pulls += float(counts[arm] - this.learned)
        this.learned = counts[arm]
        this.total = totals[arm]
        this.mean = totals[arm] / counts[arm] if counts[arm] > 0 else 0.0
        state.rounds += np.int64(this.pulls)
        state.unpulled += this.pulls == 0.0
    state.cursor = 0
    state.stale = 1
    for place in range(1, state.slots):  # nearly in order as it is
        arm = order[place]
        at = place
        while at > 0 and arms[order[at - 1]].pulls > arms[arm].pulls:
            order[at] = order[at - 1]
            at -= 1
        order[at] = arm
