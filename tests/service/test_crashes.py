"""Processes killed, and the database restarted under them: nothing acknowledged is lost, nothing counts twice."""

from __future__ import annotations

import multiprocessing
import time
from collections.abc import Callable, Iterator
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import NamedTuple

import pytest

from ocucb.service.ids import parse_id
from ocucb.service.records import DECISION, REWARD, Entry
from ocucb.service.replies import View
from ocucb.service.requests import Decide, Inspect
from service.helpers import Node, folded_state, live_state, wait_until
from service.load import EXPERIMENT, Noted, be_node, kill_often, prepare, read
from service.postgresql import PostgreSQL

# Copies of a process that has imported what takes longest; this one has threads, and is not to be copied.
COPYING = multiprocessing.get_context("forkserver")
COPYING.set_forkserver_preload(["ocucb.service.callers", "ocucb.service.engine", "ocucb.service.stores"])


class Running(NamedTuple):
    """A node under way: it ends when the connection is closed."""

    process: BaseProcess
    end: Connection


def settled(node: Node) -> tuple[list[Entry], View]:
    """Return the log and its state, once both are of one moment: a node that starts closes what is due."""
    sweeps = node.engine._housekeeping
    wait_until(lambda: sweeps.prune_at > 0.0 and not sweeps._under_way, "what is due is closed")
    while True:
        log, view = node.log(EXPERIMENT), node.ask(Inspect(EXPERIMENT))
        if view.seq == len(log):
            return log, view


def check(address: str, noted: Noted) -> None:
    """Hold the log against what callers were told."""
    node = Node(address)
    try:
        # Those who were not told ask again, and again: a decision that was stored is found, one that was not is made.
        for key in sorted(set(noted.asked) - set(noted.decided))[:50]:
            first, second = (node.decide(EXPERIMENT, idempotency_key=key, unit=noted.asked[key]) for _ in range(2))
            assert first.id == second.id
        log, view = settled(node)
        assert [entry.seq for entry in log] == list(range(1, len(log) + 1))
        decisions = {entry.seq: entry for entry in log if entry.kind == DECISION}
        for key, decision in noted.decided.items():
            parts = parse_id(decision)
            assert parts is not None, key
            assert decisions[parts.seq].token == parts.token, key
        outcomes = [entry.decision for entry in log if entry.decision is not None]
        assert len(set(outcomes)) == len(outcomes)
        rewards = {entry.decision: entry.reward for entry in log if entry.kind == REWARD}
        for decision, value in noted.rewarded.items():
            parts = parse_id(decision)
            assert parts is not None
            assert rewards[parts.seq] == value
        replayed = node.replay(EXPERIMENT)
        assert replayed.problem is None
        assert replayed.decisions == len(decisions) >= len(set(noted.decided.values()))
        forgotten = sum(entry.kind == "forgotten" for entry in log)
        assert sum(view.pulls) == len(decisions) - forgotten
        state = live_state(node, EXPERIMENT)
        assert state == folded_state(node.store, EXPERIMENT) == folded_state(node.store, EXPERIMENT, snapshots=True)
    finally:
        node.close()


def test_killed_twenty_times(address: str, tmp_path: Path) -> None:
    process = COPYING.Process(target=kill_often, args=(address, 20, tmp_path / "told"))
    process.start()
    process.join(300)
    assert process.exitcode == 0
    noted = read((tmp_path / "told").read_text(encoding="utf-8"))
    lives = {key.split(".")[0] for key in noted.decided}
    assert len(lives) == 20
    assert noted.rewarded
    check(address, noted)


@pytest.fixture
def nodes(postgresql: str) -> Iterator[Callable[[str, Path], Running]]:
    """Start nodes as processes; whatever is left of them at the end is killed."""
    running: list[Running] = []

    def launch(name: str, output: Path) -> Running:
        output.touch()  # so that it can be read at once
        ending, end = COPYING.Pipe(duplex=False)
        with ending:
            running.append(Running(COPYING.Process(target=be_node, args=(postgresql, name, output, ending)), end))
            running[-1].process.start()
        return running[-1]

    yield launch
    for process, end in running:
        end.close()
        process.kill()
        process.join()


def wait_for_lines(output: Path, more: int) -> None:
    """Wait until a node has told its callers something more."""
    goal, end = output.read_bytes().count(b"\n") + more, time.monotonic() + 60.0
    while output.read_bytes().count(b"\n") < goal:
        assert time.monotonic() < end, f"{output.name} does not go on"
        time.sleep(0.02)


def test_three_nodes_one_killed_the_database_restarted(
    postgres: PostgreSQL, postgresql: str, nodes: Callable[[str, Path], Running], tmp_path: Path
) -> None:
    prepare(postgresql)
    outputs = [tmp_path / name for name in ("a", "b", "c", "c again")]
    running = [nodes(output.name, output) for output in outputs[:3]]
    for output in outputs[:3]:
        wait_for_lines(output, 30)
    running[2].process.kill()
    restarted = nodes("c again", outputs[3])
    for output in (outputs[0], outputs[1], outputs[3]):
        wait_for_lines(output, 30)
    postgres.stop()
    time.sleep(0.2)
    postgres.start()
    alive = [(running[0], outputs[0]), (running[1], outputs[1]), (restarted, outputs[3])]
    for _, output in alive:
        wait_for_lines(output, 30)
    for node, _ in alive:
        node.end.close()
    for node, output in alive:
        node.process.join(60)
        assert node.process.exitcode == 0, output.name
    noted = read("\n".join(output.read_text() for output in outputs))
    assert len({key.split(".")[0] for key in noted.decided}) == 4
    check(postgresql, noted)


def test_nodes_agree_when_it_is_quiet(postgresql: str) -> None:
    """What one node has written the others know when next asked, without anybody being told."""
    nodes = [Node(postgresql) for _ in range(3)]
    try:
        nodes[0].create()
        for number in range(30):
            nodes[number % 3].ask(Decide("colours", count=2))
        views = [node.ask(Inspect("colours")) for node in nodes]
        assert [view.pulls for view in views] == [views[0].pulls] * 3
        assert sum(views[0].pulls) == 60
    finally:
        for node in nodes:
            node.close()
