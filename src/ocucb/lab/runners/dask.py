"""A Dask cluster. Its workers need ocucb, in the same version."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import Executor
from contextlib import contextmanager
from typing import Any

import distributed

from ocucb.errors import ParameterError
from ocucb.lab.runners.local import cores

CONNECT_TIMEOUT = "10s"

# Untyped within.
Client: Any = distributed.Client
LocalCluster: Any = distributed.LocalCluster


@contextmanager
def connect(address: str, with_gpu: bool = False) -> Iterator[Executor]:
    """Connect to the scheduler at host:port, or for "local" start a cluster here, a worker process for each core.

    with_gpu : has no effect; of a cluster for GPUs every worker has one.
    """
    if address == "local":
        with _local_cluster() as cluster, Client(cluster, set_as_default=False) as client:
            yield client.get_executor(pure=False)
        return
    try:
        client = Client(f"tcp://{address}", timeout=CONNECT_TIMEOUT, set_as_default=False)
    except (OSError, ValueError) as problem:
        raise ParameterError(
            f"dask://{address} must be a scheduler that answers, got: {problem}; use dask://local, or start one with "
            "`dask scheduler`"
        ) from None
    try:
        yield client.get_executor(pure=False)
    finally:
        client.close()


@contextmanager
def _local_cluster() -> Iterator[Any]:
    """Open a scheduler in this process, with a worker process for each core."""
    # Commands of their own, not copies of this process: a script need not guard its main part.
    command = [sys.executable, "-m", "distributed.cli.dask_worker", "--nthreads=1", "--no-nanny", "--no-dashboard"]
    with LocalCluster(n_workers=0, dashboard_address=":0") as cluster:
        # Ctrl-C reaches every process of a terminal; only the one that owns the results shall act on it.
        options: dict[str, Any] = {"stderr": subprocess.DEVNULL, "start_new_session": True}
        command.append(cluster.scheduler_address)
        workers = [subprocess.Popen(command, **options) for _ in range(cores())]  # noqa: S603 - our own command
        try:
            yield cluster
        finally:
            for worker in workers:
                worker.terminate()
            for worker in workers:
                worker.wait()
