"""The queue of background rewards, by itself: order, bounds, and whom it wakes."""

from __future__ import annotations

import threading
import time
from concurrent.futures import Future

import pytest

from ocucb_client.outbox import Outbox, QueuedReward

PATIENCE = 60.0


def fill(outbox: Outbox, number: int) -> None:
    for place in range(number):
        token = object()
        assert outbox.reserve(token)
        outbox.put(token, f"d{place}", float(place), None)


def names(items: list[QueuedReward]) -> list[str]:
    return [item.decision for item in items]


def test_what_is_not_settled_comes_again_and_first() -> None:
    outbox = Outbox(100)
    fill(outbox, 6)
    batch = outbox.take_batch(4, 0.0)
    assert names(batch) == ["d0", "d1", "d2", "d3"]
    outbox.settle([batch[0], batch[2]])
    assert len(outbox) == 4
    assert names(outbox.take_batch(3, 0.0)) == ["d1", "d3", "d4"]
    assert [item.decision for item in outbox.unsettled()] == ["d1", "d3", "d4", "d5"]


def test_flushed_waits_for_the_oldest() -> None:
    outbox = Outbox(100)
    fill(outbox, 3)
    flushed = outbox.when_flushed()
    fill(outbox, 2)
    batch = outbox.take_batch(5, 60.0)  # a flush does not wait for more to gather
    outbox.settle([*batch[:1], *batch[2:]])
    assert not flushed.done()
    outbox.settle(outbox.take_batch(5, 0.0))
    assert flushed.done()
    assert outbox.when_flushed().done()


def test_reserved_places_count() -> None:
    outbox = Outbox(2)
    first, second, third = object(), object(), object()
    assert outbox.reserve(first)
    assert outbox.reserve(second)
    assert not outbox.reserve(third)
    room = outbox.when_room()
    assert not room.done()
    outbox.release(second)
    assert room.done()
    outbox.release(second)
    outbox.put(first, "d", 1.0, None)
    assert outbox.reserve(second)
    assert not outbox.reserve(third)


def test_the_end_waits_for_what_is_reserved() -> None:
    outbox = Outbox(10)
    token = object()
    outbox.reserve(token)
    outbox.close()
    taken: Future[list[QueuedReward]] = Future()
    thread = threading.Thread(target=lambda: taken.set_result(outbox.take_batch(5, 0.0)))
    thread.start()
    assert not outbox.reserve(object())
    outbox.put(token, "d", 1.0, None)
    assert names(taken.result(PATIENCE)) == ["d"]
    thread.join()
    outbox.settle(outbox.unsettled())
    assert outbox.take_batch(5, 60.0) == []


def test_abandoned_gives_nothing_out_and_wakes_everyone() -> None:
    outbox = Outbox(3)
    fill(outbox, 3)
    flushed, room = outbox.when_flushed(), outbox.when_room()
    outbox.close(abandon=True)
    assert flushed.done()
    assert room.done()
    assert outbox.take_batch(5, 60.0) == []
    assert len(outbox.unsettled()) == 3
    outbox.pause(3600.0)


def test_those_who_lost_patience_are_forgotten() -> None:
    outbox = Outbox(1)
    fill(outbox, 1)
    for _ in range(100):
        assert outbox.when_room().cancel()
        assert outbox.when_flushed().cancel()
    outbox.when_room()
    assert len(outbox._room_waiters) == 1
    assert len(outbox._flush_waiters) == 0
    outbox.settle(outbox.take_batch(1, 0.0))
    assert outbox._room_waiters == []


@pytest.mark.parametrize("number", [3, 5])
def test_a_batch_leaves_when_it_is_full(number: int) -> None:
    """It would otherwise wait for an hour."""
    outbox = Outbox(10)
    taken: Future[list[QueuedReward]] = Future()
    thread = threading.Thread(target=lambda: taken.set_result(outbox.take_batch(3, 3600.0)))
    thread.start()
    fill(outbox, number)
    assert len(taken.result(PATIENCE)) == 3
    thread.join()


def test_the_reward_that_fills_a_batch_wakes_the_sender() -> None:
    outbox = Outbox(10)
    fill(outbox, 1)
    taken: Future[list[QueuedReward]] = Future()
    thread = threading.Thread(target=lambda: taken.set_result(outbox.take_batch(3, 20.0)))
    started = time.monotonic()
    thread.start()
    while outbox._wanted != 3:  # it waits for two more
        assert time.monotonic() < started + PATIENCE
        time.sleep(0.001)
    fill(outbox, 2)
    assert names(taken.result(PATIENCE)) == ["d0", "d0", "d1"]
    assert time.monotonic() < started + 19.0
    thread.join()
