"""An NVIDIA GPU of this machine: shards that wait are played together, in launches of some seconds."""

from __future__ import annotations

import threading
import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import CancelledError, Executor, Future
from contextlib import contextmanager
from queue import Empty, SimpleQueue
from typing import Any, ParamSpec, TypeVar

from ocucb.compiled.cuda import check_gpu
from ocucb.lab.gpu_shards import play_in_launches, unfit
from ocucb.lab.shard import Shard, play

Given = ParamSpec("Given")
Returned = TypeVar("Returned")

TOGETHER = 4096  # shards at most


class CudaExecutor(Executor):
    """Plays shards on the GPU, and calls anything else, in one thread."""

    gather_seconds = 0.0  # seconds to wait for another shard that could be played together with those that are there

    def __init__(self) -> None:
        self._max_workers = TOGETHER // 2  # as many shards are submitted as make a full launch
        self._waiting: SimpleQueue[tuple[Future[Any], Callable[..., Any], tuple[Any, ...], dict[str, Any]] | None]
        self._waiting = SimpleQueue()
        self._told: set[str] = set()
        self._stopped = self._cancelled = False
        self._thread = threading.Thread(target=self._work, name="ocucb-cuda", daemon=True)
        self._thread.start()

    def submit(self, fn: Callable[Given, Returned], /, *args: Given.args, **kwargs: Given.kwargs) -> Future[Returned]:
        if self._stopped:
            raise RuntimeError("cannot schedule new futures after shutdown")
        future: Future[Returned] = Future()
        self._waiting.put((future, fn, args, kwargs))
        return future

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        self._stopped = True
        self._cancelled |= cancel_futures
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
                    try:
                        if function is play and self._fits(given[0]):
                            together.append((future, given[0]))
                        else:
                            self._call(future, function, given, named)
                    except BaseException as problem:  # a warning that is an error here: who waits shall know
                        future.set_exception(problem)
                if len(together) >= TOGETHER:
                    break
                try:
                    following = self._waiting.get(timeout=self.gather_seconds)
                except Empty:
                    break
                if following is None:
                    self._waiting.put(None)
                    break
                one = following
            if together:
                self._play(together)

    def _play(self, together: list[tuple[Future[Any], Shard]]) -> None:
        """Give each future its outcome as soon as its launch is done; stop between two launches, if asked to."""
        waiting = dict(enumerate(future for future, _ in together))
        problem: BaseException = CancelledError("the executor was shut down")
        try:
            for launch in play_in_launches([shard for _, shard in together]):
                for place, outcome in launch:
                    waiting.pop(place).set_result(outcome)
                if self._cancelled:
                    break
        except BaseException as raised:  # whoever waits for an outcome shall know
            problem = raised
        for future in waiting.values():
            future.set_exception(problem)

    def _call(self, future: Future[Any], function: Callable[..., Any], given: Any, named: Any) -> None:
        """Call a function and give its future the answer, or the error."""
        try:
            answer = function(*given, **named)
        except BaseException as problem:
            future.set_exception(problem)
        else:
            future.set_result(answer)

    def _fits(self, shard: Shard) -> bool:
        reason = unfit(shard)
        if reason is not None and reason not in self._told:
            self._told.add(reason)
            warnings.warn(f"played on the CPU: {reason}", RuntimeWarning, stacklevel=2)
        return reason is None


@contextmanager
def gpu() -> Iterator[Executor]:
    """Open the GPU."""
    check_gpu()
    executor = CudaExecutor()
    try:
        yield executor
    finally:
        executor.shutdown(cancel_futures=True)
