"""Claims are executed: the same findings on every executor, and errors that are said."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from typing import Any

import pytest

import sample_claims
from ocucb.errors import ParameterError
from ocucb.lab.runners.local import processes, threads
from ocucb.paper import table
from ocucb.paper.claim import Claim, Conclusion, Effort, Finding
from ocucb.paper.execute import CheckResult, execute, in_order, name_of, select_claims

QUICK = (10,)  # claims whose checks take little time and compile nothing


class First(Executor):
    """Executes what comes first, and keeps the rest waiting."""

    def __init__(self) -> None:
        self.futures: list[Future[Any]] = []

    def submit(self, call: Callable[..., Any], /, *given: Any, **more: Any) -> Future[Any]:
        self.futures.append(Future())
        if len(self.futures) == 1:
            self.futures[0].set_result(call(*given, **more))
        return self.futures[-1]


@pytest.fixture
def samples(monkeypatch: pytest.MonkeyPatch) -> tuple[Claim, ...]:
    claims = (sample_claims.BROKEN, *sample_claims.CLAIMS)
    monkeypatch.setattr(table, "CLAIMS", claims)
    return claims


def executed(claims: tuple[Claim, ...], effort: Effort, count: int = 1) -> list[CheckResult]:
    with threads(count) as pool:
        return in_order(list(execute(claims, effort, pool)))


def summary(results: list[CheckResult]) -> list[tuple[str, Conclusion | None]]:
    return [(result.name, result.finding.conclusion if result.finding else None) for result in results]


def test_each_check_gives_its_finding_and_an_error_hides_no_other(samples: tuple[Claim, ...]) -> None:
    for count in (1, 3):
        results = executed(samples, Effort(), count)
        assert summary(results) == [
            ("4-broken", None),
            ("1-mean-of-dice", Conclusion.HOLDS),
            ("1-endless", Conclusion.OPEN),
            ("2-cubes", Conclusion.FAILS),
            ("2-squares", Conclusion.HOLDS),
        ]
        assert results[0].error.startswith(
            "ZeroDivisionError: there is no finding at quick size (sample_claims.py, line "
        )
        assert [result.error for result in results[1:]] == [""] * 4
        assert all(result.seconds >= 0.0 for result in results)
        assert [len(result.drawings) for result in results] == [0, 1, 0, 2, 1]


def test_size_and_seed_reach_the_checks(samples: tuple[Claim, ...]) -> None:
    efforts = [Effort(), Effort(), Effort("full"), Effort(seed=1)]
    found = [executed(select_claims([1]), effort)[0].finding for effort in efforts]
    outcomes = [finding and finding.outcome for finding in found]
    assert outcomes[0] == outcomes[1]
    assert len(set(outcomes)) == 3


def test_processes_find_what_threads_find() -> None:
    claims, effort = select_claims(QUICK), Effort(seed=3)
    with processes(2) as pool:
        results = in_order(list(execute(claims, effort, pool)))
    with ThreadPoolExecutor(1) as pool:
        again = in_order(list(execute(claims, effort, pool)))
    assert [result.name for result in results] == [name_of(claim, check) for claim in claims for check in claim.checks]
    assert [result.error for result in results] == [""] * len(results)
    assert [words(result.finding) for result in results] == [words(result.finding) for result in again]
    assert [result.drawings for result in results] == [result.drawings for result in again]


def words(finding: Finding | None) -> object:
    """What a finding says; the numbers of its charts may be arrays, which are not simply equal."""
    return finding and (finding.conclusion, finding.outcome, finding.counterexample, finding.tables)


def test_what_is_left_when_it_stops_is_cancelled(samples: tuple[Claim, ...]) -> None:
    pool = First()
    results = execute(samples, Effort(), pool)
    assert next(results).name == "4-broken"
    results.close()
    assert [future.cancelled() for future in pool.futures] == [False, True, True, True, True]


def test_claims_are_chosen_by_number() -> None:
    assert select_claims() == table.CLAIMS
    assert [claim.number for claim in select_claims((10, 9, 10))] == [9, 10]
    with pytest.raises(ParameterError, match=r"claim must be one of 1, 2, .*, 18, got 19"):
        select_claims((1, 19))


def test_numbers_of_claims_are_unique() -> None:
    numbers = [claim.number for claim in table.CLAIMS]
    assert sorted(set(numbers)) == numbers
