"""Uniform numbers as a pure function of counters, so that a random choice needs no state but its round."""

from __future__ import annotations

import numpy as np

from ocucb.compiled import kernel

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_FIRST = np.uint64(0xBF58476D1CE4E5B9)
_SECOND = np.uint64(0x94D049BB133111EB)
_30, _27, _31, _12 = np.uint64(30), np.uint64(27), np.uint64(31), np.uint64(12)


@kernel
def stream(key: np.uint64, number: int) -> np.uint64:
    """Return a new key, unrelated to those of other numbers (Weyl step, then the SplitMix64 finaliser)."""
    mixed = key + _GOLDEN * (np.uint64(number) + np.uint64(1))
    mixed = (mixed ^ (mixed >> _30)) * _FIRST
    mixed = (mixed ^ (mixed >> _27)) * _SECOND
    return mixed ^ (mixed >> _31)


@kernel
def uniform(key: np.uint64, number: int) -> float:
    """Return one of the 2^52 numbers (k + 1/2) 2^-52, all of them exact floats strictly between 0 and 1."""
    return (float(stream(key, number) >> _12) + 0.5) * 2.0**-52
