"""A Ray cluster. Ray has no Executor, so this is one: a thin coat over remote calls. Its workers need ocucb too."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future
from contextlib import contextmanager
from typing import Any, ParamSpec, TypeVar

import ray as _ray

from ocucb.errors import ParameterError

ray: Any = _ray  # typed in part only

QUIET = {"log_to_driver": False, "logging_level": logging.WARNING}

Given = ParamSpec("Given")
Returned = TypeVar("Returned")


def call(function: Callable[..., Any], /, *given: Any, **named: Any) -> Any:
    """Call a function, there."""
    return function(*given, **named)


class RayExecutor(Executor):
    """Calls on the Ray cluster that this process is connected to, as concurrent futures, each with a GPU if asked."""

    def __init__(self, with_gpu: bool) -> None:
        self._call: Any = ray.remote(call).options(num_gpus=1) if with_gpu else ray.remote(call)
        self._futures: set[Future[Any]] = set()
        self._max_workers = max(1, int(ray.cluster_resources().get("CPU", 1)))
        if with_gpu and ray.cluster_resources().get("GPU", 0) < 1:
            raise ParameterError("cuda+ray needs a cluster with GPUs, got one without; use ray")

    def submit(self, fn: Callable[Given, Returned], /, *args: Given.args, **kwargs: Given.kwargs) -> Future[Returned]:
        reference = self._call.remote(fn, *args, **kwargs)
        future: Future[Returned] = reference.future()

        def settle(future: Future[Returned]) -> None:
            self._futures.discard(future)
            if future.cancelled():
                ray.cancel(reference)

        self._futures.add(future)
        future.add_done_callback(settle)
        return future

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        for future in list(self._futures):
            if cancel_futures:
                future.cancel()
            elif wait:
                future.exception()


@contextmanager
def connect(address: str, with_gpu: bool = False) -> Iterator[Executor]:
    """Connect to the cluster at host:port, or for "local" start one here, unless this process is connected already."""
    ours = not ray.is_initialized()
    if ours:
        try:
            if address == "local":
                ray.init("local", include_dashboard=False, **QUIET)
            else:
                ray.init(f"ray://{address}", **QUIET)
        except (ConnectionError, ImportError, RuntimeError, ValueError) as problem:
            raise ParameterError(
                f"ray://{address} must be a cluster that answers, got: {problem}; use ray://local, or start one, and "
                "if it wants a token set RAY_AUTH_MODE=token"
            ) from None
    try:
        executor = RayExecutor(with_gpu)
        try:
            yield executor
        finally:
            executor.shutdown(cancel_futures=True)
    finally:
        if ours:
            ray.shutdown()
