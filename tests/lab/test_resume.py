"""Resuming: a study may be killed at any moment, and the same command finishes the rest, to the same bits."""

from __future__ import annotations

import multiprocessing
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import pytest
import xarray as xr

from lab.small_study import assert_same, chunks, missing, play_study, small
from ocucb import MOSS, OCUCBn
from ocucb.lab.experiment import Experiment
from ocucb.lab.problem import worst_case
from ocucb.lab.simulation import simulate
from ocucb.lab.store import ResultStore

STUDY = """
import signal, sys
from pathlib import Path
from ocucb.lab import Experiment, simulate

signal.signal(signal.SIGINT, signal.default_int_handler)  # which a shell may have switched off
experiment = Experiment.from_toml(Path(sys.argv[1]).read_text())
print("ready", flush=True)
simulate(experiment, folder=sys.argv[2], progress=lambda event: print(event.runs_done, flush=True))
"""


PATIENCE = 600.0  # seconds: a busy machine is no fault of a study

# Long enough that no machine is done before it is stopped.
LONG = small(horizon=2000)


@contextmanager
def study(folder: Path) -> Iterator[subprocess.Popen[str]]:
    """Start a study in a process of its own; yield it when it is about to begin."""
    (folder / "study.toml").write_text(LONG.to_toml())
    command = [sys.executable, "-c", STUDY, str(folder / "study.toml"), str(folder / "store")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            assert process.stdout.readline() == "ready\n"
            yield process
        finally:
            process.kill()


@pytest.fixture(scope="module")
def expected() -> xr.Dataset:
    return simulate(LONG).dataset


def test_killed_again_and_again(expected: xr.Dataset, tmp_path: Path) -> None:
    chance = random.Random(2016)
    kept = []
    copying = multiprocessing.get_context("forkserver")  # copies of a process that has imported what takes longest
    copying.set_forkserver_preload(["ocucb.lab.simulation", "ocucb.lab.store"])
    for kill in range(5):
        heard, told = copying.Pipe(duplex=False)
        process = copying.Process(target=play_study, args=(LONG.to_toml(), tmp_path / "store", told))
        process.start()
        told.close()
        with heard:
            assert heard.recv() == "ready"
            for _ in range(kill % 3):  # none at first: killed while the store is being made
                heard.recv()
            time.sleep(chance.uniform(0.0, 0.03))
            process.kill()
            process.join()
        assert process.exitcode == -signal.SIGKILL
        kept.append(len(chunks(tmp_path / "store")))
    assert kept == sorted(kept)
    assert 0 < kept[-1] < 36  # chunks: two for each of 18 shards
    with study(tmp_path) as last:
        _, errors = last.communicate(timeout=PATIENCE)
    assert (last.returncode, errors) == (0, "")
    assert_same(ResultStore.open(tmp_path / "store").dataset(), expected)


def test_interrupt_leaves_a_store_to_go_on_with(expected: xr.Dataset, tmp_path: Path) -> None:
    with study(tmp_path) as process:
        assert process.stdout is not None
        process.stdout.readline()
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=PATIENCE)
    assert "KeyboardInterrupt" in errors
    assert process.returncode == -signal.SIGINT
    assert 0 < len(missing(ResultStore.open(tmp_path / "store"))) < 18
    assert_same(simulate(LONG, folder=tmp_path / "store").dataset, expected)


class Killed(BaseException):
    """No handler of errors shall tidy up after it."""


def test_killed_at_every_write(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    policies = (("n", OCUCBn()), ("m", MOSS(100)))
    experiment = Experiment((worst_case(3),), policies, 100, runs=300)
    expected = simulate(experiment).dataset
    replace, writes = Path.replace, 0

    def count(draft: Path, place: Path) -> Path:
        nonlocal writes
        writes -= 1
        if writes == 0:
            raise Killed
        return replace(draft, place)

    monkeypatch.setattr(Path, "replace", count)
    last = 0
    with ThreadPoolExecutor(1) as pool:
        for last in range(1, 100):
            store, writes = tmp_path / str(last), last
            try:
                simulate(experiment, pool, store)
            except Killed:
                assert list(store.rglob("*.partial"))
                assert_same(simulate(experiment, pool, store).dataset, expected)
            else:
                break
    assert last > 2 * 4 + 5  # two chunks for each of four shards, and five arrays


def test_torn_chunks_are_played_again(expected: xr.Dataset, tmp_path: Path) -> None:
    simulate(LONG, folder=tmp_path)
    torn = random.Random(2016).sample(chunks(tmp_path), 6)
    for i, chunk in enumerate(torn):
        content = bytearray(chunk.read_bytes())
        content[len(content) // 3] ^= 0x04
        chunk.write_bytes(bytes([b"", content[: len(content) // 2], content][i % 3]))
    assert_same(simulate(LONG, folder=tmp_path).dataset, expected)
    assert missing(ResultStore.open(tmp_path)) == []
