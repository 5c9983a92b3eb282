"""A Dask cluster. Its workers need ocucb, in the same version."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import Executor
from contextlib import contextmanager
from typing import Any

import distributed

from ocucb.errors import ParameterError

PATIENCE = "10s"

Client: Any = distributed.Client  # untyped within


@contextmanager
def connect(address: str) -> Iterator[Executor]:
    """Connect to the scheduler at host:port."""
    try:
        client = Client(f"tcp://{address}", timeout=PATIENCE, set_as_default=False)
    except (OSError, ValueError) as problem:
        raise ParameterError(
            f"dask://{address} must be a scheduler that answers, got: {problem}; start one with `dask scheduler`"
        ) from None
    try:
        yield client.get_executor(pure=False)
    finally:
        client.close()
