"""Threads and processes of this machine. Kernels release the GIL, so threads are as fast and start at once."""

from __future__ import annotations

import multiprocessing
import os
import signal
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager


def cores() -> int:
    """Return how many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@contextmanager
def threads(count: int) -> Iterator[Executor]:
    """Open a pool of threads."""
    pool = ThreadPoolExecutor(count, thread_name_prefix="ocucb")
    try:
        yield pool
    finally:
        pool.shutdown(cancel_futures=True)


@contextmanager
def processes(count: int) -> Iterator[Executor]:
    """Open a pool of processes, each started afresh: a copy of a process that has threads may hang."""
    # Ctrl-C reaches every process of a terminal; only the one that owns the store shall act on it.
    pool = ProcessPoolExecutor(
        count, multiprocessing.get_context("spawn"), signal.signal, (signal.SIGINT, signal.SIG_IGN)
    )
    try:
        yield pool
    finally:
        pool.shutdown(cancel_futures=True)


POOLS: dict[str, Callable[[int], AbstractContextManager[Executor]]] = {"threads": threads, "processes": processes}
