"""Claims executed: each check a call of its own, on any executor, and none that fails to finish is hidden."""

from __future__ import annotations

import re
import time
import traceback
from collections.abc import Generator, Sequence
from concurrent.futures import Executor, as_completed
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from ocucb.errors import ParameterError
from ocucb.lab.chart_svg import to_svg
from ocucb.paper import table
from ocucb.paper.claim import Check, Claim, Effort, Finding


@dataclass(frozen=True)
class CheckResult:
    """A check and what came out of it: a finding, with its charts drawn, or the error that it raised instead."""

    claim: Claim
    check: Check
    finding: Finding | None
    error: str
    seconds: float
    drawings: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """What the check is called among all, as in 9-maximal."""
        return name_of(self.claim, self.check)


def name_of(claim: Claim, check: Check) -> str:
    """Return what a check is called among all."""
    return f"{claim.number}-{check.name}"


def anchor_of(name: str) -> str:
    """Return what a check is called in a page.

    >>> anchor_of("9-conc2 (a)")
    'check-9-conc2-a'
    """
    return f"check-{re.sub(r'[^A-Za-z0-9]+', '-', name).strip('-')}"


def select_claims(numbers: Sequence[int] = ()) -> tuple[Claim, ...]:
    """Return the claims with these numbers, in the order of the table; without numbers all of them."""
    known = [claim.number for claim in table.CLAIMS]
    for number in numbers:
        if number not in known:
            raise ParameterError(f"claim must be one of {', '.join(map(str, known))}, got {number}")
    return tuple(claim for claim in table.CLAIMS if not numbers or claim.number in numbers)


def execute(claims: Sequence[Claim], effort: Effort, executor: Executor) -> Generator[CheckResult]:
    """Execute all checks of some claims of the table and yield each result as it comes; their order means nothing."""
    futures = {
        executor.submit(_find, claim.number, check.name, effort): (claim, check)
        for claim in claims
        for check in claim.checks
    }
    try:
        for future in as_completed(futures):
            claim, check = futures[future]
            yield CheckResult(claim, check, *future.result())
    finally:  # an interrupt too: the rest shall not be executed for nothing
        for future in futures:
            future.cancel()


def in_order(results: Sequence[CheckResult]) -> list[CheckResult]:
    """Return results in the order of the table."""
    names = [name_of(claim, check) for claim in table.CLAIMS for check in claim.checks]
    return sorted(results, key=lambda result: names.index(result.name))


class _Found(NamedTuple):
    finding: Finding | None
    error: str
    seconds: float
    drawings: tuple[str, ...] = ()


def _find(number: int, name: str, effort: Effort) -> _Found:
    """Execute one check and draw its charts. Only names and findings travel: a check may hold what cannot be sent."""
    start = time.perf_counter()
    claim, check = next(
        (claim, check) for claim in select_claims([number]) for check in claim.checks if check.name == name
    )
    key = anchor_of(name_of(claim, check))
    try:
        finding = check.find(effort)
        drawings = tuple(to_svg(chart, f"{key}-{k}") for k, chart in enumerate(finding.charts, 1))
    except Exception as problem:
        return _Found(None, _words(problem), time.perf_counter() - start)
    return _Found(finding, "", time.perf_counter() - start, drawings)


def _words(problem: Exception) -> str:
    """Return an error as one line: what it is and where it was raised."""
    where = traceback.extract_tb(problem.__traceback__)[-1]
    text = " ".join(f"{type(problem).__name__}: {problem}".split())
    return f"{text} ({Path(where.filename).name}, line {where.lineno})"
