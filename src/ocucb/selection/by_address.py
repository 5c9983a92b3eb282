"""What only some bandits need, called by its address: the first choice of all others need not compile it."""

from __future__ import annotations

from ocucb.compiled import FIND, REMEMBER_PULL, REMEMBER_REWARD, address, kernel
from ocucb.policies.policy import Rule, Trend
from ocucb.selection.ceilings import scan_under_ceilings
from ocucb.selection.forgetting import remember_pull, remember_reward
from ocucb.selection.restarting import NO_ARM, arm_to_explore
from ocucb.selection.sampling import sample
from ocucb.selection.scan import scan
from ocucb.selection.state import state_at


@kernel
def find_by_scan(at: int, t: int, coin: float) -> int:
    return scan(state_at(at), t, coin)


@kernel
def find_by_sampling(at: int, t: int, coin: float) -> int:
    return sample(state_at(at), t)


@kernel
def find_under_ceilings(at: int, t: int, coin: float) -> int:
    return scan_under_ceilings(state_at(at), t)


@kernel
def find_after_restarts(at: int, t: int, coin: float) -> int:
    state = state_at(at)
    forced = arm_to_explore(state)
    if forced != NO_ARM:
        return forced
    return scan_under_ceilings(state, t) if state.ceilings else scan(state, t, coin)


@kernel
def remember_pull_at(at: int, arm: int) -> None:
    remember_pull(state_at(at), arm)


@kernel
def remember_reward_at(at: int, arm: int, reward: float) -> None:
    remember_reward(state_at(at), arm, reward)


def addresses(rule: Rule, ceilings: bool) -> dict[str, int]:
    """Return, by their names in the state, the addresses of what a rule needs beside the lazy selector."""
    found = dict.fromkeys(("find", "remember_pull", "remember_reward"), 0)
    if rule.trend is Trend.NEITHER:
        unforced = find_under_ceilings if ceilings else find_by_sampling if rule.samples else find_by_scan
        found["find"] = address(find_after_restarts if rule.restart else unforced, FIND)
    if rule.forgets:
        found["remember_pull"] = address(remember_pull_at, REMEMBER_PULL)
        found["remember_reward"] = address(remember_reward_at, REMEMBER_REWARD)
    return found
