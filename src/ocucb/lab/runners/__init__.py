"""Runners: where shards are played. Each gives an Executor and holds no formula."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from concurrent.futures import Executor
from contextlib import AbstractContextManager, contextmanager

from ocucb.errors import ParameterError
from ocucb.lab.runners import local

# A scheme, the module that serves it, and what to install for it.
REMOTE = {"dask": ("ocucb.lab.runners.dask", "distributed"), "ray": ("ocucb.lab.runners.ray", "ray")}
EXAMPLES = "threads, threads:4, processes:2, cuda, dask://host:8786, dask://local, ray://host:10001 or ray://local"


@contextmanager
def open_executor(text: str | None = None) -> Iterator[Executor]:
    """Open the executor that a text names, as "threads:4" or "dask://host:8786", and close it at the end.

    None stands for as many local threads as there are cores.
    """
    with _find("threads" if text is None else text) as executor:
        yield executor


def _find(text: str) -> AbstractContextManager[Executor]:
    scheme, slashes, address = text.partition("://")
    if slashes and address and scheme in REMOTE:
        module, package = REMOTE[scheme]
        try:
            runner = importlib.import_module(module)
        except ModuleNotFoundError as problem:
            raise ParameterError(
                f"{text} needs the package {package}, got: {problem}; pip install 'ocucb[{scheme}]'"
            ) from None
        found: AbstractContextManager[Executor] = runner.connect(address)
        return found
    if text == "cuda":
        return _gpu()
    kind, colon, count = text.partition(":")
    if kind in local.POOLS and (not colon or (count.isascii() and count.isdigit() and int(count) > 0)):
        return local.POOLS[kind](int(count) if count else local.cores())
    raise ParameterError(f"executor must be one of {EXAMPLES}, got {text!r}")


def _gpu() -> AbstractContextManager[Executor]:
    try:
        runner = importlib.import_module("ocucb.lab.runners.cuda")
    except ImportError as problem:  # numba-cuda, or a part of it
        raise ParameterError(f"cuda needs the package numba-cuda, got: {problem}; pip install 'ocucb[gpu]'") from None
    found: AbstractContextManager[Executor] = runner.gpu()
    return found
