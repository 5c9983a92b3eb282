"""Compiles what most tests call, into the cache that they share.

Tests run in several processes. On a fresh clone each of them would compile the same kernels at the same time; so this
is done once, before they start.
"""

from __future__ import annotations

import os
import warnings
from pathlib import Path

import numpy as np

import compiled_by_command
import conftest  # noqa: F401  # says where the cache is
from ocucb import GuaranteeWarning
from ocucb.lab.problem import Problem
from ocucb.lab.shard import Shard, play
from ocucb.precompile import compile_bandits
from samples import NOISE_SAMPLES, POLICY_SAMPLES, VARIANCE_SAMPLES, suits

ROUNDS = 12


def main() -> None:
    """Run the command that compiles; then play every policy under every noise, for a moment."""
    compiled_by_command.fill(Path(os.environ["NUMBA_CACHE_DIR"]))
    warnings.simplefilter("ignore", GuaranteeWarning)
    policies = [*POLICY_SAMPLES, *VARIANCE_SAMPLES]
    for _ in compile_bandits(policies, NOISE_SAMPLES):
        pass
    for noise in NOISE_SAMPLES:
        low, high = max(noise.support()[0], 0.0), min(noise.support()[1], 1.0)
        means = tuple(np.linspace(low + 0.6 * (high - low), low + 0.3 * (high - low), 3).tolist())
        for policy in (one for one in policies if suits(one, noise)):
            play(Shard(Problem(means, noise), policy, ROUNDS, (ROUNDS,), seed=0, first=0, runs=1, trace=ROUNDS))


if __name__ == "__main__":
    main()
