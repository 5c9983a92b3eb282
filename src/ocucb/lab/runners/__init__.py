"""Runners: where shards are played. Each gives an Executor and holds no formula."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from concurrent.futures import Executor
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any

from ocucb.errors import ParameterError
from ocucb.lab.runners import local

# A scheme, the module that serves it, and what to install for it.
REMOTE = {"dask": ("ocucb.lab.runners.dask", "distributed"), "ray": ("ocucb.lab.runners.ray", "ray")}
EXAMPLES = (
    "threads, threads:4, processes:2, cuda, dask://host:8786, dask://local, ray://host:10001, ray://local, "
    "cuda+dask://host:8786 or cuda+ray://host:10001"
)
ON_GPUS = "cuda+"  # before a scheme: the workers of the cluster play on GPUs of theirs


@contextmanager
def open_executor(text: str | None = None) -> Iterator[Executor]:
    """Open the executor that a text names, as "threads:4" or "dask://host:8786", and close it at the end.

    None stands for as many local threads as there are cores.
    """
    with _find("threads" if text is None else text) as executor:
        yield executor


def _find(text: str) -> AbstractContextManager[Executor]:
    scheme, slashes, address = text.partition("://")
    cluster = scheme.removeprefix(ON_GPUS)
    if slashes and address and cluster in REMOTE:
        return _find_cluster(text, cluster, address, on_gpus=scheme != cluster)
    if text == "cuda":
        found: AbstractContextManager[Executor] = _gpu_runner("cuda").gpu()
        return found
    kind, colon, count = text.partition(":")
    if kind in local.POOLS and (not colon or (count.isascii() and count.isdigit() and int(count) > 0)):
        return local.POOLS[kind](int(count) if count else local.cores())
    raise ParameterError(f"executor must be one of {EXAMPLES}, got {text!r}")


@contextmanager
def _find_cluster(text: str, scheme: str, address: str, on_gpus: bool) -> Iterator[Executor]:
    module, package = REMOTE[scheme]
    try:
        runner = importlib.import_module(module)
    except ModuleNotFoundError as problem:
        raise ParameterError(
            f"{text} needs the package {package}, got: {problem}; pip install 'ocucb[{scheme}]'"
        ) from None
    gpus = _gpu_runner("cuda_cluster").gpus if on_gpus else nullcontext
    with runner.connect(address, on_gpus) as cluster, gpus(cluster) as executor:
        yield executor


def _gpu_runner(name: str) -> Any:
    try:
        return importlib.import_module(f"ocucb.lab.runners.{name}")
    except ImportError as problem:  # numba-cuda, or a part of it
        raise ParameterError(f"cuda needs the package numba-cuda, got: {problem}; pip install 'ocucb[gpu]'") from None
