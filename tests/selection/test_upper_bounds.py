"""No index is ever above its bound: where only rounding could lift it there, too."""

from __future__ import annotations

import math
import re
from pathlib import Path

import numpy as np
import pytest

import ocucb
from ocucb import Exponential, Gaussian, LevelPolicy, Noise, Policy, level
from ocucb.compiled import QUANTILE, Floats, Parameters, address, call_quantile, kernel, reals
from ocucb.policies import OCUCB, Trend
from ocucb.selection import Selector
from ocucb.selection.expiry import clock
from ocucb.selection.index import arm_index
from ocucb.selection.operations import add_pull, add_reward, pick, rebuild_if_stale
from ocucb.selection.state import arms_at, bounds_at, due_at, state_at
from ocucb.uniforms import stream, uniform
from samples import POLICY_SAMPLES, with_horizon


@kernel
def broken_bounds(at: int, means: Floats, rounds: int, quantile: int, constant: bool) -> int:
    """Play so many rounds; count the indices above a bound that has not expired."""
    state = state_at(at)
    arms, bounds, due = arms_at(state.arms), bounds_at(state.bounds), due_at(state.due)
    broken = 0
    for _ in range(rounds):
        rebuild_if_stale(state)
        arm = pick(state)
        t = state.rounds + 1
        for other in range(state.slots if state.stale == 0 else 0):
            this = arms[other]
            if other in (arm, state.leader, state.challenger) or this.hidden:
                continue
            if this.bucket < 0 or due[this.bucket] > clock(state, t):
                broken += arm_index(state, other, t) > bounds[other]
        add_pull(state, arm)
        draw = uniform(stream(np.uint64(3), arm), int(arms[arm].pulls) % 1000 + 1)
        add_reward(state, arm, 0.0 if constant else call_quantile(quantile, (means[arm], draw, reals(state.family))))
    return broken


def broken(policy: Policy, noise: Noise, means: list[float], rounds: int, warm: int = 0, changing: bool = False) -> int:
    selector = Selector(policy.rule(), noise.family(), 0, len(means), changing)
    if warm:  # the first arm has so many pulls, the others few
        pulls = 10 + np.arange(len(means))
        pulls[0] = warm
        selector.absorb(pulls, pulls, pulls * np.array(means))
        selector._rebuild()
    constant = not any(means)
    return broken_bounds(
        selector.address, np.array(means), rounds, address(noise.family().quantile, QUANTILE), constant
    )


LAZY = [policy for policy in POLICY_SAMPLES if policy.rule().trend is not Trend.NEITHER]


@pytest.mark.parametrize("changing", [False, True])
@pytest.mark.parametrize("policy", LAZY, ids=str)
def test_every_bound_holds_until_it_expires(policy: Policy, changing: bool) -> None:
    means = np.linspace(0.3, 0.7, 30).tolist()
    assert broken(with_horizon(policy, 1000), Gaussian(), means, 900, changing=changing) == 0


def test_the_margin_of_an_index() -> None:
    """After 10¹⁵ rounds the level moves by less in one than an index is exact to. Without a margin, bounds break."""
    means = np.linspace(0.4, 0.6, 60).tolist()
    assert broken(OCUCB(2**53 - 1), Exponential(), means, 400, warm=5 * 10**15) == 0


@level
def clipped(t: float, pulls: float, effective: float, arms: float, parameters: Parameters) -> float:
    return math.log(max(1.0, parameters[0] / (pulls * effective)))


def test_the_margin_of_a_level() -> None:
    """Effective arms with rho near 0 move by less than they are exact to. Where the level is clipped at 0 the index has
    the slope of a square root, and with a mean of 0 no margin of its own: there a level needs one."""
    for pulls in range(2, 40):
        policy = LevelPolicy("clipped", clipped, {"n": 20.0 * pulls}, trend="falls", rho=1e-15)
        assert broken(policy, Gaussian(), [0.0] * 20, 20 * pulls + 20) == 0


def test_level_and_bound_are_called_in_one_place() -> None:
    """Everything that compares arms asks index.py: no other file calls a level, nor a selector's bound."""
    source = Path(ocucb.__file__).parent
    calling = {
        path.relative_to(source).as_posix()
        for path in source.rglob("*.py")
        if re.search(r"\bcall_level\(|\bstate\.(level|bound)\b", path.read_text(encoding="utf-8"))
        or (path.parent.name == "selection" and "call_bound(" in path.read_text(encoding="utf-8"))
    }
    assert calling == {"selection/index.py"}
