"""The one place for Numba.

types      arrays, and the signatures of levels, bounds, divergences, quantiles and scores
kernels    how a function is compiled: flags
callees    a kernel as other kernels call it
callbacks  the address of a function, as C calls it
cache      where compiled code is kept, and when it is stale
pointers   records, arrays and functions by their addresses
vectors    many floats, or many bits, at once
floats     one float: its bits, tables of constants and of polynomials
"""

from ocucb.compiled.cache import CACHE_USE, CacheUse
from ocucb.compiled.callbacks import address
from ocucb.compiled.floats import bits_of, bits_of_single, constants, float_of, fused, polynomials, single_of
from ocucb.compiled.kernels import inlined, kernel, rare_kernel
from ocucb.compiled.pointers import (
    array_at,
    call_bound,
    call_divergence,
    call_draws,
    call_find,
    call_level,
    call_quantile,
    call_remember_pull,
    call_remember_reward,
    call_score,
    prefetch,
    reals,
    record_at,
)
from ocucb.compiled.types import (
    BOUND,
    DIVERGENCE,
    DRAWS,
    FIND,
    LEVEL,
    QUANTILE,
    REMEMBER_PULL,
    REMEMBER_REWARD,
    SCORE,
    BoundFunction,
    DivergenceFunction,
    DrawsFunction,
    Floats,
    Integers,
    LevelFunction,
    Parameters,
    QuantileFunction,
    ScoreFunction,
)
from ocucb.compiled.vectors import bit_length, largest, lowest_bit, reaching

__all__ = [
    "BOUND",
    "CACHE_USE",
    "DIVERGENCE",
    "DRAWS",
    "FIND",
    "LEVEL",
    "QUANTILE",
    "REMEMBER_PULL",
    "REMEMBER_REWARD",
    "SCORE",
    "BoundFunction",
    "CacheUse",
    "DivergenceFunction",
    "DrawsFunction",
    "Floats",
    "Integers",
    "LevelFunction",
    "Parameters",
    "QuantileFunction",
    "ScoreFunction",
    "address",
    "array_at",
    "bit_length",
    "bits_of",
    "bits_of_single",
    "call_bound",
    "call_divergence",
    "call_draws",
    "call_find",
    "call_level",
    "call_quantile",
    "call_remember_pull",
    "call_remember_reward",
    "call_score",
    "constants",
    "float_of",
    "fused",
    "inlined",
    "kernel",
    "largest",
    "lowest_bit",
    "polynomials",
    "prefetch",
    "rare_kernel",
    "reaching",
    "reals",
    "record_at",
    "single_of",
]
