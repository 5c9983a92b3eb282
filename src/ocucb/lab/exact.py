"""Regret without error bars: the expectation itself, summed over all that can happen, for few Bernoulli arms.

Until round t a run of Bernoulli rewards is known, as far as a policy without randomness can tell, by the pulls T_i and
the successes S_i of each arm. The probability of each such state is carried from round to round; a state before
round t + 1 has T_1 + ... + T_K = t, so there are C(t + 2K - 1, 2K - 1) of them. States with the same pulls are a
*block*. Of three arms some 4 % of the states can be reached, so of a block only these are kept; and within a block an
index depends on the successes of its arm alone, so it is computed T_i + 1 times. Choices are those of the plain scan.
"""

from __future__ import annotations

import math
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from ocucb.checks import whole
from ocucb.compiled import Floats, Integers, kernel
from ocucb.errors import ParameterError
from ocucb.lab.fleet import Fleet
from ocucb.lab.problem import Problem
from ocucb.noise import Bernoulli
from ocucb.policies import Policy
from ocucb.selection.index import arm_index
from ocucb.selection.order import rebuild_order
from ocucb.selection.scan import DRAWN, scan
from ocucb.selection.selector import Selector
from ocucb.selection.state import State, arms_at, order_at, state_at

# starts, ends, places, probabilities and choices of a layer
Parts: TypeAlias = tuple[Integers, Integers, npt.NDArray[np.int32], Floats, npt.NDArray[np.int8]]

MAX_STATES = 100_000_000_000  # of all rounds together: 200 rounds of three arms


def exact_regret(problem: Problem, policy: Policy, horizon: int) -> Floats:
    """Return the expected regret after each of the rounds 1, ..., horizon.

    Two or three arms with Bernoulli rewards, and a policy that leaves nothing to chance. The work grows as
    horizon^4 for two arms and horizon^6 for three.

    >>> from ocucb import Greedy
    >>> exact_regret(Problem((0.5, 0.25), Bernoulli()), Greedy(), 3).tolist()
    [0.0, 0.25, 0.28125]
    """
    arms, rounds = problem.arms, whole("horizon", horizon, 1, "give the number of rounds")
    if not isinstance(problem.noise, Bernoulli) or arms > 3:
        raise ParameterError(f"exact regret needs two or three Bernoulli arms, got {arms} of {problem.noise}; simulate")
    if not problem.plain:
        raise ParameterError(f"exact regret needs a plain problem, got one where {problem.notes()[0]}; simulate")
    if isinstance(policy, Fleet):
        raise ParameterError(f"exact regret needs one node, got {policy}; simulate")
    rule = policy.rule()
    if rule.level is None and (rule.chances is None or rule.chances.coin > 0.0):
        raise ParameterError(f"exact regret needs a policy that leaves nothing to chance, got {policy}; simulate")
    if rule.variance_bound is not None:
        raise ParameterError(f"exact regret needs a policy that reads no variance, got {policy}; simulate")
    if rule.forgets:
        raise ParameterError(f"exact regret needs a policy that remembers everything, got {policy}; simulate")
    if rule.horizon is not None and rounds > rule.horizon:
        raise ParameterError(f"horizon must be at most that of {policy}, {rule.horizon}, got {rounds}")
    states = math.comb(rounds + 2 * arms, 2 * arms)
    if states > MAX_STATES:
        raise ParameterError(f"horizon must leave at most {MAX_STATES:,} states, got {states:,}; take a shorter one")
    selector = Selector(rule, problem.noise.family(), 0, arms, changing=False)
    means, gaps = np.array(problem.means), np.array(problem.gaps)
    indices = np.zeros((arms, rounds + 1)) if rule.level is not None else np.zeros((0, 0))
    block = np.zeros(max(_size(first, second, rounds) for first, second in _pulls(rounds, arms)))
    now, regret = _Layer(1, rounds), np.zeros(rounds)
    now.ends[0, 0], now.places[0], now.probabilities[0] = 1, 0, 1.0
    for t in range(rounds):
        regret[t] = regret[t - 1] + _choose_all(selector.address, t, indices, gaps, now.parts)
        later = _Layer(2 * len(now.places), rounds)
        now = later.cut(_carry(t, means, block, now.parts, later.parts))
    return regret


class _Layer:
    """The states of a round that can be reached, block after block."""

    def __init__(self, room: int, rounds: int) -> None:
        self.starts = np.zeros((rounds + 1, rounds + 1), dtype=np.int64)  # by the pulls of the first and second arm
        self.ends = np.zeros_like(self.starts)
        self.places = np.empty(room, dtype=np.int32)  # within the block
        self.probabilities = np.empty(room)
        self.choices = np.empty(room, dtype=np.int8)

    def cut(self, states: int) -> _Layer:
        """Give back what room is left over."""
        self.places, self.probabilities = self.places[:states].copy(), self.probabilities[:states].copy()
        self.choices = self.choices[:states].copy()
        return self

    @property
    def parts(self) -> Parts:
        return self.starts, self.ends, self.places, self.probabilities, self.choices


def _pulls(t: int, arms: int) -> list[tuple[int, int]]:
    """Return the pulls of the first and second of the arms in all blocks of t pulls."""
    return [(i, j) for i in range(t + 1) for j in range(t - i if arms == 2 else 0, t - i + 1)]


@kernel
def _size(first: int, second: int, t: int) -> int:
    """Return how many states a block has."""
    return (first + 1) * (second + 1) * (t - first - second + 1)


@kernel
def _choose_all(address: int, t: int, indices: Floats, gaps: Floats, parts: Parts) -> float:
    """Write the choice of round t + 1 in every state; return the regret of the round."""
    state = state_at(address)
    starts, ends, places, probabilities, choices = parts
    regret = 0.0
    for first in range(t + 1):
        for second in range(t - first + 1):
            if starts[first, second] == ends[first, second]:
                continue
            third = t - first - second
            _set_pulls(state, first, second, third)
            for arm in range(len(indices)):
                _find_indices(state, arm, t + 1, indices[arm])
            for i in range(starts[first, second], ends[first, second]):
                rest, z = divmod(places[i], third + 1)
                x, y = divmod(rest, second + 1)
                if len(indices) > 0:
                    chosen = 1 if indices[1, y] > indices[0, x] else 0
                    if len(indices) > 2 and indices[2, z] > max(indices[0, x], indices[1, y]):
                        chosen = 2
                else:
                    chosen = _choose(state, t + 1, x, y, z)
                choices[i] = chosen
                regret += probabilities[i] * gaps[chosen]
    return regret


@kernel
def _find_indices(state: State, arm: int, t: int, indices: Floats) -> None:
    """Write the index of an arm with 0, 1, ... successes."""
    this = arms_at(state.arms)[arm]
    for successes in range(this.learned + 1):
        this.mean = successes / max(1.0, this.pulls)
        state.shared_round = 0.0
        indices[successes] = arm_index(state, arm, t) if this.learned > 0 else math.inf


@kernel
def _choose(state: State, t: int, x: int, y: int, z: int) -> int:
    """Return the arm to play in round t: the first that was never played, else the one that the scan finds."""
    arms = arms_at(state.arms)
    for arm in range(state.slots):
        if arms[arm].learned == 0:
            return arm
        arms[arm].mean = (x if arm == 0 else y if arm == 1 else z) / float(arms[arm].learned)
    state.shared_round = 0.0
    return scan(state, t, DRAWN)


@kernel
def _carry(t: int, means: Floats, block: Floats, parts: Parts, parts_later: Parts) -> int:
    """Play round t + 1: write the states after it, and return how many there are. The block is zero, and stays so."""
    starts, ends, places, probabilities, _ = parts_later
    states = 0
    for first in range(t + 2):
        for second in range(t + 1 - first if len(means) == 2 else 0, t + 2 - first):
            for chosen in range(len(means)):
                _add_outcomes(t, first, second, chosen, means[chosen], block, parts)
            starts[first, second] = states
            for place in range(_size(first, second, t + 1)):
                if block[place] != 0.0:
                    places[states], probabilities[states] = place, block[place]
                    block[place] = 0.0
                    states += 1
            ends[first, second] = states
    return states


@kernel
def _add_outcomes(t: int, first: int, second: int, chosen: int, mean: float, block: Floats, parts: Parts) -> None:
    """Add to a block what comes of the states in which this arm is chosen, and which lead there."""
    starts, ends, places, probabilities, choices = parts
    third = t + 1 - first - second
    i, j, k = first - (chosen == 0), second - (chosen == 1), third - (chosen == 2)
    if min(i, j, k) < 0:
        return
    step = (second + 1) * (third + 1) if chosen == 0 else third + 1 if chosen == 1 else 1
    for state in range(starts[i, j], ends[i, j]):
        if choices[state] == chosen:
            rest, z = divmod(places[state], k + 1)
            x, y = divmod(rest, j + 1)
            failed = (x * (second + 1) + y) * (third + 1) + z
            block[failed] += probabilities[state] * (1.0 - mean)
            block[failed + step] += probabilities[state] * mean


@kernel
def _set_pulls(state: State, first: int, second: int, third: int) -> None:
    """Give the arms these pulls, and put them in order."""
    arms = arms_at(state.arms)
    order = order_at(state.order)
    for arm in range(state.slots):
        pulls = first if arm == 0 else second if arm == 1 else third
        arms[arm].pulls = float(pulls)
        arms[arm].learned = pulls
        place = arm
        while place > 0 and arms[order[place - 1]].pulls > pulls:
            order[place] = order[place - 1]
            place -= 1
        order[place] = arm
    if state.ordered:
        rebuild_order(state)
