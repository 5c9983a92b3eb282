"""One shard, played where that is fastest: a large one on this machine's GPU, if it has one; the pulls are the same."""

from __future__ import annotations

import functools
import importlib
import importlib.util

from ocucb.errors import ParameterError
from ocucb.lab.shard import Outcome, Shard, play

LARGE = 3 * 10**8  # rounds: what a core plays in some seconds, about as long as code for a GPU takes to be made


def play_where_fastest(shard: Shard) -> Outcome:
    """Play a shard on the GPU if it is large and fit for it, else on the CPU."""
    if shard.runs * shard.horizon >= LARGE and has_gpu():
        gpu_shards = importlib.import_module("ocucb.lab.gpu_shards")
        if gpu_shards.unfit(shard) is None:
            outcome: Outcome = gpu_shards.play_together([shard])[0]
            return outcome
    return play(shard)


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
