"""The client for an event loop: the same calls as those of `Client`, awaited."""

from __future__ import annotations

import asyncio
import os
import time
import weakref
from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from concurrent.futures import Future
from contextlib import aclosing, suppress
from datetime import datetime
from types import TracebackType
from typing import Any, Literal, Self, TypeVar, overload

from ocucb_client import calls, checks
from ocucb_client.async_transport import AsyncTransport
from ocucb_client.background import open_sender
from ocucb_client.calls import Call, Family, Rewarding
from ocucb_client.checks import Label
from ocucb_client.config import check_config
from ocucb_client.errors import ClientError, UndeliveredError
from ocucb_client.models import (
    ApiKey,
    Arm,
    AuditEntry,
    BackgroundCounts,
    Decision,
    Experiment,
    ExperimentStatus,
    ExperimentSummary,
    ExportedDecision,
    NewApiKey,
    Page,
    RefusedReward,
    RewardOutcome,
    RewardResult,
    Role,
    Verdict,
)
from ocucb_client.retries import RetryState
from ocucb_client.transport import Transport

T = TypeVar("T")


class AsyncClient:
    """Asks a decision service from one event loop of asyncio. Parameters and calls are those of `Client`.

    Background rewards are sent by a thread, as those of `Client` are: it outlives the loop, so nothing is lost with it.
    """

    def __init__(
        self,
        url: str,
        api_key: str,
        *,
        timeout: float = 30.0,
        attempt_timeout: float = 12.0,
        retries: int = 8,
        queue_size: int = 100_000,
        spool: str | os.PathLike[str] | None = None,
        on_refused: Callable[[RefusedReward], object] | None = None,
    ) -> None:
        self._config = check_config(url, api_key, timeout, attempt_timeout, retries)
        self._transport = AsyncTransport(self._config)
        self._background_transport = Transport(self._config)
        self._sender = open_sender(self._background_transport, queue_size, spool, on_refused)
        weakref.finalize(self, self._sender.on_client_collected).atexit = False

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._config.url!r})"

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    @overload
    async def decide(
        self,
        experiment: str,
        unit: str | None = None,
        *,
        count: None = None,
        idempotency_key: str | None = None,
        among: Iterable[Label] | None = None,
    ) -> Decision: ...
    @overload
    async def decide(
        self,
        experiment: str,
        unit: str | None = None,
        *,
        count: int,
        idempotency_key: str | None = None,
        among: Iterable[Label] | None = None,
        different: bool = False,
    ) -> list[Decision]: ...
    async def decide(
        self,
        experiment: str,
        unit: str | None = None,
        *,
        count: int | None = None,
        idempotency_key: str | None = None,
        among: Iterable[Label] | None = None,
        different: bool = False,
    ) -> Decision | list[Decision]:
        """Return which arm to play; with `count`, a list of so many decisions."""
        if count is None:
            return await self._transport.send(calls.decide(experiment, unit, idempotency_key, among))
        call = calls.decide_many(experiment, unit, count, idempotency_key, among, different)
        return await self._transport.send(call)

    async def decide_for_units(
        self,
        experiment: str,
        units: Iterable[str],
        *,
        idempotency_key: str | None = None,
        among: Iterable[Label] | None = None,
    ) -> list[Decision]:
        """Return a decision for each of up to 1000 units, in order, as if each had been asked for alone."""
        return await self._transport.send(calls.decide_for_units(experiment, units, idempotency_key, among))

    async def reward(self, decision: Decision | str, value: float, part: str | None = None) -> RewardOutcome:
        """Give a decision its reward."""
        return await self._transport.send(calls.reward(decision, value, part))

    async def rewards(self, items: Iterable[Rewarding]) -> list[RewardResult]:
        """Give many decisions their rewards, each answered with its outcome or its error."""
        return [
            result for part in calls.split_rewards(items) for result in await self._transport.send(calls.rewards(part))
        ]

    async def correct_rewards(self, items: Iterable[tuple[Decision | str, float | None]]) -> list[RewardResult]:
        """Put other rewards in the place of those that were counted; None voids one. Each is answered."""
        parts = map(calls.correct_rewards, calls.split_rewards(items))
        return [result for call in parts for result in await self._transport.send(call)]

    async def reward_later(self, decision: Decision | str, value: float, part: str | None = None) -> None:
        """Accept a reward, to be delivered in the background; waits while the queue is full, or for the spool."""
        item = calls.decision_id(decision), checks.reward(value), checks.part(part)
        end = time.monotonic() + self._config.timeout
        while not await self._offer(*item):
            try:
                await _wait(self._sender.when_room(), end - time.monotonic())
            except TimeoutError:
                raise self._sender.queue_full_error() from None

    async def flush(self, timeout: float | None = None) -> None:
        """Wait until every background reward accepted so far is delivered or refused; else raise UndeliveredError."""
        try:
            await _wait(self._sender.when_flushed(), timeout)
        except TimeoutError:
            raise self._sender.undelivered_error() from None
        self._sender.check_parked()

    async def close(self, timeout: float | None = None) -> None:
        """Deliver all background rewards, and let go of everything; after `timeout` seconds raise UndeliveredError."""
        if self._sender.forked:
            return
        self._sender.close()
        with suppress(TimeoutError, UndeliveredError):
            await _wait(self._sender.when_flushed(), timeout)
        try:
            self._sender.stop()
        finally:
            self._background_transport.close()
            await self._transport.close()

    @property
    def background(self) -> BackgroundCounts:
        """How many background rewards wait, are delivered, were refused."""
        return self._sender.counts()

    async def create(
        self,
        name: str,
        arms: Iterable[Label] | Mapping[Label, Any],
        policy: Family = None,
        noise: Family = None,
        *,
        window: float | None = None,
        on_expiry: Literal["forget"] | float | None = None,
        late: Literal["refuse", "accept"] | None = None,
        sticky: float | None = None,
        reward_bounds: tuple[float, float] | None = None,
        partial_rewards: bool | None = None,
        metadata: Mapping[str, Any] | None = None,
        seed: int | None = None,
        shares: Mapping[Label, float] | None = None,
        memory: Family = None,
        idempotency_key: str | None = None,
    ) -> ExperimentStatus:
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
            reward_bounds=reward_bounds,
            partial_rewards=partial_rewards,
            metadata=metadata,
            seed=seed,
            shares=shares,
            memory=memory,
            idempotency_key=idempotency_key,
        )
        return await self._transport.send(call)

    async def experiment(self, name: str) -> Experiment:
        """Return an experiment: how it was defined, and how far it is."""
        return await self._transport.send(calls.experiment(name))

    def experiments(self) -> AsyncIterator[ExperimentSummary]:
        """Iterate over all experiments that the API key sees, in order of name."""
        return self._all_pages(calls.experiments)

    def arms(self, name: str) -> AsyncIterator[Arm]:
        """Iterate over the arms of an experiment in the order in which they were added, retired ones among them."""
        return self._all_pages(lambda after: calls.arms(name, after))

    async def pause(self, name: str) -> ExperimentStatus:
        """Make no decisions until it is resumed; rewards still count."""
        return await self._transport.send(calls.change_status(name, "pause"))

    async def resume(self, name: str) -> ExperimentStatus:
        """Make decisions again."""
        return await self._transport.send(calls.change_status(name, "resume"))

    async def archive(self, name: str) -> ExperimentStatus:
        """End an experiment for ever; it can only be read."""
        return await self._transport.send(calls.change_status(name, "archive"))

    async def delete(self, name: str) -> None:
        """Delete an experiment that is archived, and its log. If the answer is lost it is not sent again."""
        await self._transport.send(calls.delete(name))

    async def erase_unit(self, unit: str, experiment: str | None = None) -> int:
        """Take the name of a unit out of all logs, or out of one; return of how many decisions."""
        return await self._transport.send(calls.erase_unit(unit, experiment))

    async def add_arm(self, name: str, arm: Label, metadata: Any = None) -> ExperimentStatus:
        """Add an arm, or bring back a retired one. If the answer is lost it is not sent again: look at the arms."""
        return await self._transport.send(calls.add_arm(name, arm, metadata))

    async def set_shares(self, name: str, shares: Mapping[Label, float]) -> ExperimentStatus:
        """Give each of some arms a part of all decisions from now on, whatever the policy chooses; all others none."""
        return await self._transport.send(calls.set_shares(name, shares))

    async def verdict(self, name: str, confidence: float = 0.95) -> Verdict:
        """Return which arm is best, if that is certain; however often it is asked for."""
        return await self._transport.send(calls.verdict(name, confidence))

    async def play_winner(self, name: str, confidence: float | None = 0.95) -> ExperimentStatus:
        """Play only the winner once there is one at this confidence; with None, no more so."""
        return await self._transport.send(calls.play_winner(name, confidence))

    async def retire_arm(self, name: str, arm: Label) -> ExperimentStatus:
        """Stop choosing an arm; rewards of decisions made before still count."""
        return await self._transport.send(calls.retire_arm(name, arm))

    async def export(
        self, name: str, after: int = 0, since: datetime | None = None, until: datetime | None = None
    ) -> AsyncIterator[ExportedDecision]:
        """Iterate over all decisions and what became of them, after entry `after` of the log."""
        retries = RetryState(self._config)
        while True:
            try:
                async with aclosing(self._transport.stream(calls.export(name, after, since, until))) as rows:
                    async for row in rows:
                        yield row
                        after, retries = row.seq, RetryState(self._config)
            except ClientError as problem:
                await asyncio.sleep(retries.delay_or_raise(problem))
            else:
                return

    async def import_log(
        self, name: str, log: Iterable[tuple[Label, float]], *, idempotency_key: str | None = None
    ) -> ExperimentStatus:
        """Learn from pulls made elsewhere, pairs of an arm and its reward: all of them, or none."""
        return await self._transport.send(calls.import_log(name, log, idempotency_key))

    async def create_api_key(
        self,
        name: str,
        roles: Iterable[Role],
        experiments: Iterable[str] | None = None,
        lifetime: float | None = None,
    ) -> NewApiKey:
        """Create an API key, for all experiments or those listed, for ever or `lifetime` seconds.

        If the answer is lost it is not sent again.
        """
        return await self._transport.send(calls.create_api_key(name, roles, experiments, lifetime))

    def api_keys(self) -> AsyncIterator[ApiKey]:
        """Iterate over all API keys, also those revoked."""
        return self._all_pages(calls.api_keys)

    def audit(self, experiment: str | None = None) -> AsyncIterator[AuditEntry]:
        """Iterate over what was changed and by whom, newest first: of all experiments and API keys, or of one."""
        return self._all_pages(lambda before: calls.audit(experiment, before))

    async def revoke_api_key(self, key_id: str) -> ApiKey:
        """Revoke an API key, on every node and at once."""
        return await self._transport.send(calls.revoke_api_key(key_id))

    async def _offer(self, decision: str, value: float, part: str | None) -> bool:
        """Offer a reward; where it goes to a disk first, not in the loop's own thread."""
        if self._sender.spool is None:
            return self._sender.offer(decision, value, part)
        return await asyncio.to_thread(self._sender.offer, decision, value, part)

    async def _all_pages(self, ask: Callable[[str | int | None], Call[Page[T]]]) -> AsyncIterator[T]:
        after: str | int | None = None
        while True:
            page = await self._transport.send(ask(after))
            for item in page.items:
                yield item
            if page.next is None:
                return
            after = page.next


async def _wait(future: Future[None], seconds: float | None) -> None:
    if not future.done():
        async with asyncio.timeout(seconds):
            await asyncio.wrap_future(future)
