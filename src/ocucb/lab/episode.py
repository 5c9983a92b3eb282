"""The episode: the only loop over t, for every policy and every noise family."""

from __future__ import annotations

import numpy as np

from ocucb.compiled import Floats, Integers, call_draws, kernel, reals
from ocucb.lab.environment import Environment, begin, change_means, environment_at, places_at, receive, regret_of, send
from ocucb.lab.tape import choice_seed, delay_key, reward, run_key
from ocucb.selection.changes import reset
from ocucb.selection.leader import add_lead, lead_floor, lead_length
from ocucb.selection.operations import add_pull, add_reward, pick, pulls_of, rebuild_if_stale
from ocucb.selection.state import ARM, State, arms_at, state_at
from ocucb.uniforms import stream

ITEM, TOTAL = ARM.itemsize, int(dict(ARM.fields or {})["total"][1])


@kernel
def draw_lead(state: State, environment: Environment, key: np.uint64, place: float, length: int) -> int:
    """Pull the leader up to `length` times while it leads safely, drawing only rewards; return how many times."""
    start = arms_at(state.arms)[state.leader].learned
    total = reals(state.arms + state.leader * ITEM + TOTAL)
    least = lead_floor(state, length)
    learned = call_draws(
        environment.draws, (place, key, start, start + length, least, total, reals(environment.family))
    )
    add_lead(state, length, learned - start)
    return int(learned - start)


@kernel
def play_rounds(
    state: State, environment: Environment, seed: int, run: int, t: int, end: int, choices: Integers
) -> None:
    """Play the rounds t, ..., end - 1, from 0, of a run that has begun; record the choices of the first, if any."""
    places = places_at(environment.places)
    rewards, delays = run_key(seed, run), delay_key(seed, run)
    while t < end:
        if t >= environment.next_change:
            change_means(environment, state, t)
        rebuild_if_stale(state)
        arm = pick(state)
        add_pull(state, arm)
        key = stream(rewards, arm)
        number = int(pulls_of(state, arm))
        got = reward(environment.quantile, key, number, places[arm], reals(environment.family))
        count = 1
        if environment.delay:
            send(environment, t, arm, got, stream(delays, arm), number)
            receive(environment, state, t)
        else:
            add_reward(state, arm, got)
            rounds = min(end, environment.next_change) - t
            length = lead_length(state, arm, rounds - count)
            while length > 0:  # a leader that was safe to the last pull need not be selected before the next
                drawn = draw_lead(state, environment, key, places[arm], length)
                count += drawn
                length = lead_length(state, arm, rounds - count) if drawn == length else 0
        for r in range(t, min(t + count, len(choices))):
            choices[r] = arm
        t += count


@kernel
def begin_run(state: State, environment: Environment, seed: int, run: int, means: int) -> None:
    """Begin a run, given the address of its means."""
    begin(environment, means)
    reset(state, choice_seed(seed, run))


@kernel
def episodes(
    at: int,
    environment_address: int,
    stride: int,
    seed: int,
    first: int,
    checkpoints: Integers,
    regret: Floats,
    pulls: Integers,
    choices: Integers,
) -> None:
    """Play the runs first, first + 1, ...: one row of each output for each run.

    Written are the pseudo-regret after each checkpoint, the pulls at the end, and the choices of the first rounds.
    stride : bytes from the means of one run to those of the next, 0 if all have the same.
    """
    state, environment = state_at(at), environment_at(environment_address)
    means = environment.stretches
    for row in range(len(regret)):
        run, t = first + row, 0
        begin_run(state, environment, seed, run, means + row * stride)
        for i in range(len(checkpoints)):
            play_rounds(state, environment, seed, run, t, checkpoints[i], choices[row])
            t = checkpoints[i]
            regret[row, i] = regret_of(environment, state)
        for arm in range(environment.arms):
            pulls[row, arm] = int(pulls_of(state, arm))


@kernel
def start(at: int, environment_address: int, seed: int, run: int) -> None:
    """Begin one run, from Python."""
    begin_run(
        state_at(at), environment_at(environment_address), seed, run, environment_at(environment_address).stretches
    )


@kernel
def go_on(at: int, environment_address: int, seed: int, run: int, t: int, end: int, choices: Integers) -> None:
    """Play the rounds t, ..., end - 1 of it."""
    play_rounds(state_at(at), environment_at(environment_address), seed, run, t, end, choices)
