"""Uniform numbers from counters, against SplitMix64 written out in Python's own integers."""

from __future__ import annotations

import numpy as np
import pytest

from ocucb.uniforms import stream, uniform

WORD = 2**64


def splitmix64(state: int) -> int:
    """Return the number after a state, as G. Steele, D. Lea and C. Flood print it (2014)."""
    mixed = (state + 0x9E3779B97F4A7C15) % WORD
    mixed = (mixed ^ (mixed >> 30)) * 0xBF58476D1CE4E5B9 % WORD
    mixed = (mixed ^ (mixed >> 27)) * 0x94D049BB133111EB % WORD
    return mixed ^ (mixed >> 31)


@pytest.mark.parametrize("key", [0, 1, 12345, 2**63, WORD - 1])
@pytest.mark.parametrize("number", [0, 1, 2, 1000, 2**62])
def test_numbers_are_those_of_splitmix64(key: int, number: int) -> None:
    expected = splitmix64((key + 0x9E3779B97F4A7C15 * number) % WORD)
    assert int(stream(np.uint64(key), number)) == expected
    assert uniform(np.uint64(key), number) == ((expected >> 12) + 0.5) / 2**52


def test_the_first_numbers_are_pinned() -> None:
    """As published for the seed 0; a change would change every experiment."""
    assert [int(stream(np.uint64(0), i)) for i in range(2)] == [0xE220A8397B1DCDAF, 0x6E789E6AA1B965F4]
