"""Every check is executed, and shown to fail on a deliberately wrong version of what it checks."""

from __future__ import annotations

import pytest

from ocucb.paper.claim import Check, Effort, Verdict
from ocucb.paper.table import CLAIMS

EFFORT = Effort("quick", seed=0)
CHECKS = [pytest.param(check, id=f"{claim.number}-{check.name}") for claim in CLAIMS for check in claim.checks]


@pytest.mark.parametrize("check", CHECKS)
def test_a_check_finds_what_is_true(check: Check) -> None:
    finding = check.find(EFFORT)
    assert finding.outcome
    if finding.verdict is Verdict.FAILS:
        assert finding.counterexample
    else:
        assert check.wrong is not None
    if check.corrects:
        assert finding.verdict is not Verdict.FAILS


@pytest.mark.parametrize("check", CHECKS)
def test_a_check_has_the_power_to_fail(check: Check) -> None:
    assert check.find_wrong(EFFORT).verdict is Verdict.FAILS


def test_names_are_unique_and_corrections_point_to_a_check() -> None:
    for claim in CLAIMS:
        names = [check.name for check in claim.checks]
        assert len(set(names)) == len(names)
        assert {check.corrects for check in claim.checks if check.corrects} <= set(names)
