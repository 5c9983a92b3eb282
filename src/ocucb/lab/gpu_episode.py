"""The episode on a GPU: the only loop over t there, a thread for each run, for every policy and every noise family.

All arms are scanned for a choice, and while one leads safely only its rewards are drawn, as on the CPU. Levels, bounds,
scores and quantiles are the package's own kernels. The state of a run lies in arrays in which neighbouring runs stand
side by side. Effective arms are sums over all arms, made anew where they change. With many arms they are corrected
instead, which can tell arms in equal states apart: that is done only where rewards are continuous and there are none.
"""

from __future__ import annotations

import math
from types import FunctionType
from typing import Any, NamedTuple

import numpy as np

from ocucb.compiled import Floats, Integers, bits_of, float_of, kernel
from ocucb.compiled.cuda import cuda, device, gpu_kernel, plain
from ocucb.lab.tape import choice_seed, run_key
from ocucb.noise.noise import Family
from ocucb.policies.policy import Rule, Trend
from ocucb.selection.index import LEVEL_MARGIN, index_margin
from ocucb.selection.leader import DEPTH, may_lead
from ocucb.selection.order import power
from ocucb.uniforms import stream, uniform

EXACT_SUMS = 64  # arms up to which effective arms are always made anew
DIVERGENCE, UPPER, POSTERIOR = 1, 2, 3  # what stands for the addresses by which scores call these on the CPU


@kernel
def rounded(product: float, zero: int) -> float:
    """Return a product as it is: behind a number that the compiler cannot foresee, it is not fused with a sum."""
    return float(float_of(bits_of(product) ^ zero))


class Kind(NamedTuple):
    """What tells compiled episodes apart."""

    rule: Rule  # without parameters and horizon
    family: Family  # without parameters
    corrects: bool  # effective arms are corrected, not made anew


def _score_of(rule: Rule, family: Family) -> Any:
    """Return the score with the family's functions in the place of their addresses."""
    if rule.score is None:
        return device(lambda *_: 0.0)
    divergence, upper, posterior = family.divergence, family.upper, family.posterior

    @device
    def call_bound(which: int, given: Any) -> float:
        if which == UPPER:
            return upper(given[0], given[1], given[2], given[3])
        return posterior(given[0], given[1], given[2], given[3])

    @device
    def call_divergence(which: int, given: Any) -> float:
        return divergence(given[0], given[1], given[2])

    return _with_names(rule.score, {"call_bound": call_bound, "call_divergence": call_divergence})


def _with_names(function: Any, names: dict[str, Any]) -> Any:
    """Return a kernel for the GPU in which some names, there and in the kernels that it calls, stand for others."""
    python: Any = getattr(function, "py_func", function)
    known = python.__globals__
    called = {name: known[name] for name in python.__code__.co_names if hasattr(known.get(name), "py_func")}
    deeper = {name: _with_names(one, names) for name, one in called.items() if _uses(one, names)}
    made = {**known, **names, **deeper}
    return device(FunctionType(python.__code__, made, python.__name__, python.__defaults__, python.__closure__))


def _uses(function: Any, names: dict[str, Any]) -> bool:
    """Return whether a kernel, or one that it calls, uses one of the names."""
    python = function.py_func
    known = [python.__globals__.get(name) for name in python.__code__.co_names]
    return bool(names.keys() & set(python.__code__.co_names)) or any(
        _uses(one, names) for one in known if hasattr(one, "py_func")
    )


def _index_of(rule: Rule, family: Family) -> tuple[Any, Any]:
    """Return the level as the selector reads it, and the bound."""
    level: Any = rule.level
    bound = {"divergence": family.upper, "posterior": family.posterior, "switch": family.switch}[rule.bound]
    signed = rule.bound == "switch"
    if level is None:
        return device(lambda *_: 0.0), bound

    @device
    def clean_level(t: float, pulls: float, effective: float, arms: float, parameters: Floats) -> float:
        found = level(t, pulls, effective, arms, parameters)
        return found if found >= 0.0 or signed else 0.0

    return clean_level, bound


def make_episode(kind: Kind) -> Any:
    """Return `launch(threads, ...)` that plays a run in each thread; its arguments are those of `episode`, below."""
    rule, family, corrects = kind
    level, bound = _index_of(rule, family)
    score, quantile = _score_of(rule, family), family.quantile
    scored, ordered, rho = rule.score is not None, bool(rule.rho), float(rule.rho or 0.0)
    leads, falls = may_lead(rule) and not scored, rule.trend is Trend.FALLS

    @device
    def effective(pulls: Floats, sums: Floats, at: int, arms: int) -> float:
        return sums[at] / power(pulls[at], rho) if ordered else float(arms)

    @device
    def sum_of_powers(pulls: Floats, run: int, runs: int, arms: int, at: int) -> float:
        mine = power(pulls[at], rho)
        total = 0.0
        for arm in range(arms):
            total += min(mine, power(pulls[arm * runs + run], rho))
        return total

    @device
    def count_pulls(pulls: Floats, sums: Floats, run: int, runs: int, arms: int, arm: int, more: float) -> None:
        """Give an arm more pulls, and make the effective arms right that this changes."""
        at = arm * runs + run
        before = pulls[at]
        pulls[at] = before + more
        if not ordered:
            return
        for other in range(arms):
            place = other * runs + run
            if other == arm or (pulls[place] > before and not corrects):
                sums[place] = sum_of_powers(pulls, run, runs, arms, place)
            elif pulls[place] > before:
                least = min(pulls[place], pulls[at])
                sums[place] += power(least, rho) - (power(before, rho) if before > 0.0 else 0.0)

    @device
    def choose(
        pulls: Floats, totals: Floats, sums: Floats, run: int, runs: int, arms: int, t: int, seed: int,
        parameters: Floats, constants: Floats,
    ) -> int:  # fmt: skip
        """Return the lowest arm with the largest index or score in round t."""
        best = 0
        if scored:
            for arm in range(1, arms):
                at, top = arm * runs + run, best * runs + run
                if totals[at] / pulls[at] > totals[top] / pulls[top]:
                    best = arm
        luck = np.uint64(stream(np.uint64(seed), t))
        winner, largest = 0, -math.inf
        for arm in range(arms):
            at = arm * runs + run
            mean = totals[at] / pulls[at]
            if scored:
                top = best * runs + run
                value = score(
                    float(t), float(arms), pulls[at], mean, arm == best, totals[top] / pulls[top], pulls[top],
                    uniform(luck, 0), uniform(luck, arm + 1), parameters, DIVERGENCE, UPPER, POSTERIOR, constants,
                )  # fmt: skip
            else:
                known = level(float(t), pulls[at], effective(pulls, sums, at, arms), float(arms), parameters)
                value = bound(mean, pulls[at], known, constants)
            if value > largest:
                winner, largest = arm, value
        return winner

    @device
    def lead_floor(
        pulls: Floats, totals: Floats, sums: Floats, run: int, runs: int, arms: int, t: int, leader: int, length: int,
        parameters: Floats, constants: Floats,
    ) -> float:  # fmt: skip
        """Return a mean above which the leader wins so many rounds from t on; inf if none is safe."""
        rival = -math.inf
        when = float(t) if falls else float(t + length)
        for arm in range(arms):
            if arm != leader:
                at = arm * runs + run
                mean = totals[at] / pulls[at]
                known = level(when, pulls[at], effective(pulls, sums, at, arms), float(arms), parameters)
                known += math.copysign(LEVEL_MARGIN * (1.0 + abs(known)), known)
                value = bound(mean, pulls[at], known, constants)
                rival = max(rival, value + index_margin(value, mean))
        at = leader * runs + run
        mean, after = totals[at] / pulls[at], pulls[at] + length
        when = float(t + length) if falls else float(t)
        known = level(when, after, effective(pulls, sums, at, arms), float(arms), parameters)
        known = max(0.0, known * (1.0 - LEVEL_MARGIN) - LEVEL_MARGIN)
        value = bound(mean, after, known, constants)
        value -= index_margin(value, mean)
        floor = mean - DEPTH * (value - rival)
        there = bound(floor, after, known, constants)
        return floor if value > rival and there - index_margin(there, floor) > rival else math.inf

    def episode(
        pulls: Floats, totals: Floats, sums: Floats, counts: Integers, regret: Floats, numbers: Integers,
        shards: Integers, seeds: Integers, means: Floats, parameters: Floats, constants: Floats,
        checkpoints: Integers,
    ) -> None:  # fmt: skip
        """Play one run: counts and regret are its answer, numbers and shards say which run of which shard it is."""
        run, runs, arms = cuda.grid(1), len(numbers), means.shape[1]
        if run >= runs:
            return
        shard = shards[run]
        mine, family_constants, truth = plain(parameters[shard]), plain(constants[shard]), plain(means[shard])
        best = truth[0]
        for arm in range(arms):
            best = max(best, truth[arm])
            pulls[arm * runs + run] = 0.0
            totals[arm * runs + run] = 0.0
            sums[arm * runs + run] = 0.0
        key, seed = np.uint64(run_key(seeds[shard], numbers[run])), choice_seed(seeds[shard], numbers[run])
        t, lead = 0, 1
        for mark in range(len(checkpoints)):
            while t < checkpoints[mark]:
                arm = t
                if t >= arms:
                    arm = choose(pulls, totals, sums, run, runs, arms, t + 1, seed, mine, family_constants)
                at = arm * runs + run
                rewards = np.uint64(stream(key, arm))
                totals[at] += quantile(truth[arm], uniform(rewards, int(pulls[at]) + 1), family_constants)
                count_pulls(pulls, sums, run, runs, arms, arm, 1.0)
                t += 1
                length = min(lead, checkpoints[mark] - t)
                if not leads or t <= arms or length < 2:
                    lead = max(2, lead)
                    continue
                floor = lead_floor(
                    pulls, totals, sums, run, runs, arms, t + 1, arm, length, mine, family_constants
                )  # fmt: skip
                count, total = int(pulls[at]), totals[at]
                end, first = count + length, count
                while count < end and total > floor * count:
                    count += 1
                    total += quantile(truth[arm], uniform(rewards, count), family_constants)
                totals[at] = total
                if count > first:
                    count_pulls(pulls, sums, run, runs, arms, arm, float(count - first))
                    t += count - first
                lead = min(2 * lead, max(2, count >> 3)) if count == end else max(2, lead >> 1)
            regret[run, mark] = 0.0
            for arm in range(arms):
                regret[run, mark] += rounded(pulls[arm * runs + run] * (best - truth[arm]), numbers[run] >> 62)
        for arm in range(arms):
            counts[run, arm] = int(pulls[arm * runs + run])

    return gpu_kernel(episode)
