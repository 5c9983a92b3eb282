"""Runners: threads, processes, a Dask cluster and a Ray of two workers give the bits that one thread gives."""

from __future__ import annotations

import math
import operator
import os
import secrets
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from typing import Any

import distributed
import numpy as np
import pytest
import ray as _ray
import xarray as xr

from lab.small_study import assert_same, small
from ocucb import UCB, LevelPolicy, OCUCBn, ParameterError
from ocucb.compiled import Parameters
from ocucb.lab.experiment import Experiment
from ocucb.lab.fleet import Fleet
from ocucb.lab.problem import worst_case
from ocucb.lab.runners import cuda_cluster, open_executor
from ocucb.lab.runners.cuda import CudaExecutor
from ocucb.lab.runners.cuda_cluster import CudaClusterExecutor
from ocucb.lab.runners.local import cores
from ocucb.lab.shard import play
from ocucb.lab.simulation import simulate

LocalCluster: Any = distributed.LocalCluster
Client: Any = distributed.Client
ray: Any = _ray


def patient(t: float, pulls: float, effective: float, arms: float, parameters: Parameters) -> float:
    return 2.0 * math.log(t)


@pytest.fixture(scope="module")
def expected() -> xr.Dataset:
    with open_executor("threads:1") as pool:
        return simulate(small(), pool).dataset


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    """Return where a Dask cluster of two worker processes, with simulated GPUs, can be found."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("NUMBA_ENABLE_CUDASIM", "1")
        with LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0") as cluster:
            patch.undo()
            yield cluster.scheduler_address.removeprefix("tcp://")


@pytest.fixture(scope="module")
def local_ray(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    token = tmp_path_factory.mktemp("ray") / "token"  # Ray would put one of its own into the user's home
    token.write_text(secrets.token_hex(32))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RAY_AUTH_TOKEN_PATH", str(token))
        patch.setenv("NUMBA_ENABLE_CUDASIM", "1")
        ray.init("local", num_cpus=2, num_gpus=2, include_dashboard=False, log_to_driver=False)
        patch.delenv("NUMBA_ENABLE_CUDASIM")
        yield
        ray.shutdown()


def test_threads(expected: xr.Dataset) -> None:
    with open_executor("threads:2") as pool:
        assert isinstance(pool, ThreadPoolExecutor)
        assert_same(simulate(small(), pool).dataset, expected)


def test_default_is_a_thread_for_each_core() -> None:
    for text in (None, "threads"):
        with open_executor(text) as pool:
            assert isinstance(pool, ThreadPoolExecutor)
            assert pool._max_workers == cores()
    assert 1 <= cores() <= (os.cpu_count() or 1)


def test_processes(expected: xr.Dataset) -> None:
    own = LevelPolicy("patient", patient, trend="rises")
    experiment = Experiment((worst_case(3),), (("ucb", UCB(4.0)), ("own", own)), 200, runs=20)
    with open_executor("processes:2") as pool:
        assert isinstance(pool, ProcessPoolExecutor)
        assert pool.submit(os.getpid).result() != os.getpid()
        assert_same(simulate(small(), pool).dataset, expected)
        found = simulate(experiment, pool).dataset  # a level of one's own travels too
    np.testing.assert_array_equal(found.regret.values[:, 0], found.regret.values[:, 1])


def test_dask(expected: xr.Dataset, address: str) -> None:
    with open_executor(f"dask://{address}") as pool:
        assert_same(simulate(small(), pool).dataset, expected)


def test_dask_executor_of_a_client(expected: xr.Dataset, address: str) -> None:
    with Client(address, set_as_default=False) as client:
        assert len(client.scheduler_info()["workers"]) == 2
        assert_same(simulate(small(), client.get_executor()).dataset, expected)


def test_dask_started_here(expected: xr.Dataset) -> None:
    with open_executor("dask://local") as pool:
        worker = pool.submit(os.getpid).result()
        assert worker != os.getpid()
        with pytest.raises(ZeroDivisionError):
            pool.submit(operator.truediv, 1, 0).result()
        assert_same(simulate(small(), pool).dataset, expected)
    with pytest.raises(ProcessLookupError):  # nothing is left running
        os.kill(worker, 0)


def test_ray(expected: xr.Dataset, local_ray: None) -> None:
    with open_executor("ray://local") as pool:
        assert pool.submit(os.getpid).result() != os.getpid()
        with pytest.raises(ZeroDivisionError):
            pool.submit(operator.truediv, 1, 0).result()
        assert_same(simulate(small(), pool).dataset, expected)
    assert ray.is_initialized()  # it was there before


def tiny() -> Experiment:
    """Return what a simulated GPU plays in seconds, one policy that it does not play among it."""
    shared = Fleet(UCB(), 2, 4)
    return Experiment((worst_case(3),), (("ucb", UCB()), ("ocucb", OCUCBn()), ("shared", shared)), 20, runs=6)


def check_gpus_of(cluster: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """See that workers play on their GPUs, some shards at once, and all else where they can."""
    monkeypatch.setattr(cuda_cluster, "BUNDLES", 1)
    expected = simulate(tiny(), "threads:1").dataset
    with open_executor(f"cuda+{cluster}") as pool:
        assert isinstance(pool, CudaClusterExecutor)
        assert pool.submit(os.getpid).result() != os.getpid()
        assert pool.submit(os.getenv, "NUMBA_ENABLE_CUDASIM").result() == "1"
        with pytest.raises(ZeroDivisionError):
            pool.submit(operator.truediv, 1, 0).result()
        with pytest.warns(RuntimeWarning, match="played on the CPU: .* several nodes"):
            assert_same(simulate(tiny(), pool).dataset, expected)


def test_gpus_of_a_dask_cluster(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    check_gpus_of(f"dask://{address}", monkeypatch)


def test_gpus_of_a_ray_cluster(local_ray: None, monkeypatch: pytest.MonkeyPatch) -> None:
    check_gpus_of("ray://local", monkeypatch)


def test_a_cluster_whose_workers_have_no_gpu_says_so() -> None:
    with (
        open_executor("cuda+dask://local") as pool,
        pytest.raises(ParameterError, match=r"cuda needs an NVIDIA GPU .*; use threads"),
    ):
        simulate(small(), pool)


def test_a_warning_that_is_an_error_is_told_to_whoever_waits() -> None:
    [*_, (_, shard)] = tiny().shards(0, 1)
    with CudaExecutor() as pool, pytest.raises(RuntimeWarning, match=r"played on the CPU: .* several nodes"):
        pool.submit(play, shard).result(60)


def test_ray_forgets_what_was_not_waited_for(local_ray: None) -> None:
    with open_executor("ray://local") as pool:
        futures = [pool.submit(time.sleep, 1.0) for _ in range(200)]
    assert sum(future.cancelled() for future in futures) > 100
    with open_executor("ray://local") as pool:
        assert pool.submit(abs, -1).result(timeout=50.0) == 1  # half of what the others would have taken


@pytest.mark.parametrize(
    "text",
    [
        "",
        "thread",
        "threads:",
        "threads:0",
        "threads:-1",
        "threads:two",
        "threads:²",
        "dask://",
        "dask:1",
        "mpi://host",
    ],
)
def test_wrong_text(text: str) -> None:
    with (
        pytest.raises(ParameterError, match=r"executor must be one of threads, threads:4, .* got"),
        open_executor(text),
    ):
        pass


def test_nobody_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ocucb.lab.runners.dask.CONNECT_TIMEOUT", "200ms")
    with (
        pytest.raises(ParameterError, match=r"dask://127\.0\.0\.1:9 must be a scheduler that answers"),
        open_executor("dask://127.0.0.1:9"),
    ):
        pass


def test_package_is_not_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ocucb.lab.runners.dask", None)
    with pytest.raises(ParameterError, match=r"needs the package distributed.*pip install 'ocucb\[dask\]'"):
        open_executor("dask://host:8786").__enter__()


def test_clusters_are_imported_only_where_they_are_used() -> None:
    check = "import sys, ocucb.lab.simulation; sys.exit(bool({'distributed', 'ray'} & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-c", check], check=False).returncode == 0


def test_processes_end_with_the_one_that_owns_them() -> None:
    code = """
import os, sys, time
from ocucb.lab.runners import open_executor
with open_executor("processes:1") as pool:
    print(pool.submit(os.getpid).result(), flush=True)
    pool.submit(time.sleep, 3600)
    sys.stdin.read()
"""
    with subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as owner:
        assert owner.stdout is not None
        assert int(owner.stdout.readline()) != owner.pid
        owner.kill()
        owner.communicate(timeout=120)  # until nobody is left who could write: the sleeper would for an hour
