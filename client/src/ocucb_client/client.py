"""The client for threads."""

from __future__ import annotations

import os
import time
import weakref
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import Future
from contextlib import closing, suppress
from datetime import datetime
from types import TracebackType
from typing import Any, Literal, Self, TypeVar, overload

from ocucb_client import calls, checks
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


class Client:
    """Asks a decision service: the calls it has, with retries that do nothing twice. For any number of threads.

    Parameters
    ----------
    url : where the service is, like "http://127.0.0.1:8000".
    api_key : as the service has shown it, "ocucb_...". It is never shown or logged.
    timeout : seconds that a call may take in all, retries and pauses included.
    attempt_timeout : seconds to wait for one answer before the next attempt.
    retries : how many attempts there are after the first, while the service is not available.
    queue_size : how many background rewards may wait.
    spool : a file that keeps background rewards until they are delivered, whatever happens to this process.
    on_refused : called, in a thread of the client, with each background reward that the service will never take.

    Use it in a `with` block, or `close` it. If Python ends before that, background rewards are still delivered.
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
        self._transport = Transport(self._config)
        self._sender = open_sender(self._transport, queue_size, spool, on_refused)
        weakref.finalize(self, self._sender.on_client_collected).atexit = False

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._config.url!r})"

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @overload
    def decide(
        self,
        experiment: str,
        unit: str | None = None,
        *,
        count: None = None,
        idempotency_key: str | None = None,
        among: Iterable[Label] | None = None,
    ) -> Decision: ...
    @overload
    def decide(
        self,
        experiment: str,
        unit: str | None = None,
        *,
        count: int,
        idempotency_key: str | None = None,
        among: Iterable[Label] | None = None,
        different: bool = False,
    ) -> list[Decision]: ...
    def decide(
        self,
        experiment: str,
        unit: str | None = None,
        *,
        count: int | None = None,
        idempotency_key: str | None = None,
        among: Iterable[Label] | None = None,
        different: bool = False,
    ) -> Decision | list[Decision]:
        """Return which arm to play; with `count`, a list of so many decisions.

        The same `unit` gets the same decision within the experiment's sticky window. The same `idempotency_key` always
        does; if none is given, each call makes its own, so that its retries make one decision. With `among`, only these
        arms are chosen; with `different`, each of the decisions has another arm, by falling index.
        """
        if count is None:
            return self._transport.send(calls.decide(experiment, unit, idempotency_key, among))
        call = calls.decide_many(experiment, unit, count, idempotency_key, among, different)
        return self._transport.send(call)

    def decide_for_units(
        self,
        experiment: str,
        units: Iterable[str],
        *,
        idempotency_key: str | None = None,
        among: Iterable[Label] | None = None,
    ) -> list[Decision]:
        """Return a decision for each of up to 1000 units, in order, as if each had been asked for alone."""
        return self._transport.send(calls.decide_for_units(experiment, units, idempotency_key, among))

    def reward(self, decision: Decision | str, value: float, part: str | None = None) -> RewardOutcome:
        """Give a decision its reward. It counts once, however often it is given; a different one is a conflict.

        Where partial rewards are summed, `part` names this one: the same part counts once.
        """
        return self._transport.send(calls.reward(decision, value, part))

    def rewards(self, items: Iterable[Rewarding]) -> list[RewardResult]:
        """Give many decisions their rewards. Each is answered, in order: with its outcome, or with its error.

        What keeps the service from answering at all is raised; all may then be given again.
        """
        parts = map(calls.rewards, calls.split_rewards(items))
        return [result for call in parts for result in self._transport.send(call)]

    def correct_rewards(self, items: Iterable[tuple[Decision | str, float | None]]) -> list[RewardResult]:
        """Put other rewards in the place of those that were counted; None voids one. Each is answered."""
        parts = map(calls.correct_rewards, calls.split_rewards(items))
        return [result for call in parts for result in self._transport.send(call)]

    def reward_later(self, decision: Decision | str, value: float, part: str | None = None) -> None:
        """Accept a reward, to be delivered in the background for as long as that takes.

        If the queue is full it waits up to `timeout`, then raises QueueFullError. With a spool, the reward is on the
        disk when this returns.
        """
        item = calls.decision_id(decision), checks.reward(value), checks.part(part)
        end = time.monotonic() + self._config.timeout
        while not self._sender.offer(*item):
            try:
                _wait(self._sender.when_room(), max(0.0, end - time.monotonic()))
            except TimeoutError:
                raise self._sender.queue_full_error() from None

    def flush(self, timeout: float | None = None) -> None:
        """Wait until every background reward accepted so far is delivered or refused; else raise UndeliveredError."""
        try:
            _wait(self._sender.when_flushed(), timeout)
        except TimeoutError:
            raise self._sender.undelivered_error() from None
        self._sender.check_parked()

    def close(self, timeout: float | None = None) -> None:
        """Deliver all background rewards, and let go of everything.

        After `timeout` seconds it gives up: UndeliveredError then has those that are not delivered. It also has, and
        names, those that the service fails at: they are not waited for.
        """
        if self._sender.forked:
            return
        self._sender.close()
        with suppress(TimeoutError, UndeliveredError):
            _wait(self._sender.when_flushed(), timeout)
        try:
            self._sender.stop()
        finally:
            self._transport.close()

    @property
    def background(self) -> BackgroundCounts:
        """How many background rewards wait, are delivered, were refused."""
        return self._sender.counts()

    def create(
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
        """Create an experiment; only its name and its arms must be given.

        Parameters
        ----------
        name : what it is called.
        arms : their labels; or a dictionary from labels to anything that the service should keep about each.
        policy : as of a `Bandit`, or as the service writes it: "ucb", {"name": "ocucb-n", "eta": 1.5}.
        noise : the same of a noise family: "bernoulli", {"name": "gaussian", "scale": 2.0}.
        window : seconds after which a reward is too late; None for never.
        on_expiry : what happens then: "forget" the decision, or count this reward.
        late : what a reward after the window is told: "refuse" it, or "accept" it and count nothing.
        sticky : seconds in which the same unit gets the same decision.
        reward_bounds : the smallest and the largest reward that is accepted; None for -1e100 and 1e100.
        partial_rewards : a decision may have several rewards, whose sum counts when its window has passed.
        metadata : anything about the experiment; the service only keeps it.
        seed : for policies and shares, which draw at random.
        shares : the part of all decisions that some arms get, whatever the policy chooses: {"control": 0.1}.
        memory : what the policy remembers, for an environment that drifts: {"name": "window", "rounds": 5000},
            {"name": "discount", "factor": 0.999}, or an object of `ocucb`; None for everything.
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
            reward_bounds=reward_bounds,
            partial_rewards=partial_rewards,
            metadata=metadata,
            seed=seed,
            shares=shares,
            memory=memory,
            idempotency_key=idempotency_key,
        )
        return self._transport.send(call)

    def experiment(self, name: str) -> Experiment:
        """Return an experiment: how it was defined, and how far it is."""
        return self._transport.send(calls.experiment(name))

    def experiments(self) -> Iterator[ExperimentSummary]:
        """Iterate over all experiments that the API key sees, in order of name."""
        return self._all_pages(calls.experiments)

    def arms(self, name: str) -> Iterator[Arm]:
        """Iterate over the arms of an experiment in the order in which they were added, retired ones among them."""
        return self._all_pages(lambda after: calls.arms(name, after))

    def pause(self, name: str) -> ExperimentStatus:
        """Make no decisions until it is resumed; rewards still count."""
        return self._transport.send(calls.change_status(name, "pause"))

    def resume(self, name: str) -> ExperimentStatus:
        """Make decisions again."""
        return self._transport.send(calls.change_status(name, "resume"))

    def archive(self, name: str) -> ExperimentStatus:
        """End an experiment for ever; it can only be read."""
        return self._transport.send(calls.change_status(name, "archive"))

    def delete(self, name: str) -> None:
        """Delete an experiment that is archived, and its log. If the answer is lost it is not sent again."""
        self._transport.send(calls.delete(name))

    def erase_unit(self, unit: str, experiment: str | None = None) -> int:
        """Take the name of a unit out of all logs, or out of one; return of how many decisions."""
        return self._transport.send(calls.erase_unit(unit, experiment))

    def add_arm(self, name: str, arm: Label, metadata: Any = None) -> ExperimentStatus:
        """Add an arm, or bring back a retired one. If the answer is lost it is not sent again: look at the arms."""
        return self._transport.send(calls.add_arm(name, arm, metadata))

    def set_shares(self, name: str, shares: Mapping[Label, float]) -> ExperimentStatus:
        """Give each of some arms a part of all decisions from now on, whatever the policy chooses; all others none."""
        return self._transport.send(calls.set_shares(name, shares))

    def verdict(self, name: str, confidence: float = 0.95) -> Verdict:
        """Return which arm is best, if that is certain; however often it is asked for."""
        return self._transport.send(calls.verdict(name, confidence))

    def play_winner(self, name: str, confidence: float | None = 0.95) -> ExperimentStatus:
        """Play only the winner once there is one at this confidence; with None, no more so."""
        return self._transport.send(calls.play_winner(name, confidence))

    def retire_arm(self, name: str, arm: Label) -> ExperimentStatus:
        """Stop choosing an arm; rewards of decisions made before still count."""
        return self._transport.send(calls.retire_arm(name, arm))

    def export(
        self, name: str, after: int = 0, since: datetime | None = None, until: datetime | None = None
    ) -> Iterator[ExportedDecision]:
        """Iterate over all decisions and what became of them, after entry `after` of the log.

        They come as a stream. If it breaks off, it is asked for again from where it broke off.
        """
        retries = RetryState(self._config)
        while True:
            try:
                with closing(self._transport.stream(calls.export(name, after, since, until))) as rows:
                    for row in rows:
                        yield row
                        after, retries = row.seq, RetryState(self._config)
            except ClientError as problem:
                time.sleep(retries.delay_or_raise(problem))
            else:
                return

    def import_log(
        self, name: str, log: Iterable[tuple[Label, float]], *, idempotency_key: str | None = None
    ) -> ExperimentStatus:
        """Learn from pulls made elsewhere, pairs of an arm and its reward: all of them, or none."""
        return self._transport.send(calls.import_log(name, log, idempotency_key))

    def create_api_key(
        self,
        name: str,
        roles: Iterable[Role],
        experiments: Iterable[str] | None = None,
        lifetime: float | None = None,
    ) -> NewApiKey:
        """Create an API key, for all experiments or those listed, for ever or `lifetime` seconds.

        If the answer is lost it is not sent again.
        """
        return self._transport.send(calls.create_api_key(name, roles, experiments, lifetime))

    def api_keys(self) -> Iterator[ApiKey]:
        """Iterate over all API keys, also those revoked."""
        return self._all_pages(calls.api_keys)

    def audit(self, experiment: str | None = None) -> Iterator[AuditEntry]:
        """Iterate over what was changed and by whom, newest first: of all experiments and API keys, or of one."""
        return self._all_pages(lambda before: calls.audit(experiment, before))

    def revoke_api_key(self, key_id: str) -> ApiKey:
        """Revoke an API key, on every node and at once."""
        return self._transport.send(calls.revoke_api_key(key_id))

    def _all_pages(self, ask: Callable[[str | int | None], Call[Page[T]]]) -> Iterator[T]:
        after: str | int | None = None
        while True:
            page = self._transport.send(ask(after))
            yield from page.items
            if page.next is None:
                return
            after = page.next


def _wait(future: Future[None], seconds: float | None) -> None:
    try:
        future.result(seconds)
    finally:
        future.cancel()
