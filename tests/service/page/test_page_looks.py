"""However many watch, the engine is asked once: a look at many arms keeps it from its work."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ocucb.service.doors import LoopDoor
from ocucb.service.errors import UnknownExperimentError
from ocucb.service.web.page import looks
from ocucb.service.web.page.looks import Looks
from service.helpers import PATIENCE, Node


class Counting(LoopDoor):
    """A door that counts who goes through."""

    asked = 0

    async def ask(self, request: Any, key: str | None = None) -> Any:
        self.asked += 1
        return await super().ask(request, key)


class Watch:
    """Looks by a clock that stands still."""

    def __init__(self, node: Node) -> None:
        self.time = 0.0
        self.looks = Looks(lambda: self.time)
        self.door = Counting(node.engine, PATIENCE)

    async def look(self, name: str = "colours", arms: bool = True) -> int:
        return (await self.looks.look(self.door, name, arms)).decisions


@pytest.fixture
def node(tmp_path: Path) -> Iterator[Node]:
    made = Node(f"sqlite:///{tmp_path / 'service.db'}")
    made.create()
    yield made
    made.close()


def test_one_look_a_second_for_all_who_watch(node: Node) -> None:
    async def watch() -> None:
        here = Watch(node)
        assert await asyncio.gather(*(here.look() for _ in range(50))) == [0] * 50
        node.decide()
        here.time = 0.9
        assert (await here.look(), here.door.asked) == (0, 1)
        here.time = 1.1
        assert (await here.look(), here.door.asked) == (1, 2)
        assert here.looks.pause("colours") == 1.0

    asyncio.run(watch())


def test_whoever_changes_something_sees_it_at_once(node: Node) -> None:
    async def watch() -> None:
        here = Watch(node)
        assert await here.look() == 0
        node.decide()
        here.looks.forget("colours")
        assert await here.look() == 1

    asyncio.run(watch())


def test_a_slow_look_is_taken_less_often(node: Node) -> None:
    async def watch() -> None:
        here = Watch(node)
        looking = asyncio.create_task(here.look())
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        here.time = 0.5
        await looking
        assert here.looks.pause("colours") == 5.0
        here.time = 4.9
        await here.look()
        assert here.door.asked == 1

    asyncio.run(watch())


def test_an_error_is_not_kept(node: Node) -> None:
    async def watch() -> None:
        here = Watch(node)
        for _ in range(2):
            with pytest.raises(UnknownExperimentError):
                await here.look("later")
        node.create("later")
        assert await here.look("later") == 0

    asyncio.run(watch())


def test_somebody_who_leaves_takes_nobody_else_along(node: Node) -> None:
    async def watch() -> None:
        here = Watch(node)
        first, second = asyncio.create_task(here.look()), asyncio.create_task(here.look())
        await asyncio.sleep(0)
        first.cancel()
        assert (await second, here.door.asked) == (0, 1)

    asyncio.run(watch())


def test_few_looks_are_kept(node: Node, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(looks, "MOST_KEPT", 3)
    monkeypatch.setattr(looks, "MOST_ARMS", 100)
    for name in "abcde":
        node.create(name)
    node.create("large", arms=tuple(range(99)))

    async def watch() -> None:
        here = Watch(node)
        for name in "abcde":
            await here.look(name)
        assert len(here.looks._kept) == 3
        await here.look("large")
        await here.look("large")
        assert len(here.looks._kept) == 1  # with any other there would be more than 100 arms
        await here.look("a")
        here.time = 100.0
        await here.look("b")
        assert list(here.looks._kept) == [("b", True)]

    asyncio.run(watch())
