"""The client for threads."""

from __future__ import annotations

import os
import time
import weakref
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import Future
from contextlib import closing, suppress
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
from ocucb.client.wire import Wire
from ocucb.labels import Label
from ocucb.noise import Noise
from ocucb.policies import Policy

T = TypeVar("T")


class Client:
    """Asks a decision service: the calls it has, with retries that do nothing twice. For any number of threads.

    Parameters
    ----------
    url : where the service is, like "http://127.0.0.1:8000".
    key : the API key, "ocucb_...". It is never shown or logged.
    timeout : seconds that a call may take in all, retries and pauses included.
    patience : seconds to wait for one answer before the next attempt.
    retries : how many attempts there are after the first one, while the service is not available.
    queue : how many background rewards may wait.
    spool : a file that keeps background rewards until they are delivered, whatever happens to this process.
    on_refused : called, in a thread of the client, with each background reward that the service will never take.

    Use it in a `with` block, or `close` it. If Python ends before that, background rewards are still delivered.
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
        self._wire = Wire(self._setup)
        self._later = open_sender(self._wire, queue, spool, on_refused)
        weakref.finalize(self, self._later.forget).atexit = False

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._setup.url!r})"

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @overload
    def decide(
        self, experiment: str, unit: str | None = None, *, count: None = None, idempotency_key: str | None = None
    ) -> Decision: ...
    @overload
    def decide(
        self, experiment: str, unit: str | None = None, *, count: int, idempotency_key: str | None = None
    ) -> list[Decision]: ...
    def decide(
        self,
        experiment: str,
        unit: str | None = None,
        *,
        count: int | None = None,
        idempotency_key: str | None = None,
    ) -> Decision | list[Decision]:
        """Return which arm to play; with `count`, a list of so many decisions.

        The same `unit` gets the same decision within the experiment's sticky window. The same `idempotency_key` always
        does; if none is given, each call makes its own, so that its retries make one decision.
        """
        if count is None:
            return self._wire.send(calls.decide(experiment, unit, idempotency_key))
        return self._wire.send(calls.decide_many(experiment, unit, count, idempotency_key))

    def reward(self, decision: Decision | str, value: float) -> Rewarded:
        """Give a decision its reward. It counts once, however often it is given; a different one is a conflict."""
        return self._wire.send(calls.reward(decision, value))

    def rewards(self, items: Iterable[tuple[Decision | str, float]]) -> list[Result]:
        """Give many decisions their rewards. Each is answered, in order: with its outcome, or with its error.

        What keeps the service from answering at all is raised; all may then be given again.
        """
        return [result for part in calls.in_parts(items) for result in self._wire.send(calls.rewards(part))]

    def reward_later(self, decision: Decision | str, value: float) -> None:
        """Accept a reward, to be delivered in the background for as long as that takes.

        If the queue is full it waits up to `timeout`, then raises QueueFullError. With a spool, the reward is on the
        disk when this returns.
        """
        item = calls.decision_id(decision), calls.number(value)
        end = time.monotonic() + self._setup.timeout
        while not self._later.offer(*item):
            try:
                _until(self._later.room(), max(0.0, end - time.monotonic()))
            except TimeoutError:
                raise self._later.too_full() from None

    def flush(self, timeout: float | None = None) -> None:
        """Wait until every background reward accepted so far is delivered or refused; else raise UndeliveredError."""
        try:
            _until(self._later.flushed(), timeout)
        except TimeoutError:
            raise self._later.undelivered() from None

    def close(self, timeout: float | None = None) -> None:
        """Deliver all background rewards, and let go of everything.

        After `timeout` seconds it gives up: UndeliveredError then has those that are not delivered.
        """
        if self._later.forked:
            return
        self._later.close()
        with suppress(TimeoutError):
            _until(self._later.flushed(), timeout)
        try:
            self._later.stop()
        finally:
            self._wire.close()

    @property
    def background(self) -> Counts:
        """How many background rewards wait, are delivered, were refused."""
        return self._later.counts()

    def create(
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
        """Create an experiment; only its name and its arms must be given.

        Parameters
        ----------
        name : what it is called.
        arms : their labels; or a dictionary from labels to anything that the service should keep about each.
        policy, noise : as of a `Bandit`, or as the service writes them: "ucb", {"name": "gaussian", "scale": 2.0}.
        window : seconds after which a reward is too late; None for never.
        on_expiry : what happens then: "forget" the decision, or count this reward.
        late : what a reward after the window is told: "refuse" it, or "accept" it and count nothing.
        sticky : seconds in which the same unit gets the same decision.
        metadata : anything about the experiment; the service only keeps it.
        seed : for policies that draw at random.
        """
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
        return self._wire.send(call)

    def experiment(self, name: str) -> Experiment:
        """Return an experiment: how it was defined, and how far it is."""
        return self._wire.send(calls.experiment(name))

    def experiments(self) -> Iterator[Listed]:
        """Iterate over all experiments that the key sees, in order of name."""
        return self._pages(calls.experiments)

    def arms(self, name: str) -> Iterator[Arm]:
        """Iterate over the arms of an experiment: those in play first, then those retired."""
        return self._pages(lambda after: calls.arms(name, after))

    def pause(self, name: str) -> Changed:
        """Make no decisions until it is resumed; rewards still count."""
        return self._wire.send(calls.change(name, "pause"))

    def resume(self, name: str) -> Changed:
        """Make decisions again."""
        return self._wire.send(calls.change(name, "resume"))

    def archive(self, name: str) -> Changed:
        """End an experiment for ever; it can only be read."""
        return self._wire.send(calls.change(name, "archive"))

    def add_arm(self, name: str, arm: Label, metadata: Any = None) -> Changed:
        """Add an arm, or bring back a retired one. If the answer is lost it is not sent again: look at the arms."""
        return self._wire.send(calls.add_arm(name, arm, metadata))

    def retire_arm(self, name: str, arm: Label) -> Changed:
        """Stop choosing an arm; rewards of decisions made before still count."""
        return self._wire.send(calls.retire_arm(name, arm))

    def export(self, name: str, after: int = 0) -> Iterator[Row]:
        """Iterate over all decisions and what became of them, after entry `after` of the log.

        They come as a stream. If it breaks off, it is asked for again from where it broke off.
        """
        attempts = Attempts(self._setup)
        while True:
            try:
                with closing(self._wire.lines(calls.export(name, after))) as rows:
                    for row in rows:
                        yield row
                        after, attempts = row.seq, Attempts(self._setup)
            except ClientError as problem:
                time.sleep(attempts.pause(problem))
            else:
                return

    def import_log(
        self, name: str, log: Iterable[tuple[Label, float]], *, idempotency_key: str | None = None
    ) -> Changed:
        """Learn from pulls made elsewhere, pairs of an arm and its reward: all of them, or none."""
        return self._wire.send(calls.import_log(name, log, idempotency_key))

    def make_key(self, name: str, roles: Iterable[Role], experiments: Iterable[str] | None = None) -> NewKey:
        """Make an API key, for all experiments or those listed. If the answer is lost it is not sent again."""
        return self._wire.send(calls.make_key(name, roles, experiments))

    def keys(self) -> Iterator[Key]:
        """Iterate over all API keys, also those revoked."""
        return self._pages(calls.keys)

    def revoke_key(self, key_id: str) -> Key:
        """Revoke an API key, on every node and at once."""
        return self._wire.send(calls.revoke_key(key_id))

    def _pages(self, ask: Callable[[str | int | None], Call[Page[T]]]) -> Iterator[T]:
        after: str | int | None = None
        while True:
            page = self._wire.send(ask(after))
            yield from page.items
            if page.next is None:
                return
            after = page.next


def _until(future: Future[None], seconds: float | None) -> None:
    try:
        future.result(seconds)
    finally:
        future.cancel()
