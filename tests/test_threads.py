"""One bandit, many threads: no exception, no lost update, no deadlock."""

from __future__ import annotations

import copy
import json
import pickle
import random
import sys
import threading
import time
from collections.abc import Callable, Iterator
from itertools import chain, pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ocucb import MOSS, UCB, ArmError, Bandit, HorizonError, OCUCBn, Policy, ThompsonSampling

THREADS = 8
PATIENCE = 60.0  # seconds after which threads that have not ended are taken to be stuck

Label = str | int
Work = Callable[[random.Random], None]


@pytest.fixture(autouse=True)
def hasty_switches() -> Iterator[None]:
    """Let threads take turns a thousand times as often as usual, so that what can go wrong does."""
    usual = sys.getswitchinterval()
    sys.setswitchinterval(usual / 1000)
    yield
    sys.setswitchinterval(usual)


def together(*works: Work) -> None:
    """Run all works at once, each in a thread of its own, and raise what the first of them to fail raised."""
    start = threading.Barrier(len(works))
    problems: list[BaseException] = []

    def run(work: Work, seed: int) -> None:
        try:
            start.wait(PATIENCE)
            work(random.Random(seed))
        except BaseException as problem:  # handed to the main thread
            problems.append(problem)

    threads = [threading.Thread(target=run, args=(work, seed), daemon=True) for seed, work in enumerate(works)]
    end = time.monotonic() + PATIENCE
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(max(0.0, end - time.monotonic()))
    if problems:
        raise problems[0]
    assert not any(thread.is_alive() for thread in threads), "threads are stuck"


class Ledger:
    """What one thread did."""

    def __init__(self) -> None:
        self.choices = self.rewards = self.forgets = 0
        self.waiting: list[Label] = []


def check(bandit: Bandit, ledgers: list[Ledger]) -> None:
    """Check the totals of a bandit, all of whose rewards were 1, against what its threads did."""
    waiting = [arm for ledger in ledgers for arm in ledger.waiting]
    assert bandit.rounds == sum(ledger.choices - ledger.forgets for ledger in ledgers)
    assert bandit.pulls.sum() == bandit.rounds
    assert bandit.pending.tolist() == [waiting.count(arm) for arm in bandit.arms]
    data = bandit.to_dict()
    assert sum(data["learned"]) == sum(ledger.rewards for ledger in ledgers)
    assert data["totals"] == data["learned"]


@pytest.mark.parametrize("policy", [OCUCBn(), UCB(), ThompsonSampling()], ids=lambda policy: policy.name)
def test_nothing_is_lost_between_threads(policy: Policy) -> None:
    bandit = Bandit(policy, arms=6, seed=1)
    ledgers = [Ledger() for _ in range(THREADS)]

    def worker(ledger: Ledger) -> Work:
        def work(luck: random.Random) -> None:
            for _ in range(1500):
                event = luck.randrange(10)
                if event < 5 or not ledger.waiting:
                    ledger.waiting.append(bandit.choose())
                    ledger.choices += 1
                elif event < 8:
                    # Its own choice is pending until it says otherwise, whatever other threads do.
                    bandit.learn(ledger.waiting.pop(), 1.0)
                    ledger.rewards += 1
                elif event == 8:
                    bandit.forget(ledger.waiting.pop(luck.randrange(len(ledger.waiting))))
                    ledger.forgets += 1
                else:
                    look(bandit)

        return work

    together(*map(worker, ledgers))
    check(bandit, ledgers)
    assert sum(ledger.choices for ledger in ledgers) > 4000


def look(bandit: Bandit) -> None:
    """Look at everything; each look must be whole in itself, though the next may see a later state."""
    assert bandit.peek() in bandit.arms
    assert (bandit.pending >= 0).all()
    means = bandit.means
    assert ((means == 1.0) | np.isnan(means)).all()
    assert len(bandit.indices()) == len(bandit.effective_arms())
    told = bandit.explain(bandit.arms[0])
    assert 0 <= told.pending <= told.pulls
    data = bandit.to_dict()
    assert data["totals"] == data["learned"]
    assert all(0 <= learned <= pulls for learned, pulls in zip(data["learned"], data["pulls"], strict=True))
    assert repr(bandit).startswith("Bandit(")


def test_choices_made_at_once_are_those_made_one_by_one() -> None:
    """Without rewards the state is the number of choices: eight threads get what one would, in some order."""
    shared, alone = Bandit(ThompsonSampling(), 5, seed=3), Bandit(ThompsonSampling(), 5, seed=3)
    for bandit in (shared, alone):
        bandit.learn_many(range(5), [1.0] * 5)
    chosen: list[list[Label]] = [[] for _ in range(THREADS)]

    def worker(mine: list[Label]) -> Work:
        def work(luck: random.Random) -> None:
            mine.extend(shared.choose() for _ in range(500))

        return work

    together(*map(worker, chosen))
    expected = [alone.choose() for _ in range(500 * THREADS)]
    assert sorted(map(str, chain(*chosen))) == sorted(map(str, expected))
    assert shared.to_dict() == alone.to_dict()


def test_logs_learned_at_once_are_all_there() -> None:
    bandit = Bandit(OCUCBn(), arms=10)

    def work(luck: random.Random) -> None:
        for _ in range(200):
            arms = luck.choices(range(10), k=luck.randrange(6))
            bandit.learn_many(arms, [1.0] * len(arms))
            bandit.learn(luck.randrange(10), 1.0)

    together(*[work] * THREADS)
    expected = 0
    for seed in range(THREADS):
        luck = random.Random(seed)
        for _ in range(200):
            size = len(luck.choices(range(10), k=luck.randrange(6)))
            luck.randrange(10)
            expected += size + 1
    assert bandit.rounds == bandit.pulls.sum() == expected
    assert bandit.means.tolist() == [1.0] * 10


def test_arms_come_and_go_under_threads(tmp_path: Path) -> None:
    bandit = Bandit(OCUCBn(), arms=["always"])
    ledgers = [Ledger() for _ in range(THREADS)]

    def worker(number: int) -> Work:
        ledger = ledgers[number]

        def work(luck: random.Random) -> None:
            mine: list[str] = []
            away: list[str] = []
            for step in range(400):
                event = luck.randrange(12)
                if event == 0:
                    mine.append(f"{number}/{step}")
                    bandit.add_arm(mine[-1])
                elif event == 1 and mine:
                    away.append(mine.pop(luck.randrange(len(mine))))
                    bandit.retire_arm(away[-1])
                elif event == 2 and away:
                    mine.append(away.pop(luck.randrange(len(away))))
                    bandit.add_arm(mine[-1])
                elif event == 3:
                    bandit.save(tmp_path / "shared.json")
                    assert "always" in Bandit.load(tmp_path / "shared.json").arms
                elif event < 8 or not ledger.waiting:
                    ledger.waiting.append(bandit.choose())
                    ledger.choices += 1
                else:
                    settle(bandit, ledger)
            for label in away:
                bandit.add_arm(label)

        return work

    together(*map(worker, range(THREADS)))
    check(bandit, ledgers)
    assert len(bandit.arms) == len(set(bandit.arms)) > THREADS
    assert [found.name for found in tmp_path.iterdir()] == ["shared.json"]
    assert Bandit.from_dict(bandit.to_dict()).to_dict() == bandit.to_dict()


def settle(bandit: Bandit, ledger: Ledger) -> None:
    """Learn or forget a choice of this thread, whether or not another has retired the arm since."""
    arm = ledger.waiting.pop(0)
    if len(ledger.waiting) % 3:
        bandit.learn(arm, 1.0)
        ledger.rewards += 1
    else:
        bandit.forget(arm)
        ledger.forgets += 1


def test_one_arm_is_added_once_and_the_last_is_never_retired() -> None:
    bandit = Bandit(OCUCBn(), arms=3)
    counts = {"add": 0, "retire": 0}
    lock = threading.Lock()

    def work(luck: random.Random) -> None:
        for _ in range(400):
            arm, event = luck.randrange(3), luck.choice(["add", "retire"])
            try:
                bandit.add_arm(arm) if event == "add" else bandit.retire_arm(arm)
            except ArmError:
                continue
            with lock:
                counts[event] += 1
            assert bandit.choose() in (0, 1, 2)

    together(*[work] * THREADS)
    assert len(bandit.arms) == 3 + counts["add"] - counts["retire"] >= 1
    assert counts["retire"] > 100


def test_files_and_copies_made_in_mid_game_are_whole(tmp_path: Path) -> None:
    bandit = Bandit(OCUCBn(), arms=5, seed=1)
    over = threading.Event()
    seen: list[list[int]] = []

    def player(luck: random.Random) -> None:
        for _ in range(1500):
            bandit.learn(bandit.choose(), 1.0)

    def players(luck: random.Random) -> None:
        try:
            together(*[player] * 4)
        finally:
            over.set()

    def keeper(path: Path) -> Work:
        def work(luck: random.Random) -> None:
            rounds = [0]
            last = False
            while not last:
                last = over.is_set()
                bandit.save(path)
                for twin in (Bandit.load(path), pickle.loads(pickle.dumps(bandit))):
                    data = twin.to_dict()
                    assert data["totals"] == data["learned"]
                    assert twin.rounds == sum(data["pulls"])
                    assert twin.pending.sum() <= 4
                    rounds.append(twin.rounds)
            seen.append(rounds)

        return work

    together(players, keeper(tmp_path / "one.json"), keeper(tmp_path / "two.json"), keeper(tmp_path / "one.json"))
    assert bandit.rounds == 6000
    assert bandit.pending.sum() == 0
    assert sorted(found.name for found in tmp_path.iterdir()) == ["one.json", "two.json"]
    assert len(seen) == 3
    assert all(json.loads(found.read_text())["seed"] == 1 for found in tmp_path.iterdir())
    for rounds in seen:
        copies = [0, *rounds[2::2]]  # those by pickle; another keeper may have saved an earlier state to the file
        assert all(earlier <= later for earlier, later in pairwise(copies))


def test_merges_in_both_directions_do_not_lock_each_other_out() -> None:
    """Bandits never pulled, so that nothing grows: only the locks are tried."""
    left, right = (Bandit(OCUCBn(), range(first, first + 300), seed=0) for first in (0, 200))

    def merge(into: Bandit, other: Bandit) -> Work:
        def work(luck: random.Random) -> None:
            for _ in range(150):
                into.merge(other)
                into.peek()

        return work

    together(*[merge(left, right), merge(right, left)] * 3)
    assert set(left.arms) == set(right.arms) == set(range(500))
    assert left.rounds == right.rounds == 0


def test_merges_around_a_ring_do_not_lock_each_other_out() -> None:
    ring = [Bandit(OCUCBn(), arms=50) for _ in range(3)]

    def merge(into: Bandit, other: Bandit) -> Work:
        def work(luck: random.Random) -> None:
            for _ in range(300):
                into.merge(other)

        return work

    together(*[merge(ring[place], ring[place - 1]) for place in range(3)] * 2)
    assert [bandit.rounds for bandit in ring] == [0, 0, 0]


def test_workers_merged_into_one_while_it_plays_are_all_counted() -> None:
    total = Bandit(OCUCBn(), arms=["shared"])

    def worker(number: int) -> Work:
        def work(luck: random.Random) -> None:
            for _ in range(60):
                mine = Bandit(OCUCBn(), arms=["shared", number], seed=0)
                for _ in range(5):
                    mine.learn(mine.choose(), 1.0)
                total.merge(mine)
                total.learn(total.choose(), 1.0)

        return work

    together(*map(worker, range(THREADS)))
    assert total.rounds == total.pulls.sum() == THREADS * 60 * 6
    assert total.pending.sum() == 0
    assert set(total.arms) == {"shared", *range(THREADS)}
    assert total.means.tolist() == [1.0] * (THREADS + 1)


def test_a_horizon_is_shared_to_the_last_round() -> None:
    bandit = Bandit(MOSS(1000), arms=4)
    played = [0] * THREADS

    def worker(number: int) -> Work:
        def work(luck: random.Random) -> None:
            for _ in range(1000):
                try:
                    bandit.learn(bandit.choose(), 1.0)
                except HorizonError:
                    return
                played[number] += 1

        return work

    together(*map(worker, range(THREADS)))
    assert sum(played) == bandit.rounds == 1000


class Watched:
    """A lock that knows how often it is held, and was."""

    def __init__(self) -> None:
        self.lock = threading.RLock()
        self.held = self.times = 0

    def __enter__(self) -> None:
        self.lock.acquire()
        self.held += 1
        self.times += 1

    def __exit__(self, *problem: object) -> None:
        self.held -= 1
        self.lock.release()


class Guarded:
    """Stands before a selector and lets nobody through without the lock."""

    def __init__(self, inner: Any, lock: Watched) -> None:
        self.inner, self.lock = inner, lock

    def __getattr__(self, name: str) -> Any:
        assert self.lock.held, f"{name} without the lock"
        return getattr(self.inner, name)


ACTS: dict[str, Callable[[Bandit], object]] = {
    "choose": lambda bandit: bandit.choose(),
    "peek": lambda bandit: bandit.peek(),
    "learn": lambda bandit: bandit.learn(0, 1.0),
    "forget": lambda bandit: bandit.forget(0),
    "learn_many": lambda bandit: bandit.learn_many([0, 1], [1.0, 1.0]),
    "revise": lambda bandit: bandit.revise(0, 1, 1.0),
    "learned": lambda bandit: bandit.learned(0),
    "add_arm": lambda bandit: bandit.add_arm("new"),
    "bring back": lambda bandit: bandit.add_arm(3),
    "retire_arm": lambda bandit: bandit.retire_arm(1),
    "learn for a retired arm": lambda bandit: bandit.learn(3, 1.0),
    "count_pull": lambda bandit: bandit.count_pull(1),
    "decide": lambda bandit: bandit.decide(),
    "retired_arms": lambda bandit: bandit.retired_arms,
    "is_retired": lambda bandit: bandit.is_retired(3),
    "in": lambda bandit: 3 in bandit,
    "statistics": lambda bandit: bandit.statistics(retired=True),
    "merge": lambda bandit: bandit.merge(Bandit(OCUCBn(), [0, "theirs"])),
    "be merged": lambda bandit: Bandit(OCUCBn(), 2).merge(bandit),
    "arms": lambda bandit: bandit.arms,
    "rounds": lambda bandit: bandit.rounds,
    "pulls": lambda bandit: bandit.pulls,
    "pending": lambda bandit: bandit.pending,
    "means": lambda bandit: bandit.means,
    "indices": lambda bandit: bandit.indices(),
    "effective_arms": lambda bandit: bandit.effective_arms(),
    "explain": lambda bandit: bandit.explain(0),
    "to_dict": lambda bandit: bandit.to_dict(),
    "copy": copy.copy,
    "repr": repr,
}


@pytest.mark.parametrize("act", ACTS)
@pytest.mark.parametrize("policy", [OCUCBn(), UCB()], ids=lambda policy: policy.name)
def test_whatever_touches_the_state_holds_the_lock(policy: Policy, act: str) -> None:
    """A race of nanoseconds may not show in any number of runs; this does."""
    bandit = Bandit(policy, arms=4)
    bandit.learn_many(range(4), [1.0] * 4)
    while not bandit.explain(0).pending:
        bandit.choose()
    bandit.retire_arm(3)
    inside: Any = bandit
    lock = Watched()
    inside._lock, inside._selector = lock, Guarded(inside._selector, lock)
    ACTS[act](bandit)
    assert lock.times > 0
    assert lock.held == 0


# The harness itself


def test_what_a_thread_raises_is_raised_here() -> None:
    def work(luck: random.Random) -> None:
        raise ArmError("from a thread")

    with pytest.raises(ArmError, match="from a thread"):
        together(work, lambda luck: None)


def test_threads_that_are_stuck_are_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(globals(), "PATIENCE", 0.2)
    free = threading.Event()

    def stuck(luck: random.Random) -> None:
        free.wait(PATIENCE * 100)

    with pytest.raises(AssertionError, match="stuck"):
        together(lambda luck: None, stuck)
    free.set()
