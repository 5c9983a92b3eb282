"""Every check is executed, and shown to fail on a deliberately wrong version of what it checks."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

import pytest

from ocucb.lab import fastest, shard
from ocucb.paper import runs
from ocucb.paper.claim import Check, Conclusion, Effort, Nature
from ocucb.paper.claims import intuition
from ocucb.paper.table import CLAIMS

EFFORT = Effort("quick", seed=0)
CHECKS = [pytest.param(check, id=f"{claim.number}-{check.name}") for claim in CLAIMS for check in claim.checks]


@pytest.fixture(scope="module", autouse=True)
def _a_shard_is_played_once() -> Iterator[None]:
    """A check and its wrong version often need the same shards; to play one is a pure function."""

    @lru_cache(maxsize=1000)
    def play(one: shard.Shard) -> shard.ShardResult:
        outcome = shard.play(one)
        for array in outcome:
            array.flags.writeable = False
        return outcome

    with pytest.MonkeyPatch.context() as patch:
        for module in (runs, intuition, fastest):
            patch.setattr(module, "play", play)
        yield


@pytest.mark.parametrize("check", CHECKS)
def test_a_check_finds_what_is_true_and_has_the_power_to_fail(check: Check) -> None:
    finding = check.find(EFFORT)
    assert finding.outcome
    assert (finding.conclusion is Conclusion.FAILS) == (check.wrong is None) == bool(finding.counterexample)
    if check.nature is Nature.IDENTITY:
        assert (finding.conclusion, finding.false_alarm) == (Conclusion.HOLDS, 0.0)
    if check.nature is Nature.ONE_SIDED:
        assert finding.conclusion is not Conclusion.HOLDS
    if check.nature is Nature.IMPOSSIBLE:
        assert finding.conclusion is Conclusion.FAILS
    if check.corrects:
        assert finding.conclusion is not Conclusion.FAILS
    if check.wrong is not None:  # without one, the check itself has failed
        assert check.find_wrong(EFFORT).conclusion is Conclusion.FAILS


def test_names_are_unique_and_corrections_point_to_a_check() -> None:
    for claim in CLAIMS:
        names = [check.name for check in claim.checks]
        assert len(set(names)) == len(names)
        assert {check.corrects for check in claim.checks if check.corrects} <= set(names)
