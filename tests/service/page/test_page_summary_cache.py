"""However many watch, the engine is asked once: a look at many arms keeps it from its work."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ocucb.service.callers import LoopCaller
from ocucb.service.errors import UnknownExperimentError
from ocucb.service.web.page import summary_cache
from ocucb.service.web.page.summary_cache import SummaryCache
from service.helpers import PATIENCE, Node


class Counting(LoopCaller):
    """A caller that counts what it is asked."""

    asked = 0

    async def ask(self, request: Any, key: str | None = None) -> Any:
        self.asked += 1
        return await super().ask(request, key)


class Watch:
    """A cache of summaries by a clock that stands still."""

    def __init__(self, node: Node) -> None:
        self.time = 0.0
        self.summaries = SummaryCache(lambda: self.time)
        self.caller = Counting(node.engine, PATIENCE)

    async def get(self, name: str = "colours", arms: bool = True) -> int:
        return (await self.summaries.get(self.caller, name, arms)).decisions


@pytest.fixture
def node(tmp_path: Path) -> Iterator[Node]:
    made = Node(f"sqlite:///{tmp_path / 'service.db'}")
    made.create()
    yield made
    made.close()


def test_one_look_a_second_for_all_who_watch(node: Node) -> None:
    async def watch() -> None:
        here = Watch(node)
        assert await asyncio.gather(*(here.get() for _ in range(50))) == [0] * 50
        node.decide()
        here.time = 0.9
        assert (await here.get(), here.caller.asked) == (0, 1)
        here.time = 1.1
        assert (await here.get(), here.caller.asked) == (1, 2)
        assert here.summaries.interval("colours") == 1.0

    asyncio.run(watch())


def test_whoever_changes_something_sees_it_at_once(node: Node) -> None:
    async def watch() -> None:
        here = Watch(node)
        assert await here.get() == 0
        node.decide()
        here.summaries.forget("colours")
        assert await here.get() == 1

    asyncio.run(watch())


def test_a_slow_look_is_taken_less_often(node: Node) -> None:
    async def watch() -> None:
        here = Watch(node)
        looking = asyncio.create_task(here.get())
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        here.time = 0.5
        await looking
        assert here.summaries.interval("colours") == 5.0
        here.time = 4.9
        await here.get()
        assert here.caller.asked == 1

    asyncio.run(watch())


def test_an_error_is_not_kept(node: Node) -> None:
    async def watch() -> None:
        here = Watch(node)
        for _ in range(2):
            with pytest.raises(UnknownExperimentError):
                await here.get("later")
        node.create("later")
        assert await here.get("later") == 0

    asyncio.run(watch())


def test_somebody_who_leaves_takes_nobody_else_along(node: Node) -> None:
    async def watch() -> None:
        here = Watch(node)
        first, second = asyncio.create_task(here.get()), asyncio.create_task(here.get())
        await asyncio.sleep(0)
        first.cancel()
        assert (await second, here.caller.asked) == (0, 1)

    asyncio.run(watch())


def test_few_looks_are_kept(node: Node, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(summary_cache, "MAX_CACHED_SUMMARIES", 3)
    monkeypatch.setattr(summary_cache, "MAX_CACHED_ARMS", 100)
    for name in "abcde":
        node.create(name)
    node.create("large", arms=tuple(range(99)))

    async def watch() -> None:
        here = Watch(node)
        for name in "abcde":
            await here.get(name)
        assert len(here.summaries._cached) == 3
        await here.get("large")
        await here.get("large")
        assert len(here.summaries._cached) == 1  # with any other there would be more than 100 arms
        await here.get("a")
        here.time = 100.0
        await here.get("b")
        assert list(here.summaries._cached) == [("b", True)]

    asyncio.run(watch())
