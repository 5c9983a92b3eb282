"""A shard is played where that is fastest. CUDA's simulator stands for the GPU, in a process of its own."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest

from ocucb import OCUCBn
from ocucb.lab import fastest
from ocucb.lab.problem import worst_case
from ocucb.lab.shard import Shard, play

ON_A_GPU = """
import numpy as np
from ocucb import OCUCBn
from ocucb.lab import fastest, gpu_shards
from ocucb.lab.problem import worst_case
from ocucb.lab.shard import Shard, play

launched = []
together = gpu_shards.play_together
gpu_shards.play_together = lambda shards: launched.extend(shards) or together(shards)
fastest.LARGE, fastest.ENOUGH_RUNS = 100, 5
for shard in (
    Shard(worst_case(3, 0.5), OCUCBn(), 20, (10, 20), seed=3, first=0, runs=5),  # large
    Shard(worst_case(3, 0.5), OCUCBn(), 16, (10, 16), seed=3, first=0, runs=6),  # of enough runs, but small
    Shard(worst_case(3, 0.5), OCUCBn(), 50, (20, 50), seed=3, first=0, runs=4),  # large, but of too few runs
    Shard(worst_case(3, 0.5), OCUCBn(), 20, (20,), seed=3, first=0, runs=5, trace=20),  # large, but has choices
):
    ours, theirs = fastest.play_where_fastest(shard), play(shard)
    assert np.array_equal(ours.regret, theirs.regret) and np.array_equal(ours.pulls, theirs.pulls)
print(fastest.has_gpu(), [shard.runs for shard in launched])
"""

SHAPES = """
from ocucb import OCUCBn
from ocucb.lab import fastest, gpu_shards
from ocucb.lab.problem import worst_case
from ocucb.lab.shard import ShardResult, Shard

launched = []
gpu_shards.play_together = lambda shards: launched.extend(shards) or [None]
fastest.play = lambda shard: None
for arms, horizon, runs in (
    (10, 10**7, 150), (10, 10**7, 99), (100, 10**6, 300), (100, 10**6, 299), (100, 2 * 10**7, 300), (4000, 10**7, 400),
):
    shard = Shard(worst_case(arms, 0.5), OCUCBn(), horizon, (horizon,), seed=3, first=0, runs=runs)
    fastest.play_where_fastest(shard)
print([(shard.problem.arms, shard.horizon, shard.runs) for shard in launched])
"""


def last_line_on_a_gpu(script: str) -> str:
    given = {**os.environ, "NUMBA_ENABLE_CUDASIM": "1"}
    done = subprocess.run([sys.executable, "-c", script], env=given, capture_output=True, text=True, check=True)
    return done.stdout.split("\n")[-2]


def test_only_a_large_shard_that_is_fit_goes_to_the_gpu() -> None:
    assert last_line_on_a_gpu(ON_A_GPU) == "True [5]"


def test_few_runs_and_many_arms_without_estimates_are_left_to_the_cpu() -> None:
    """A study of 40 runs with 4,000 arms took a GPU longer than twelve minutes, and a core a minute."""
    assert last_line_on_a_gpu(SHAPES) == "[(10, 10000000, 150), (100, 1000000, 300)]"


def test_without_a_gpu_a_large_shard_is_played_all_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    shard = Shard(worst_case(3, 0.5), OCUCBn(), 20, (20,), seed=3, first=0, runs=5)
    monkeypatch.setattr(fastest, "LARGE", 1)
    assert np.array_equal(fastest.play_where_fastest(shard).pulls, play(shard).pulls)
