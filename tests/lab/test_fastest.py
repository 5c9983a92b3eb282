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
fastest.LARGE = 100
for shard in (
    Shard(worst_case(3, 0.5), OCUCBn(), 20, (10, 20), seed=3, first=0, runs=5),  # large
    Shard(worst_case(3, 0.5), OCUCBn(), 20, (10, 20), seed=3, first=0, runs=4),
    Shard(worst_case(3, 0.5), OCUCBn(), 20, (20,), seed=3, first=0, runs=5, trace=20),  # large, but has choices
):
    ours, theirs = fastest.play_where_fastest(shard), play(shard)
    assert np.array_equal(ours.regret, theirs.regret) and np.array_equal(ours.pulls, theirs.pulls)
print(fastest.has_gpu(), [shard.runs for shard in launched])
"""


def test_only_a_large_shard_that_is_fit_goes_to_the_gpu() -> None:
    given = {**os.environ, "NUMBA_ENABLE_CUDASIM": "1"}
    done = subprocess.run([sys.executable, "-c", ON_A_GPU], env=given, capture_output=True, text=True, check=True)
    assert done.stdout.split("\n")[-2] == "True [5]"


def test_without_a_gpu_a_large_shard_is_played_all_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    shard = Shard(worst_case(3, 0.5), OCUCBn(), 20, (20,), seed=3, first=0, runs=5)
    monkeypatch.setattr(fastest, "LARGE", 1)
    assert np.array_equal(fastest.play_where_fastest(shard).pulls, play(shard).pulls)
