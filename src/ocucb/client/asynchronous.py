"""The client for an event loop: the twin of `Client`, with the same calls, which are awaited."""

from __future__ import annotations

import asyncio
import os
import time
import weakref
from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from concurrent.futures import Future
from contextlib import aclosing, suppress
from types import TracebackType
from typing import Any, Literal, Self, TypeVar, overload

from ocucb.client import calls
from ocucb.client.answers import (
    Arm,
    Changed,
    Counts,
    Decision,
    Experiment,
    Key,
    Listed,
    NewKey,
    Page,
    Refused,
    Result,
    Rewarded,
    Role,
    Row,
)
from ocucb.client.attempts import Attempts
from ocucb.client.calls import Call, Family
from ocucb.client.errors import ClientError
from ocucb.client.exchange import set_up
from ocucb.client.later import open_sender
from ocucb.client.wire import AsyncWire, Wire
from ocucb.labels import Label
from ocucb.noise import Noise
from ocucb.policies import Policy

T = TypeVar("T")


class AsyncClient:
    """Asks a decision service from one event loop of asyncio. Parameters and calls are those of `Client`.

    Background rewards are sent by a thread, as those of `Client` are: it outlives the loop, so nothing is lost with it.
    """

    def __init__(
        self,
        url: str,
        key: str,
        *,
        timeout: float = 30.0,
        patience: float = 12.0,
        retries: int = 8,
        queue: int = 100_000,
        spool: str | os.PathLike[str] | None = None,
        on_refused: Callable[[Refused], object] | None = None,
    ) -> None:
        self._setup = set_up(url, key, timeout, patience, retries)
        self._wire = AsyncWire(self._setup)
        self._background = Wire(self._setup)
        self._later = open_sender(self._background, queue, spool, on_refused)
        weakref.finalize(self, self._later.forget).atexit = False

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._setup.url!r})"

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    @overload
    async def decide(
        self, experiment: str, unit: str | None = None, *, count: None = None, idempotency_key: str | None = None
    ) -> Decision: ...
    @overload
    async def decide(
        self, experiment: str, unit: str | None = None, *, count: int, idempotency_key: str | None = None
    ) -> list[Decision]: ...
    async def decide(
        self,
        experiment: str,
        unit: str | None = None,
        *,
        count: int | None = None,
        idempotency_key: str | None = None,
    ) -> Decision | list[Decision]:
        """Return which arm to play; with `count`, a list of so many decisions."""
        if count is None:
            return await self._wire.send(calls.decide(experiment, unit, idempotency_key))
        return await self._wire.send(calls.decide_many(experiment, unit, count, idempotency_key))

    async def reward(self, decision: Decision | str, value: float) -> Rewarded:
        """Give a decision its reward."""
        return await self._wire.send(calls.reward(decision, value))

    async def rewards(self, items: Iterable[tuple[Decision | str, float]]) -> list[Result]:
        """Give many decisions their rewards, each answered with its outcome or its error."""
        return [result for part in calls.in_parts(items) for result in await self._wire.send(calls.rewards(part))]

    async def reward_later(self, decision: Decision | str, value: float) -> None:
        """Accept a reward, to be delivered in the background; waits while the queue is full, or for the spool."""
        item = calls.decision_id(decision), calls.number(value)
        end = time.monotonic() + self._setup.timeout
        while not await self._offer(*item):
            try:
                await _until(self._later.room(), end - time.monotonic())
            except TimeoutError:
                raise self._later.too_full() from None

    async def flush(self, timeout: float | None = None) -> None:
        """Wait until every background reward accepted so far is delivered or refused; else raise UndeliveredError."""
        try:
            await _until(self._later.flushed(), timeout)
        except TimeoutError:
            raise self._later.undelivered() from None

    async def close(self, timeout: float | None = None) -> None:
        """Deliver all background rewards, and let go of everything; after `timeout` seconds raise UndeliveredError."""
        if self._later.forked:
            return
        self._later.close()
        with suppress(TimeoutError):
            await _until(self._later.flushed(), timeout)
        try:
            self._later.stop()
        finally:
            self._background.close()
            await self._wire.close()

    @property
    def background(self) -> Counts:
        """How many background rewards wait, are delivered, were refused."""
        return self._later.counts()

    async def create(
        self,
        name: str,
        arms: Iterable[Label] | Mapping[Label, Any],
        policy: Policy | Family = None,
        noise: Noise | Family = None,
        *,
        window: float | None = None,
        on_expiry: Literal["forget"] | float | None = None,
        late: Literal["refuse", "accept"] | None = None,
        sticky: float | None = None,
        metadata: Mapping[str, Any] | None = None,
        seed: int | None = None,
        idempotency_key: str | None = None,
    ) -> Changed:
        """Create an experiment; the parameters are those of `Client.create`."""
        call = calls.create(
            name,
            arms,
            policy,
            noise,
            window=window,
            on_expiry=on_expiry,
            late=late,
            sticky=sticky,
            metadata=metadata,
            seed=seed,
            key=idempotency_key,
        )
        return await self._wire.send(call)

    async def experiment(self, name: str) -> Experiment:
        """Return an experiment: how it was defined, and how far it is."""
        return await self._wire.send(calls.experiment(name))

    def experiments(self) -> AsyncIterator[Listed]:
        """Iterate over all experiments that the key sees, in order of name."""
        return self._pages(calls.experiments)

    def arms(self, name: str) -> AsyncIterator[Arm]:
        """Iterate over the arms of an experiment: those in play first, then those retired."""
        return self._pages(lambda after: calls.arms(name, after))

    async def pause(self, name: str) -> Changed:
        """Make no decisions until it is resumed; rewards still count."""
        return await self._wire.send(calls.change(name, "pause"))

    async def resume(self, name: str) -> Changed:
        """Make decisions again."""
        return await self._wire.send(calls.change(name, "resume"))

    async def archive(self, name: str) -> Changed:
        """End an experiment for ever; it can only be read."""
        return await self._wire.send(calls.change(name, "archive"))

    async def add_arm(self, name: str, arm: Label, metadata: Any = None) -> Changed:
        """Add an arm, or bring back a retired one. If the answer is lost it is not sent again: look at the arms."""
        return await self._wire.send(calls.add_arm(name, arm, metadata))

    async def retire_arm(self, name: str, arm: Label) -> Changed:
        """Stop choosing an arm; rewards of decisions made before still count."""
        return await self._wire.send(calls.retire_arm(name, arm))

    async def export(self, name: str, after: int = 0) -> AsyncIterator[Row]:
        """Iterate over all decisions and what became of them, after entry `after` of the log."""
        attempts = Attempts(self._setup)
        while True:
            try:
                async with aclosing(self._wire.lines(calls.export(name, after))) as rows:
                    async for row in rows:
                        yield row
                        after, attempts = row.seq, Attempts(self._setup)
            except ClientError as problem:
                await asyncio.sleep(attempts.pause(problem))
            else:
                return

    async def import_log(
        self, name: str, log: Iterable[tuple[Label, float]], *, idempotency_key: str | None = None
    ) -> Changed:
        """Learn from pulls made elsewhere, pairs of an arm and its reward: all of them, or none."""
        return await self._wire.send(calls.import_log(name, log, idempotency_key))

    async def make_key(self, name: str, roles: Iterable[Role], experiments: Iterable[str] | None = None) -> NewKey:
        """Make an API key, for all experiments or those listed. If the answer is lost it is not sent again."""
        return await self._wire.send(calls.make_key(name, roles, experiments))

    def keys(self) -> AsyncIterator[Key]:
        """Iterate over all API keys, also those revoked."""
        return self._pages(calls.keys)

    async def revoke_key(self, key_id: str) -> Key:
        """Revoke an API key, on every node and at once."""
        return await self._wire.send(calls.revoke_key(key_id))

    async def _offer(self, decision: str, value: float) -> bool:
        """Offer a reward; where it goes to a disk first, not in the loop's own thread."""
        if self._later.spool is None:
            return self._later.offer(decision, value)
        return await asyncio.to_thread(self._later.offer, decision, value)

    async def _pages(self, ask: Callable[[str | int | None], Call[Page[T]]]) -> AsyncIterator[T]:
        after: str | int | None = None
        while True:
            page = await self._wire.send(ask(after))
            for item in page.items:
                yield item
            if page.next is None:
                return
            after = page.next


async def _until(future: Future[None], seconds: float | None) -> None:
    if not future.done():
        async with asyncio.timeout(seconds):
            await asyncio.wrap_future(future)
