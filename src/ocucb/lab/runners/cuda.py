"""An NVIDIA GPU of this machine: shards that wait are played together, in one launch."""

from __future__ import annotations

import functools
import threading
import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future
from contextlib import contextmanager
from queue import SimpleQueue
from typing import Any, ParamSpec, TypeVar

from ocucb.compiled.cuda import check_gpu
from ocucb.lab.gpu_shards import play_together, unfit
from ocucb.lab.shard import Shard, play

Given = ParamSpec("Given")
Answer = TypeVar("Answer")

TOGETHER = 4096  # shards at most


class CudaExecutor(Executor):
    """Plays shards on the GPU, and calls anything else, in one thread."""

    def __init__(self) -> None:
        self._max_workers = TOGETHER // 2  # as many shards are submitted as make a full launch
        self._waiting: SimpleQueue[tuple[Future[Any], Callable[..., Any], tuple[Any, ...], dict[str, Any]] | None]
        self._waiting = SimpleQueue()
        self._told: set[str] = set()
        self._stopped = False
        self._thread = threading.Thread(target=self._work, name="ocucb-cuda", daemon=True)
        self._thread.start()

    def submit(self, fn: Callable[Given, Answer], /, *args: Given.args, **kwargs: Given.kwargs) -> Future[Answer]:
        if self._stopped:
            raise RuntimeError("cannot schedule new futures after shutdown")
        future: Future[Answer] = Future()
        self._waiting.put((future, fn, args, kwargs))
        return future

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        self._stopped = True
        while cancel_futures and not self._waiting.empty():
            one = self._waiting.get()
            if one is not None:
                one[0].cancel()
        self._waiting.put(None)
        if wait:
            self._thread.join()

    def _work(self) -> None:
        while (one := self._waiting.get()) is not None:
            together: list[tuple[Future[Any], Shard]] = []
            while True:
                future, function, given, named = one
                if future.set_running_or_notify_cancel():
                    if function is play and self._fits(given[0]):
                        together.append((future, given[0]))
                    else:
                        _settle([future], functools.partial(_call, function, given, named))
                if self._waiting.empty() or len(together) >= TOGETHER:
                    break
                following = self._waiting.get()
                if following is None:
                    self._waiting.put(None)
                    break
                one = following
            if together:
                futures, shards = zip(*together, strict=True)
                _settle(list(futures), functools.partial(play_together, shards))

    def _fits(self, shard: Shard) -> bool:
        reason = unfit(shard)
        if reason is not None and reason not in self._told:
            self._told.add(reason)
            warnings.warn(f"played on the CPU: {reason}", RuntimeWarning, stacklevel=2)
        return reason is None


def _call(function: Callable[..., Any], given: tuple[Any, ...], named: dict[str, Any]) -> list[Any]:
    return [function(*given, **named)]


def _settle(futures: list[Future[Any]], job: Callable[[], list[Any]]) -> None:
    """Do a job and give each future its answer, or all the error."""
    try:
        answers = job()
    except BaseException as problem:
        for future in futures:
            future.set_exception(problem)
        return
    for future, answer in zip(futures, answers, strict=True):
        future.set_result(answer)


@contextmanager
def gpu() -> Iterator[Executor]:
    """Open the GPU."""
    check_gpu()
    executor = CudaExecutor()
    try:
        yield executor
    finally:
        executor.shutdown(cancel_futures=True)
