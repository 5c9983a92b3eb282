"""The GPUs of a cluster: shards that wait are sent together, and a worker plays them on a GPU of its own.

A worker must have one for itself: `dask cuda worker` starts a worker for each GPU, and Ray gives one to each call.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import CancelledError, Executor, Future, InvalidStateError
from contextlib import contextmanager, suppress
from typing import Any

from ocucb.compiled.cuda import check_gpu
from ocucb.lab.gpu_shards import play_together
from ocucb.lab.runners.cuda import TOGETHER, CudaExecutor
from ocucb.lab.shard import Shard, ShardResult

BUNDLES = 8  # of what waits, at least, so that as many workers have something to do
IN_A_BUNDLE = TOGETHER // 4  # shards, at most


def play_bundle(shards: Sequence[Shard]) -> list[ShardResult]:
    """Play shards that are all fit on the GPU of this worker."""
    check_gpu()
    return play_together(shards)


class CudaClusterExecutor(CudaExecutor):
    """Has the workers of a cluster play shards on their GPUs, and call anything else."""

    gather_seconds = 0.05  # what is submitted within this time goes together

    def __init__(self, cluster: Executor) -> None:
        self._cluster = cluster
        self._sent: set[Future[Any]] = set()
        super().__init__()

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        super().shutdown(wait, cancel_futures=cancel_futures)
        for sent in list(self._sent):
            if cancel_futures:
                sent.cancel()
            elif wait:
                sent.exception()

    def _play(self, together: list[tuple[Future[Any], Shard]]) -> None:
        size = min(IN_A_BUNDLE, math.ceil(len(together) / BUNDLES))
        for first in range(0, len(together), size):
            futures, shards = zip(*together[first : first + size], strict=True)
            self._send(list(futures), list, play_bundle, shards)

    def _call(self, future: Future[Any], function: Callable[..., Any], given: Any, named: Any) -> None:
        self._send([future], lambda answer: [answer], function, *given, **named)

    def _send(self, futures: list[Future[Any]], parts: Callable[[Any], list[Any]], /, *call: Any, **named: Any) -> None:
        """Have a worker call a function; when it has, each future gets its part of the answer, or all the problem."""
        sent = self._cluster.submit(*call, **named)
        self._sent.add(sent)
        sent.add_done_callback(functools.partial(self._settle, futures, parts))

    def _settle(self, futures: list[Future[Any]], parts: Callable[[Any], list[Any]], sent: Future[Any]) -> None:
        self._sent.discard(sent)
        with suppress(InvalidStateError):  # whoever waited was told already that all is over
            problem = CancelledError() if sent.cancelled() else sent.exception()
            for place, future in enumerate(futures):
                if problem is not None:
                    future.set_exception(problem)
                else:
                    future.set_result(parts(sent.result())[place])


@contextmanager
def gpus(cluster: Executor) -> Iterator[Executor]:
    """Open the GPUs of a cluster."""
    executor = CudaClusterExecutor(cluster)
    try:
        yield executor
    finally:
        executor.shutdown(cancel_futures=True)
