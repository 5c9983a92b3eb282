"""One bad experiment hurts nobody: locked, damaged, or not in memory, it keeps no other waiting."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from types import NoneType
from typing import Any

import psycopg
import pytest
from sqlalchemy import delete, insert, select, update

from ocucb.service import engine as engine_module
from ocucb.service import experiment_cache as experiment_cache_module
from ocucb.service import housekeeping as housekeeping_module
from ocucb.service.batch import Batch
from ocucb.service.callers import LoopCaller, PendingRequest, ThreadCaller
from ocucb.service.definition import Definition
from ocucb.service.engine import Engine, Limits
from ocucb.service.errors import (
    DamagedError,
    LogError,
    NotArchivedError,
    StoreError,
    UnavailableError,
    UnknownExperimentError,
)
from ocucb.service.experiment_cache import ExperimentCache
from ocucb.service.handlers import handle
from ocucb.service.housekeeping import Housekeeping
from ocucb.service.ids import Tokens
from ocucb.service.loader import Loader
from ocucb.service.records import utc_now
from ocucb.service.replies import Changed
from ocucb.service.requests import Create, Decide, Delete, Inspect, Request, Reward, SetStatus
from ocucb.service.stores import Store
from ocucb.service.stores.audit import list_changes
from ocucb.service.stores.dialects import Timeouts
from ocucb.service.stores.tables import log
from service.helpers import PATIENCE, PATIENT, ManualClock, Node, folded_state, live_state, wait_until

PAUSE = Timeouts(idle=60.0)
SWEEPING = Limits(sweep=0.02)


def test_a_locked_experiment_keeps_no_other_waiting(postgresql: str) -> None:
    node, other = Node(postgresql), Store(postgresql, PAUSE)
    for name in ("colours", "others"):
        node.create(name)
        node.play(3, name)
    others = node.engine._cache.find("others")
    with ThreadPoolExecutor(8) as pool:
        with other.write() as transaction:
            transaction.lock_experiments([1])
            waiting = [pool.submit(node.ask, Decide("colours")) for _ in range(4)]
            wait_until(lambda: node.engine._held.locked_experiments == 1, "it is found locked")
            node.play(30, "others")
            assert not any(one.done() for one in waiting)
        assert len({one.result()[0].id for one in waiting}) == 4
    assert node.engine._cache.find("others") is others, "it was thrown out of memory"
    assert node.engine.store_error is None
    for name in ("colours", "others"):
        assert node.replay(name).verified
        assert live_state(node, name) == folded_state(node.store, name)
    other.close()
    node.close()


def test_a_busy_experiment_is_served_by_two_nodes(postgresql: str) -> None:
    """Each finds it locked most of the time, and neither keeps the other out."""
    nodes = [Node(postgresql) for _ in range(2)]
    nodes[0].create()
    served = [0, 0]
    done = threading.Event()

    def ask(place: int) -> None:
        while not done.is_set():
            nodes[place].decide()
            served[place] += 1

    threads = [threading.Thread(target=ask, args=(place,)) for place in (0, 0, 0, 1, 1, 1)]
    for thread in threads:
        thread.start()
    wait_until(lambda: min(served) > 30, "both nodes serve")
    done.set()
    for thread in threads:
        thread.join()
    assert nodes[0].kinds().count("decision") == sum(served)
    assert nodes[0].replay().verified
    for node in nodes:
        node.close()


def ask_together(node: Node, *requests: Request) -> list[Any]:
    """Ask in one batch, and return what was asked with its answers."""

    async def ask() -> list[PendingRequest]:
        return await LoopCaller(node.engine, PATIENCE).ask_all(requests)

    return asyncio.run(ask())


@pytest.mark.parametrize("damaged", [None, "arm", "row"])
def test_what_another_node_wrote_in_several_experiments(start: Callable[..., Node], damaged: str | None) -> None:
    """It is read at once; if one log is damaged, the others go on."""
    nodes, names = [start(), start()], ["first", "second", "third"]
    for name in names:
        nodes[0].create(name)
        nodes[1].decide(name)
    for rounds, name in enumerate(names, 3):
        nodes[0].play(rounds, name)
    with nodes[0].store.write() as transaction:
        place = (log.c.experiment == 2) & (log.c.seq == 4)
        if damaged == "arm":
            transaction.connection.execute(update(log).where(place).values(arm="no JSON"))
        elif damaged == "row":
            transaction.connection.execute(delete(log).where(place))
    answered = ask_together(nodes[1], *map(Decide, names))
    failed = [name for name, one in zip(names, answered, strict=True) if one.error is not None]
    assert failed == ([] if damaged is None else ["second"])
    for name in set(names).difference(failed):
        assert nodes[1].replay(name).verified
        assert live_state(nodes[1], name) == folded_state(nodes[1].store, name)


def test_many_of_several_experiments_are_asked_for_at_once(start: Callable[..., Node]) -> None:
    """More than one statement looks up: keys, units and decisions of each are found in their own experiment."""
    node, names = start(), ["first", "second"]
    for name in names:
        node.create(name, sticky=60.0)
    node.play(3, "second")  # so that the same units are at other places of the two logs
    asked = [(name, f"unit {number}") for number in range(150) for name in names]
    by_unit = [Decide(name, unit=unit) for name, unit in asked]
    by_key = [Decide(name, idempotency_key=unit) for name, unit in asked]
    made = [[one.result()[0] for one in ask_together(node, *requests)] for requests in (by_unit, by_key)]
    assert len({decision.id for decisions in made for decision in decisions}) == 600
    for requests, decisions in zip((by_unit, by_key), made, strict=True):
        again = [one.result()[0] for one in ask_together(node, *requests)]
        assert [one._replace(repeated=False) for one in again] == decisions
        assert all(one.repeated for one in again)
    rewards = [Reward(decision.id, number / 300) for number, decision in enumerate(made[0])]
    outcomes = [[one.result().outcome for one in ask_together(node, *rewards)] for _ in range(2)]
    assert outcomes == [["counted"] * 300, ["repeated"] * 300]
    assert all(node.replay(name).verified for name in names)


@pytest.mark.parametrize("sticky", [None, 60.0])
def test_an_entry_that_cannot_be_read_fails_only_what_refers_to_it(
    start: Callable[..., Node], sticky: float | None
) -> None:
    node, names = start(), ["first", "second"]
    for name in names:
        node.create(name, sticky=sticky)
    made = [node.decide(name, unit="somebody") for name in names]
    with node.store.write() as transaction:
        transaction.connection.execute(update(log).where(log.c.experiment == 1, log.c.seq == 2).values(arm="no JSON"))
    rewards = ask_together(node, *(Reward(one.id, 0.5) for one in made), Decide("first"), Decide("second"))
    assert [type(one.error) for one in rewards] == [DamagedError, NoneType, NoneType, NoneType]
    again = ask_together(node, *(Decide(name, unit="somebody") for name in names))
    assert [type(one.error) for one in again] == [NoneType if sticky is None else DamagedError, NoneType]
    assert node.replay("second").verified


COMPILED_LATER = """
from ocucb.compiled import CACHE_USE
from ocucb.service.definition import Definition

def made():
    return CACHE_USE.loaded.total() + CACHE_USE.saved.total() + CACHE_USE.unsaved.total()

definition = Definition("any", ("a", "b", "c"), seed=1)
definition.warm_up()
before, bandit = made(), definition.bandit()
for _ in range(5):
    bandit.learn(bandit.decide().arm, 0.5)
bandit.count_pull("a")
bandit.forget("a")
bandit.add_arm("d")
bandit.retire_arm("d")
bandit.learn("d", 0.5)
bandit.decide(among=["a", "b"])
bandit.choose_many(2)
bandit.set_shares({"a": 0.1})
bandit.decide()
bandit.statistics(retired=True)
bandit.explain_many(["a", "b"])
bandit.best(0.9)
print(before > 0, made() - before)
"""


def test_nothing_is_compiled_in_a_transaction() -> None:
    """Nor loaded from the cache of what was: all would wait for it, and the database might close the connection."""
    done = subprocess.run([sys.executable, "-c", COMPILED_LATER], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["True", "0"]


def test_windows_close_beside_a_damaged_experiment(
    start: Callable[..., Node], clock: ManualClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Which is the first that is due, where a sweep has room for one."""
    monkeypatch.setattr(housekeeping_module, "MAX_EXPERIMENTS_PER_SWEEP", 1)
    node = start()
    for name in ("damaged", "others"):
        node.create(name, window=60.0)
    for _ in range(2):
        node.ask(Decide("damaged", count=1000))
    node.ask(Decide("others", count=3))
    with node.store.write() as transaction:
        transaction.connection.execute(delete(log).where(log.c.experiment == 1, log.c.seq == 4))
    clock.advance(61.0)
    assert start().engine._housekeeping.find_due([1], writing=False) == [2]
    fresh = start(limits=SWEEPING)
    wait_until(lambda: fresh.kinds("others").count("forgotten") == 3, "the windows of the other are closed")
    wait_until(lambda: fresh.engine.damaged_experiments == 1, "the damage is noticed")
    with pytest.raises(LogError):
        fresh.decide("damaged")


def test_a_damaged_experiment_is_counted_until_it_is_whole(
    start: Callable[..., Node], clock: ManualClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also if nobody asks for it: it is read again now and then."""
    monkeypatch.setattr(experiment_cache_module, "DAMAGED_RETRY_SECONDS", 0.0)
    node = start()
    node.create("damaged")
    node.play(5, "damaged")
    with node.store.write() as transaction:
        (row,) = transaction.connection.execute(select(log).where(log.c.seq == 4)).mappings()
        transaction.connection.execute(delete(log).where(log.c.seq == 4))
    fresh = start(limits=SWEEPING)
    with pytest.raises(DamagedError, match="restores it from a backup or deletes it"):
        fresh.decide("damaged")
    loads: list[int] = []
    load = fresh.engine._loader.load
    monkeypatch.setattr(fresh.engine._loader, "load", lambda target: loads.append(target) or load(target))  # type: ignore[func-returns-value]
    wait_until(lambda: len(loads) > 3, "it is read again")
    assert fresh.engine.damaged_experiments == 1
    with node.store.write() as transaction:
        transaction.connection.execute(insert(log).values(dict(row)))
    wait_until(lambda: fresh.engine.damaged_experiments == 0, "it is found to be whole")
    assert fresh.decide("damaged").id
    assert fresh.replay("damaged").verified


def test_a_damaged_experiment_can_be_deleted(start: Callable[..., Node]) -> None:
    """It cannot be archived before, since nothing can be written to its log."""
    node = start()
    node.create("damaged")
    node.create("others")
    node.play(5, "damaged")
    with node.store.write() as transaction:
        transaction.connection.execute(delete(log).where(log.c.experiment == 1, log.c.seq == 4))
    fresh, other = start(limits=SWEEPING), start()
    for one in (fresh, other):
        with pytest.raises(DamagedError):
            one.ask(SetStatus("damaged", "archived"))
    with pytest.raises(NotArchivedError):
        fresh.ask(Delete("others"))
    assert fresh.ask(Delete("damaged")) == Changed("damaged", 11, "deleted")
    assert fresh.engine.damaged_experiments == 0
    for one in (fresh, other):
        with pytest.raises(UnknownExperimentError):
            one.ask(Delete("damaged"))
    fresh.create("damaged")
    assert fresh.decide("damaged").statistics.pulls == 0
    with fresh.store.read() as transaction:
        assert [(one.action, one.details.get("damaged")) for one in list_changes(transaction)][1] == ("deleted", True)


def test_a_node_that_was_slow_is_not_called_slow_for_ever(sqlite: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """As load balancers ask nothing of a node that is not ready, only time can tell that it is."""
    node = Node(sqlite)
    node.create()
    node.engine._last_lag, node.engine._lag_at = 20.0, time.monotonic()
    assert node.engine.lag == 20.0
    monkeypatch.setattr(engine_module, "LAG_SECONDS", 0.0)
    assert node.engine.lag == 0.0
    node.close()


def test_a_request_that_is_refused_after_a_failure_leaves_no_lag(sqlite: str) -> None:
    node = Node(sqlite, limits=Limits(sweep=3600.0, retry_delay=3600.0))
    node.create()
    with node.store.write() as transaction:
        transaction.connection.exec_driver_sql("ALTER TABLE log RENAME TO gone")
    for _ in range(2):  # the second is answered without trying
        with pytest.raises(StoreError):
            node.decide()
    assert node.engine._serving_since is None
    node.close()


def test_idempotency_keys_are_forgotten_as_fast_as_they_come(node: Node, clock: ManualClock) -> None:
    node.create()
    with ThreadPoolExecutor(100) as pool:
        list(pool.map(lambda number: node.decide(idempotency_key=f"key {number}"), range(2500)))
    clock.advance(8 * 86_400.0)
    housekeeping = node.engine._housekeeping
    housekeeping.prune_at = 0.0
    housekeeping.prune()
    with node.store.read() as transaction:
        assert not transaction.has_old_idempotency_keys(clock() + 1)


def test_what_was_answered_for_slowness_is_not_decided(sqlite: str) -> None:
    node = Node(sqlite)
    node.create()
    late = Engine(node.store)
    with pytest.raises(UnavailableError, match="not stored"):
        ThreadCaller(late, 0.01).ask(Decide("colours"))
    late.start()
    ThreadCaller(late, 60.0).ask(Inspect("colours"))
    late.close()
    assert node.kinds() == ["created"]
    node.close()


def test_a_request_that_was_cancelled_is_not_served(sqlite: str) -> None:
    """Also if that happens when the writer has taken it already, or its time is over while the process was stopped."""
    node = Node(sqlite)
    node.create()
    engine = Engine(node.store)
    engine._cache.add(engine._loader.load("colours").state)  # type: ignore[arg-type]
    box = Housekeeping(node.store, utc_now, 1.0, 1.0)
    cancelled, late, good = (PendingRequest(Decide("colours"), box, timeout=timeout) for timeout in (60.0, 0.0, 60.0))
    ready = engine._hold_back([cancelled, late, good])
    assert len(ready) == 3
    assert cancelled.cancel()
    engine._try_batch(ready, [], None)
    assert (cancelled.answer, late.answer) == (None, None)
    assert good.answer is not None
    assert not good.cancel(), "whoever is served cannot be cancelled"
    assert node.kinds() == ["created", "decision"]
    node.close()


def test_what_is_in_memory_does_not_wait_for_what_is_not(sqlite: str) -> None:
    before = Node(sqlite)
    for name in ("colours", "others"):
        before.create(name)
    before.close()
    store = Store(sqlite, PATIENT)
    engine = Engine(store)
    engine._cache.add(engine._loader.load("others").state)  # type: ignore[arg-type]
    engine._writer.start()  # and no loader, so loading takes as long as we like
    engine._snapshots.start()
    caller = ThreadCaller(engine, 60.0)
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(caller.ask, Decide("colours"))
        wait_until(lambda: engine.loading == 1, "it waits to be loaded")
        caller.ask(Decide("others"))
        assert not waiting.done()
        engine._loader.start()
        assert waiting.result()[0].arm
    engine.close()
    store.close()


@pytest.mark.parametrize("how", ["stopped", "too many"])
def test_a_snapshot_is_left_behind(sqlite: str, how: str) -> None:
    node = Node(sqlite, limits=Limits(sweep=0.02, cached_experiments=1))
    node.create()
    node.play(150)
    state = live_state(node)
    if how == "too many":
        node.create("others")

        def is_stored() -> bool:
            with node.store.read() as transaction:
                return len(transaction.read_snapshots(1)) == 1

        wait_until(is_stored, "a snapshot of what had to leave memory")
    node.close()
    store = Store(sqlite)
    with store.read() as transaction:
        (snapshot,) = transaction.read_snapshots(1)
    assert snapshot.seq == 301
    loaded = Loader(store, print).load("colours").state
    assert loaded is not None
    assert loaded.snapshot_seq == 301
    assert loaded.to_dict() == state
    store.close()


def test_many_arms_have_snapshots_too(sqlite: str) -> None:
    node = Node(sqlite, limits=Limits(sweep=3600.0, snapshot=100))
    node.create(arms=range(2000))
    node.ask(Decide("colours", count=450))

    def is_stored() -> bool:
        node.ask(Inspect("colours", arms=False))
        with node.store.read() as transaction:
            return bool(transaction.read_snapshots(1))

    wait_until(is_stored, "a snapshot after fewer entries than there are arms")
    node.close()


def test_a_create_that_is_repeated_on_another_node(postgresql: str) -> None:
    """The answer of one node was lost while it committed; the other finds the name taken, by the same request."""
    node, elsewhere = Node(postgresql), Store(postgresql, PAUSE)
    request = Create(Definition("new", ("a", "b"), seed=1), idempotency_key="k")
    with ThreadPoolExecutor(1) as pool:
        with elsewhere.write() as transaction:
            batch = Batch(ExperimentCache(10), ["new"], 1, Tokens())
            batch.open(transaction)
            batch.find_referenced([request])
            first = handle(batch, request)
            batch.write()
            again = pool.submit(node.ask, request)
            wait_until(lambda: _waits_for_a_lock(postgresql), "the second waits for the first")
        answer: Any = again.result()
    assert answer == first == Changed("new", 1, "active")
    assert node.kinds("new") == ["created"]
    elsewhere.close()
    node.close()


def _waits_for_a_lock(address: str) -> bool:
    with psycopg.connect(address) as connection:
        found = connection.execute("SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'").fetchone()
    return found is not None and found[0] > 0


def test_a_sticky_unit_whose_window_has_passed_decides_anew(node: Node, clock: ManualClock) -> None:
    node.create(window=60.0, sticky=600.0)
    first = node.decide(unit="me")
    clock.advance(59.0)
    assert node.decide(unit="me").id == first.id
    clock.advance(2.0)
    second = node.decide(unit="me")
    assert second.id != first.id
    assert node.ask(Reward(second.id, 1.0)).outcome == "counted"
    assert node.replay().verified


def test_rewards_that_would_spoil_an_arm_are_refused(node: Node) -> None:
    node.create()
    for _ in range(6):
        decision = node.decide()
        for wrong in (1e308, -1e101):
            with pytest.raises(Exception, match="must lie between -1e\\+100 and 1e\\+100"):
                node.ask(Reward(decision.id, wrong))
        assert node.ask(Reward(decision.id, 1e100)).outcome == "counted"
    node.create("bounded", reward_bounds=(0.0, 5.0))
    decision = node.decide("bounded")
    with pytest.raises(Exception, match="must lie between 0 and 5"):
        node.ask(Reward(decision.id, 5.5))
    assert node.ask(Reward(decision.id, 5.0)).outcome == "counted"
    for name in ("colours", "bounded"):
        assert node.replay(name).verified


def test_what_takes_long_is_not_taken_for_a_node_that_hangs(postgresql: str) -> None:
    """To fold many arms takes longer than a node may hang in a transaction; nothing is locked meanwhile."""
    hasty = Store(postgresql, Timeouts(idle=1.0))
    hasty.migrate()
    with hasty.read() as transaction:
        time.sleep(2.0)
        assert transaction.find_experiments(["none"]) == []
    with hasty.write() as transaction:
        transaction.allow_long()
        time.sleep(2.0)
        assert transaction.lock_experiments([1]) == []
    hasty.close()
