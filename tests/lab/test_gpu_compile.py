"""What compiled code for a GPU is known by, so that it can be kept; on a GPU (OCUCB_TEST_GPU=1) that it is."""

from __future__ import annotations

import math
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from ocucb import Bernoulli, Gaussian, LevelPolicy, Noise, OCUCBn, Policy
from ocucb.compiled import LevelFunction, Parameters
from ocucb.lab.gpu_episode import key_of
from ocucb.lab.gpu_shards import kind_of
from ocucb.lab.problem import Problem
from ocucb.lab.shard import Shard
from ocucb.policies import UCB, ThompsonSampling

ON_GPU = os.environ.get("OCUCB_TEST_GPU") == "1"

PRINT_KEY = """
from ocucb import OCUCBn
from ocucb.lab.gpu_episode import key_of
from ocucb.lab.gpu_shards import kind_of
from ocucb.lab.problem import worst_case
from ocucb.lab.shard import Shard
print(key_of(kind_of(Shard(worst_case(10, 0.3), OCUCBn(), 100, (100,), seed=1, first=0, runs=1))))
"""

COMPILE_THREE = """
import sys, warnings
warnings.simplefilter("ignore")
from ocucb import OCUCBn
from ocucb.compiled.cache import CACHE_USE
from ocucb.lab.gpu_shards import play_together
from ocucb.lab.problem import worst_case
from ocucb.lab.shard import Shard
from ocucb.policies import UCB, MOSSAnytime
policies = OCUCBn(), UCB(), MOSSAnytime()
outcomes = play_together([Shard(worst_case(10, 0.3), one, 100, (100,), seed=1, first=0, runs=32) for one in policies])
compiled = sum(count for folder, count in CACHE_USE.saved.items() if folder.name.startswith("lab"))
print(compiled, [int(one.pulls[:, 0].sum()) for one in outcomes])
"""


def key(policy: Policy, noise: Noise = Gaussian(), arms: int = 10, horizon: int = 100) -> str | None:  # noqa: B008
    """Return the key of what plays a policy."""
    means = tuple(np.linspace(0.6, 0.3, arms).tolist())
    return key_of(kind_of(Shard(Problem(means, noise), policy, horizon, (horizon,), seed=1, first=0, runs=1)))


def own_level(t: float, pulls: float, effective: float, arms: float, parameters: Parameters) -> float:
    """Return a level that stands in a file."""
    return parameters[0] * math.log(t)


def test_another_process_finds_the_same_key() -> None:
    keys = {subprocess.run([sys.executable, "-c", PRINT_KEY], capture_output=True, check=True).stdout for _ in range(2)}
    assert len(keys) == 1
    assert len(keys.pop().strip()) == 64


def test_what_has_other_code_has_another_key() -> None:
    keys = [
        key(OCUCBn()), key(UCB()), key(ThompsonSampling()), key(OCUCBn(rho=1.0)), key(OCUCBn(), Bernoulli()),
        key(OCUCBn(), arms=11), key(OCUCBn(), arms=100), key(OCUCBn(), horizon=10**6),
        key(LevelPolicy("own", own_level, {"strength": 2.0}, trend="rises")),
    ]  # fmt: skip
    assert None not in keys
    assert len(set(keys)) == len(keys)


def test_what_has_other_numbers_only_has_the_same_key() -> None:
    assert key(OCUCBn(eta=1.1)) == key(OCUCBn(eta=2.0), Gaussian(0.5), horizon=200)


def test_a_level_that_another_process_could_not_find_has_no_key() -> None:
    def inner(t: float, pulls: float, effective: float, arms: float, parameters: Parameters) -> float:
        return parameters[0] * math.log(t)

    typed: dict[str, LevelFunction] = {}
    exec("def typed(t, pulls, effective, arms, parameters):\n    return parameters[0] * t", typed)
    for level in (inner, typed["typed"]):
        assert key(LevelPolicy("own", level, {"strength": 2.0}, trend="rises")) is None


@pytest.mark.skipif(not ON_GPU, reason="needs a GPU")
def test_other_processes_compile_and_the_next_one_compiles_nothing(tmp_path: Path) -> None:
    def run() -> str:
        command, given = [sys.executable, "-c", COMPILE_THREE], {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}
        return subprocess.run(command, capture_output=True, check=True, env=given, text=True).stdout

    first = run()
    assert first.startswith("0 ")  # this process has compiled nothing itself
    assert len(list(tmp_path.rglob("*episode-*.nbi"))) == len(list(tmp_path.rglob("*episode-*.nbc"))) == 3
    assert run() == first
