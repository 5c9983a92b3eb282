"""The GPU's episode against the CPU's, on CUDA's simulator unless OCUCB_TEST_GPU=1: the same pulls and regrets.

The simulator is switched on when Numba is imported, so everything runs in another process.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import CancelledError
from pathlib import Path

import pytest

from ocucb import KLUCBSwitch, LevelPolicy, OCUCBn
from ocucb.compiled import Parameters
from ocucb.errors import ParameterError
from ocucb.lab.gpu_shards import shape_of
from ocucb.lab.problem import worst_case
from ocucb.lab.runners import cuda as runner
from ocucb.lab.runners import open_executor
from ocucb.lab.shard import Shard, play

ROOT = Path(__file__).parent.parent.parent
ON_GPU = os.environ.get("OCUCB_TEST_GPU") == "1"
PARTS = (
    6 if ON_GPU else 1
)  # code for a GPU takes seconds to make, for each policy and family: in parts beside each other

# The simulator asks all the time whether a lane, which is a thread, waits or has ended: that takes as long as what the
# lanes do. Here lanes wait for each other, and it for them.
QUIET = """
import threading
from numba.cuda.simulator import kernel as simulator

class Lane(simulator.BlockThread):
    def is_alive(self):
        self.join(0.05)
        return super().is_alive()

    def syncthreads(self):
        lanes = threading.Barrier(self._manager._block_dim[0])
        self._manager.__dict__.setdefault("barrier", lanes).wait(60)  # one that does not come is a fault

simulator.BlockThread = Lane
"""

COMPARE = """
import json, sys, warnings
warnings.simplefilter("ignore")
import numpy as np
from ocucb import Bernoulli, Bounded, Gaussian, GaussianUnknownScale, LevelPolicy, OCUCBn, ThompsonSampling
from ocucb.policies import BayesUCB
from ocucb.lab.gpu_shards import play_together, unfit
from ocucb.lab.problem import Problem, worst_case
from ocucb.lab.shard import Shard, play
from samples import NOISE_SAMPLES, POLICY_SAMPLES, VARIANCE_SAMPLES, with_horizon

def own(t, pulls, effective, arms, parameters):
    return parameters[0] * np.log(t)

def problem(noise, arms):
    low, high = max(noise.support()[0], 0.0), min(noise.support()[1], 1.0)
    return Problem(tuple(np.linspace(low + 0.6 * (high - low), low + 0.3 * (high - low), arms).tolist()), noise)

kinds = {
    "policies": [(policy, Gaussian(0.5)) for policy in POLICY_SAMPLES],
    "noises": [(POLICY_SAMPLES[0], noise) for noise in NOISE_SAMPLES],
    "spreads": [
        *((policy, noise) for policy in VARIANCE_SAMPLES for noise in (Bernoulli(), Bounded(-1.0, 2.0))),
        *((policy, GaussianUnknownScale()) for policy in (OCUCBn(), BayesUCB(), ThompsonSampling())),
    ],
    "own": [(LevelPolicy("own", own, {"strength": 2.0}, trend="rises"), Gaussian())],
}[sys.argv[1]][int(sys.argv[2]) :: int(sys.argv[3])]
wrong = []
for policy, noise in kinds:
    policy = with_horizon(policy, 60)
    shards = [Shard(problem(noise, 3), policy, 60, (2, 25, 60), seed, 5, 2) for seed in (1, 2)]
    if policy == POLICY_SAMPLES[0]:  # code is made anew for each number of arms, which takes long on a GPU
        shards.append(Shard(problem(noise, 4), policy, 30, (30,), 3, 0, 1))
    assert all(unfit(shard) is None for shard in shards)
    for ours, theirs in zip(play_together(shards), map(play, shards), strict=True):
        if not all(np.array_equal(one, other) for one, other in zip(ours, theirs, strict=True)):
            wrong.append(f"{policy} {noise}")
print(json.dumps(wrong))
"""

LANES = """
import json, sys, warnings
warnings.simplefilter("ignore")
import numpy as np
from ocucb import Bernoulli, Gaussian, MOSS, OCUCBn, ThompsonSampling
from ocucb.policies import UCBV
from ocucb.lab import gpu_index, gpu_shards
from ocucb.lab.problem import Problem
from ocucb.lab.shard import Shard, play

# Lanes, slots, span_shift, rough, patient, width, batches, threads, shared, registers.
cases = [
    (OCUCBn(), Gaussian(), (4, 2, 0, False, False, 1, 2, 128, False, 64)),
    (OCUCBn(), Gaussian(), (2, 3, 0, True, True, 1, 2, 128, False, 64)),
    (OCUCBn(), Gaussian(), (4, 2, 3, True, True, 1, 2, 128, True, 64)),
    (OCUCBn(rho=1.0), Gaussian(), (2, 3, 4, True, False, 2, 1, 128, False, 64)),
    (OCUCBn(rho=1.0), Bernoulli(), (2, 3, 4, False, False, 2, 1, 128, False, 64)),
    (MOSS(40), Bernoulli(), (2, 3, 4, False, True, 1, 2, 128, False, 64)),
    (ThompsonSampling(), Gaussian(), (2, 3, 0, True, False, 1, 1, 128, False, 64)),
    (UCBV(), Bernoulli(), (2, 3, 0, False, False, 1, 1, 128, False, 64)),
]
cases = [(*case, gpu_index.ROUGH_LEVEL_MARGIN) for case in cases]
cases.append((*cases[2][:2], (*cases[2][2][:-1], 65), 0.5))  # no estimate decides; other registers, so code of its own
wrong = []
for policy, noise, shape, margin in cases:
    gpu_shards.shape_of = lambda shard: gpu_shards.Shape(*shape)
    gpu_index.ROUGH_LEVEL_MARGIN = margin
    shard = Shard(Problem((0.6, 0.5, 0.5, 0.4, 0.3), noise), policy, 40, (3, 40), 7, 4, 1)
    [ours], theirs = gpu_shards.play_together([shard]), play(shard)
    if not all(np.array_equal(one, other) for one, other in zip(ours, theirs, strict=True)):
        wrong.append(f"{policy} {noise} {shape}")
print(json.dumps(wrong))
"""

STUDY = """
import json, tempfile
import numpy as np
from ocucb import OCUCBn, UCB
from ocucb.lab import Experiment, simulate, worst_case
experiment = Experiment((worst_case(3, 0.5),), (("a", OCUCBn()), ("b", UCB())), horizon=30, runs=4, seed=1)
with tempfile.TemporaryDirectory() as folder:
    ours = simulate(experiment, "cuda", folder)
    again = simulate(experiment, "threads:1", folder)
theirs = simulate(experiment, "threads:1")
same = [np.array_equal(ours.dataset[name], theirs.dataset[name]) for name in ("regret", "pulls")]
print(json.dumps(same + [bool(np.array_equal(again.dataset["pulls"], ours.dataset["pulls"]))]))
"""


def run(code: str, *arguments: str) -> object:
    path = os.pathsep.join([str(ROOT / "src"), str(ROOT / "tests"), os.environ.get("PYTHONPATH", "")])
    environment = {**os.environ, "PYTHONPATH": path}
    if not ON_GPU:
        environment["NUMBA_ENABLE_CUDASIM"] = "1"
        code = QUIET + code
    done = subprocess.run(
        [sys.executable, "-c", code, *arguments], env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return json.loads(done.stdout)


@pytest.mark.parametrize("part", range(PARTS))
@pytest.mark.parametrize("kinds", ["policies", "noises", "spreads", "own"])
def test_pulls_and_regrets_are_those_of_the_cpu(kinds: str, part: int) -> None:
    assert run(COMPARE, kinds, str(part), str(PARTS)) == []


def test_lanes_that_share_the_arms_of_a_run_choose_as_the_cpu_does() -> None:
    assert run(LANES) == []


def sign_by_time(t: float, pulls: float, effective: float, arms: float, parameters: Parameters) -> float:
    return 1.0 if t > arms * pulls**2 else -1.0


def test_no_bound_is_kept_where_an_index_jumps_with_time() -> None:
    jumping = LevelPolicy("sign by time", sign_by_time, trend="rises", bound="switch")
    shards = [Shard(worst_case(100, 0.5), policy, 900, (900,), 1, 0, 1) for policy in (KLUCBSwitch(900), jumping)]
    assert [shape_of(shard).span_shift > 0 for shard in shards] == [True, False]


def test_a_study_on_the_gpu_is_that_of_the_cpu_and_goes_on_there() -> None:
    assert run(STUDY) == [True, True, True]


def test_outcomes_come_launch_by_launch_and_none_follows_a_stop(monkeypatch: pytest.MonkeyPatch) -> None:
    first_seen, stopped, launched = threading.Event(), threading.Event(), []
    shards = [Shard(worst_case(2, 0.5), OCUCBn(), 10, (10,), seed, 0, 1) for seed in range(3)]
    all_submitted = threading.Event()

    def launches(given: list[Shard]) -> Iterator[list[tuple[int, str]]]:
        for place, shard in enumerate(given):
            launched.append(shard.seed)
            yield [(place, f"outcome {shard.seed}")]
            assert first_seen.wait(60)
            assert stopped.wait(60)

    def fit(shard: Shard) -> None:
        assert all_submitted.wait(60)  # so that all are taken together

    monkeypatch.setattr(runner, "play_in_launches", launches)
    monkeypatch.setattr(runner, "unfit", fit)
    executor = runner.CudaExecutor()
    futures = [executor.submit(play, shard) for shard in shards]
    all_submitted.set()
    assert str(futures[0].result(60)) == "outcome 0"
    first_seen.set()
    executor.shutdown(wait=False, cancel_futures=True)
    stopped.set()
    executor.shutdown()
    assert launched in ([0], [0, 1])  # one that had begun is finished
    with pytest.raises(CancelledError):
        futures[2].result(60)


@pytest.mark.skipif(ON_GPU, reason="there is a GPU")
def test_without_a_gpu_there_is_one_clear_line() -> None:
    with pytest.raises(ParameterError, match=r"^cuda needs [^\n]+$"), open_executor("cuda"):
        pass
