"""Requests travel to the writer together: those of a few turns of a loop, and those of callers who ask again."""

from __future__ import annotations

import asyncio
import queue
from collections.abc import Callable, Sequence
from typing import Any

import pytest

from ocucb.service.callers import LoopCaller, PendingRequest, deliver
from ocucb.service.errors import BusyError, UnavailableError
from ocucb.service.requests import Inspect
from ocucb.service.waiting_requests import HeldRequests, WaitingRequests

LONG = 1e6  # seconds


class Box:
    """A caller that only collects."""

    told_last = False

    def __init__(self) -> None:
        self.answered: list[PendingRequest] = []

    def deliver(self, answered: list[PendingRequest]) -> None:
        self.answered += answered


def pending(box: Box | None = None) -> PendingRequest:
    return PendingRequest(Inspect("x"), box or Box())


class News:
    """In the place of the queue of news: whenever it is waited for, the next thing happens."""

    def __init__(self) -> None:
        self.happens: list[Callable[[], None]] = []
        self.said: list[Any] = ["wake"]
        self.waits = 0

    def put(self, news: Any) -> None:
        self.said.append(news)

    def get_nowait(self) -> Any:
        if not self.said:
            raise queue.Empty
        return self.said.pop(0)

    def get(self, timeout: float) -> Any:
        assert timeout > 0.0
        self.waits += 1
        while self.happens and not self.said:
            self.happens.pop(0)()
        return self.get_nowait()


def waiting_with(news: News, most: int = 10) -> WaitingRequests:
    waiting = WaitingRequests(most, 512, HeldRequests())
    waiting._news = news  # type: ignore[assignment]
    return waiting


def test_a_batch_waits_for_those_who_were_answered_just_now() -> None:
    one = [pending() for _ in range(4)]
    news = News()
    waiting = waiting_with(news)
    news.happens = [lambda: waiting.submit([one[1]]), lambda: waiting.submit([one[2]])]
    waiting.submit(one[:1])
    waiting.note_batch(2, LONG)  # two were answered, and one waits
    assert waiting.take(0.0) == ([], one[:3])
    waiting.note_batch(3, 0.0)  # a batch that took no time is waited after for none
    waiting.submit(one[3:])
    assert waiting.take(0.0) == ([], one[3:])
    assert news.waits == 1


def test_fewer_are_expected_where_they_do_not_come() -> None:
    """As where half of all ask another node next; and more again where they do."""
    news = News()
    waiting = waiting_with(news, most=1000)

    def expected() -> int:
        """Return for how many of a hundred who were answered the writer waits, if they come one by one."""
        waiting.note_batch(100, LONG)
        waiting.submit([pending()])
        news.happens = [lambda: waiting.submit([pending()]) for _ in range(200)]
        return len(waiting.take(0.0)[1])

    def stay_away(times: int) -> None:
        for _ in range(times):
            waiting.note_batch(100, LONG)
            waiting.submit([pending()])
            news.happens = []
            assert len(waiting.take(0.0)[1]) == 1

    assert expected() == 100
    stay_away(1)
    fewer = expected()
    assert 80 <= fewer <= 95
    stay_away(5)
    assert 40 <= expected() < fewer - 20
    stay_away(50)
    assert 20 <= expected() <= 25, "but some"
    for _ in range(30):
        most = expected()
    assert most == 100


def test_the_writer_is_woken_by_the_first_and_when_all_have_come() -> None:
    """Each time takes it from the event loop, which brings the others."""
    one = [pending() for _ in range(7)]
    news = News()
    news.said.clear()
    waiting = waiting_with(news)
    waiting.note_batch(5, LONG)
    woken = []
    for few in (one[:1], one[1:3], one[3:4], one[4:6], one[6:]):
        waiting.submit(few)
        woken.append(len(news.said))
    assert woken == [1, 1, 1, 2, 3]
    assert waiting.take(0.0) == ([], one)
    waiting.submit(one[:3])
    assert news.said == ["wake"], "it waits for the first, however many come with it"


def test_it_does_not_wait_when_they_do_not_come_or_all_ends() -> None:
    news = News()
    waiting, one = waiting_with(news), pending()
    waiting.submit([one])
    waiting.note_batch(5, LONG)
    assert waiting.take(0.0) == ([], [one])
    assert news.waits == 1
    waiting.submit([one])
    assert waiting.close()
    assert not waiting.close()
    assert waiting.take(0.0) == ([], [one])
    assert waiting.is_over
    assert news.waits == 1


def test_those_for_whom_there_is_no_room_are_told_so() -> None:
    box, waiting = Box(), waiting_with(News(), most=2)
    waiting.submit([pending(box) for _ in range(3)])
    assert len(waiting) == 2
    waiting.close()
    waiting.submit([pending(box)])
    assert [type(one.error) for one in box.answered] == [BusyError, UnavailableError]


def test_an_answer_that_cannot_be_given_keeps_no_other_waiting(caplog: pytest.LogCaptureFixture) -> None:
    told: list[Any] = []

    class Queue:
        def submit(self, requests: Sequence[PendingRequest]) -> None:
            for one in requests:
                one.answer = 1
            deliver(requests)
            deliver(requests)  # nobody is told twice

    def fail(one: PendingRequest) -> None:
        raise ValueError("gone")

    async def ask() -> None:
        caller = LoopCaller(Queue())
        caller.submit(Inspect("x"), None, fail)
        caller.submit(Inspect("x"), None, lambda one: told.append(one.result()))
        while not told:
            await asyncio.sleep(0)
        await asyncio.sleep(0)

    asyncio.run(ask())
    assert told == [1]
    assert "an answer could not be given" in caplog.text


def test_what_is_asked_in_a_few_turns_is_handed_over_together() -> None:
    handed: list[int] = []

    class Queue:
        def submit(self, requests: Sequence[PendingRequest]) -> None:
            handed.append(len(requests))
            for one in requests:
                one.error = UnavailableError()
            deliver(requests)

    async def ask() -> None:
        caller = LoopCaller(Queue())
        asked = []
        for _ in range(5):
            asked.append(asyncio.ensure_future(caller.ask(Inspect("x"))))
            await asyncio.sleep(0)
        await asyncio.gather(*asked, return_exceptions=True)

    asyncio.run(ask())
    assert handed == [5]


def test_who_has_more_to_do_with_an_answer_is_told_first() -> None:
    """Another node, which is sent its answer in the next turn of the loop: it comes before all who are told last."""
    told: list[str] = []

    class Queue:
        def submit(self, requests: Sequence[PendingRequest]) -> None:
            """Keep them."""

    def pass_on(_: PendingRequest) -> None:
        told.append("node")
        asyncio.get_running_loop().call_soon(told.append, "sent")

    async def ask() -> None:
        last, first = LoopCaller(Queue(), told_last=True), LoopCaller(Queue())
        here = last.submit(Inspect("x"), None, lambda _: told.append("here"))
        deliver([here, first.submit(Inspect("x"), None, pass_on)])
        while len(told) < 3:
            await asyncio.sleep(0)

    asyncio.run(ask())
    assert told == ["node", "sent", "here"]
