"""Threads and processes of this machine. Kernels release the GIL, so threads are as fast and start at once."""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager
from multiprocessing.context import BaseContext
from multiprocessing.process import BaseProcess


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


# Where the calls stand that pools are given: what each process of a pool needs.
CALLED = ("ocucb.lab.shard", "ocucb.lab.identification_runs", "ocucb.paper.execute")


@contextmanager
def processes(count: int) -> Iterator[Executor]:
    """Open a pool of processes, none of them a copy of this one: a copy of a process that has threads may hang.

    Where copies are possible they are of a process that has no threads and has imported what they will need, once for
    all; elsewhere each is started afresh.
    """
    if "forkserver" in multiprocessing.get_all_start_methods():
        context: BaseContext = multiprocessing.get_context("forkserver")
        context.set_forkserver_preload([name for name in CALLED if name in sys.modules])
    else:
        context = multiprocessing.get_context("spawn")
    pool = ProcessPoolExecutor(count, context, _follow_owner)
    try:
        yield pool
    finally:
        pool.shutdown(cancel_futures=True)


def _follow_owner() -> None:
    """End with the process that owns the pool, however that ends, and not by Ctrl-C.

    That reaches every process of a terminal; only the one that owns the store shall act on it.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_exit_after, args=(multiprocessing.parent_process(),), daemon=True).start()


def _exit_after(owner: BaseProcess | None) -> None:
    if owner is not None:
        owner.join()
        os._exit(1)


POOLS: dict[str, Callable[[int], AbstractContextManager[Executor]]] = {"threads": threads, "processes": processes}
