"""When a call is tried again and when it is given up, by itself: pauses, attempts, deadlines."""

from __future__ import annotations

import time

import pytest

from ocucb_client import DeniedError, UnavailableError
from ocucb_client.config import Config, check_config
from ocucb_client.errors import ClientError
from ocucb_client.retries import Backoff, RetryState

KEY = "ocucb_abcdefghijkl_not-a-real-secret"


def config(timeout: float = 3600.0, attempt_timeout: float = 1.0, retries: int = 1000) -> Config:
    return check_config("http://127.0.0.1:1", KEY, timeout, attempt_timeout, retries)


def undone(problem: UnavailableError) -> UnavailableError:
    problem.undone = True
    return problem


def test_pauses_grow_and_are_spread() -> None:
    """Chance of failing: below 1e-9, for twenty uniform numbers would have to be on one side."""
    problem = UnavailableError("x")
    histories = []
    for _ in range(30):
        pauses = Backoff()
        histories.append([pauses.next_delay(problem) for _ in range(12)])
    for number, column in enumerate(zip(*histories, strict=True)):
        widest = min(5.0, 0.1 * 2**number)
        assert max(column) <= widest
        assert min(column) < widest / 2 < max(column)
    problem.retry_after = 7.0
    assert 7.0 <= Backoff().next_delay(problem) <= 7.1


def test_no_pause_reaches_beyond_the_end() -> None:
    setup = config(timeout=0.05)
    attempts = RetryState(setup)
    assert attempts.attempt_deadline() <= time.monotonic() + 0.05
    problem = UnavailableError("x")
    end = time.monotonic() + 0.05
    for _ in range(1000):
        try:
            assert time.monotonic() + attempts.delay_or_raise(problem) < end
        except UnavailableError:
            return
    pytest.fail("a thousand pauses within a moment")


def test_a_service_that_asks_for_a_year_is_taken_to_be_broken() -> None:
    problem = UnavailableError("x")
    problem.retry_after = 31_536_000.0
    assert 300.0 <= Backoff().next_delay(problem) <= 300.1


def test_an_attempt_has_its_own_time_inside_that_of_the_call() -> None:
    now = time.monotonic()
    assert now + 1.0 <= RetryState(config(attempt_timeout=1.0)).attempt_deadline() <= time.monotonic() + 1.0
    assert now + 0.5 <= RetryState(config(timeout=0.5)).attempt_deadline() <= time.monotonic() + 0.5


@pytest.mark.parametrize("retries", [0, 1, 3])
def test_so_many_retries_and_no_more(retries: int) -> None:
    state, problem = RetryState(config(retries=retries)), UnavailableError("x")
    for _ in range(retries):
        state.delay_or_raise(problem)
    with pytest.raises(UnavailableError) as caught:
        state.delay_or_raise(problem)
    assert getattr(caught.value, "__notes__", []) == ([f"tried {retries + 1} times"] if retries else [])


@pytest.mark.parametrize(
    ("problem", "repeatable", "again"),
    [
        (UnavailableError("x"), True, True),
        (UnavailableError("x"), False, False),
        (undone(UnavailableError("x")), True, True),
        (undone(UnavailableError("x")), False, True),
        (DeniedError("x"), True, False),
    ],
)
def test_what_is_tried_again(problem: ClientError, repeatable: bool, again: bool) -> None:
    state = RetryState(config(), repeatable)
    if again:
        assert 0.0 <= state.delay_or_raise(problem) <= 0.1
    else:
        with pytest.raises(type(problem)):
            state.delay_or_raise(problem)
