"""Regret without error bars: the expectation itself, summed over all that can happen, for few Bernoulli arms.

Until round t a run of Bernoulli rewards is known, as far as a policy without randomness can tell, by the pulls T_i and
the successes S_i of each arm. The probability of each such state is carried from round to round; a state before
round t + 1 has T_1 + ... + T_K = t, so there are C(t + 2K - 1, 2K - 1) of them. Choices are those of the plain scan.
"""

from __future__ import annotations

import math

import numpy as np

from ocucb.checks import whole
from ocucb.compiled import Floats, Integers, kernel
from ocucb.errors import ParameterError
from ocucb.lab.fleet import Fleet
from ocucb.lab.problem import Problem
from ocucb.noise import Bernoulli
from ocucb.policies import Policy
from ocucb.selection.order import rebuild_order
from ocucb.selection.scan import DRAWN, scan
from ocucb.selection.selector import Selector
from ocucb.selection.state import State, arms_at, order_at, state_at

MAX_STATES = 2_000_000_000  # of all rounds together; about ten minutes of one core


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
    largest = math.comb(rounds + 2 * arms - 1, 2 * arms - 1)  # states of one round
    regret = np.zeros(rounds)
    _sum_up(
        selector.address,
        np.array(problem.means),
        np.array(problem.gaps),
        np.zeros((2, largest)),
        np.zeros((2, rounds + 2, rounds + 2), dtype=np.int64),
        regret,
    )
    return regret


@kernel
def _sum_up(address: int, means: Floats, gaps: Floats, probabilities: Floats, starts: Integers, regret: Floats) -> None:
    """Carry the probabilities of all states from round to round; two rows of each array, used in turn."""
    state = state_at(address)
    arms = len(means)
    probabilities[0, 0] = 1.0
    _find_starts(0, arms, starts[0])
    total = 0.0
    for t in range(len(regret)):
        now, later = t & 1, 1 - (t & 1)
        states = _find_starts(t + 1, arms, starts[later])
        for place in range(states):
            probabilities[later, place] = 0.0
        for first in range(t + 1):
            for second in range(t - first if arms == 2 else 0, t - first + 1):
                _set_pulls(state, first, second, t - first - second)
                rows = probabilities[now], probabilities[later]
                total += _play(state, t, first, second, means, gaps, rows, (starts[now], starts[later]))
        regret[t] = total


@kernel
def _find_starts(t: int, arms: int, starts: Integers) -> int:
    """Give the states of t pulls their places, those with pulls (i, j, ...) from starts[i, j] on; return how many."""
    states = 0
    for first in range(t + 1):
        for second in range(t - first if arms == 2 else 0, t - first + 1):
            starts[first, second] = states
            states += (first + 1) * (second + 1) * (t - first - second + 1)
    return states


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


@kernel
def _play(
    state: State,
    t: int,
    first: int,
    second: int,
    means: Floats,
    gaps: Floats,
    probabilities: tuple[Floats, Floats],
    starts: tuple[Integers, Integers],
) -> float:
    """Play round t + 1 in every state with these pulls; return its regret, weighted by their probabilities."""
    arms = arms_at(state.arms)
    third = t - first - second
    now, later = probabilities
    place = starts[0][first, second]
    regret = 0.0
    for x in range(first + 1):
        for y in range(second + 1):
            for z in range(third + 1):
                probability = now[place]
                place += 1
                if probability == 0.0:
                    continue
                for arm in range(state.slots):
                    if arms[arm].learned > 0:
                        arms[arm].mean = (x if arm == 0 else y if arm == 1 else z) / float(arms[arm].learned)
                chosen = _choose(state, t + 1)
                regret += probability * gaps[chosen]
                i, j, k = first + (chosen == 0), second + (chosen == 1), third + (chosen == 2)
                failed = starts[1][i, j] + (x * (j + 1) + y) * (k + 1) + z
                step = (j + 1) * (k + 1) if chosen == 0 else k + 1 if chosen == 1 else 1
                later[failed] += probability * (1.0 - means[chosen])
                later[failed + step] += probability * means[chosen]
    return regret


@kernel
def _choose(state: State, t: int) -> int:
    """Return the arm to play in round t: the first that was never played, else the one that the scan finds."""
    arms = arms_at(state.arms)
    for arm in range(state.slots):
        if arms[arm].learned == 0:
            return arm
    state.shared_round = 0.0
    return scan(state, t, DRAWN)
