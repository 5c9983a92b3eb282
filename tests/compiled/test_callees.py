"""Kernels that call kernels: linked into their callers, and as good as before."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from ocucb.compiled import Integers, inlined, kernel, rare_kernel


@kernel
def factorial(n: int) -> int:
    return 1 if n < 2 else n * factorial(n - 1)


@kernel
def call_itself(n: int) -> int:
    return factorial(n) + 1


@kernel
def root(x: float) -> float:
    if x < 0.0:
        raise ValueError("negative")
    print("the root of", x)
    return math.sqrt(x)


@kernel
def call_root(x: float) -> float:
    return root(x)


def test_a_kernel_may_call_itself() -> None:
    assert call_itself(5) == 121
    assert factorial(6) == 720


def test_a_kernel_may_print_and_raise_inside_another(capfd: pytest.CaptureFixture[str]) -> None:
    assert call_root(4.0) == 2.0
    assert capfd.readouterr().out.split() == ["the", "root", "of", "4.0"]
    with pytest.raises(ValueError, match="negative"):
        call_root(-1.0)


def test_whole_numbers_of_any_size_share_one_callee() -> None:
    """Doubled in 64 bits: in 32, as Numba would compile it for an int32, 2^31 is negative."""

    @kernel
    def double(n: int) -> int:
        return 2 * n

    @kernel
    def double_small_ones(numbers: Any) -> int:
        return double(numbers[0]) + double(3)

    for kind in (np.int8, np.int32, np.int64):
        largest = np.array([np.iinfo(kind).max // (2 if kind is np.int64 else 1) - 3])
        assert double_small_ones(largest.astype(kind)) == 2 * int(largest[0]) + 6
    callee: Any = double._callee  # type: ignore[attr-defined]
    assert len(callee.overloads) == 1


def test_only_what_python_calls_becomes_machine_code() -> None:
    @kernel
    def inner(numbers: Integers) -> int:
        return int(numbers[0])

    @kernel
    def outer(numbers: Integers) -> int:
        return inner(numbers)

    assert outer(np.array([7])) == 7
    called: Any = inner
    assert list(called.overloads) == []
    [linked] = called._callee.overloads.values()
    assert not callable(linked.entry_point)


def test_a_compiled_function_is_not_compiled_again() -> None:
    with pytest.raises(TypeError, match="plain function"):
        kernel(factorial)


def test_a_rare_kernel_is_called_even_by_one_that_is_inlined() -> None:
    @rare_kernel
    def seldom(x: float) -> float:
        return x + 0.125

    @inlined
    def often(x: float) -> float:
        return seldom(x) if x > 1e9 else x

    @kernel
    def outer(x: float) -> float:
        return often(x)

    assert [outer(x) for x in (1.0, 2e9)] == [1.0, 2e9 + 0.125]
    [code] = outer.inspect_llvm().values()  # type: ignore[attr-defined]
    calls = [line for line in code.splitlines() if " call " in line]
    assert [line for line in calls if "seldom" in line]
    assert not [line for line in calls if "often" in line]
