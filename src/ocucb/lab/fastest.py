"""One shard, played where that is fastest: a large one on this machine's GPU, if it has one; the pulls are the same.

A GPU is fast by playing many runs at once. A round of one run takes it some 0.4 µs with few arms and 2 µs with more, a
core some 10 ns; so how many runs there are decides, and how many rounds. Where indices of many arms cannot be estimated
in single precision a round takes a GPU up to a hundred times longer, and a core plays the shard sooner.
"""

from __future__ import annotations

import functools
import importlib
import importlib.util
from typing import Any

from ocucb.errors import ParameterError
from ocucb.lab.shard import Shard, ShardResult, play

LARGE = 3 * 10**8  # rounds: what a core plays in some seconds, about as long as code for a GPU takes to be made
ENOUGH_RUNS = 100  # with a lane for each, from which a GPU is faster than a core by twice or more
ENOUGH_RUNS_OF_GROUPS = 300  # where some lanes play each


def play_where_fastest(shard: Shard) -> ShardResult:
    """Play a shard on the GPU if it is large, fit for it and faster there, else on the CPU."""
    if shard.runs * shard.horizon >= LARGE and has_gpu():
        gpu_shards = importlib.import_module("ocucb.lab.gpu_shards")
        if gpu_shards.unfit(shard) is None and _has_enough_runs(shard, gpu_shards.shape_of(shard)):
            outcome: ShardResult = gpu_shards.play_together([shard])[0]
            return outcome
    return play(shard)


def _has_enough_runs(shard: Shard, shape: Any) -> bool:
    """Return whether a GPU plays all runs at once sooner than a core plays them in turn."""
    if shape.lanes == 1:
        return shard.runs >= ENOUGH_RUNS
    return bool(shape.rough) and shard.runs >= ENOUGH_RUNS_OF_GROUPS


@functools.cache
def has_gpu() -> bool:
    """Return whether this machine has a GPU, and what is needed to use it."""
    if importlib.util.find_spec("numba_cuda") is None:
        return False
    try:
        importlib.import_module("ocucb.compiled.cuda").check_gpu()
    except ParameterError:
        return False
    return True
