"""Arrays as Python sees them, and functions as Python and compiled code see them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import numba
import numpy as np
import numpy.typing as npt

# Numba is typed in part only; to the type checker its types are Any.
types: Any = numba.types

Floats: TypeAlias = npt.NDArray[np.float64]
Integers: TypeAlias = npt.NDArray[np.int64]
Parameters: TypeAlias = Sequence[float] | Floats

# (t, pulls, effective, arms, parameters): how confident to be about an arm.
LevelFunction: TypeAlias = Callable[[float, float, float, float, Parameters], float]
# (mean, pulls, level, family): the index of an arm, from a noise family.
BoundFunction: TypeAlias = Callable[[float, float, float, Parameters], float]
# (p, q, family): the divergence of a noise family.
DivergenceFunction: TypeAlias = Callable[[float, float, Parameters], float]
# (mean, uniform, family): a reward of a noise family.
QuantileFunction: TypeAlias = Callable[[float, float, Parameters], float]
# (mean, key, count, end, least, sums, family): rewards of a noise family, one after another.
DrawsFunction: TypeAlias = Callable[[float, np.uint64, int, int, float, Floats, Parameters], int]
# (t, arms, pulls, mean, leads, best, best_pulls, coin, uniform, parameters, divergence, upper, posterior, family): any
# other rule; largest wins.
ScoreFunction: TypeAlias = Callable[
    [
        float,
        float,
        float,
        float,
        bool,
        float,
        float,
        float,
        float,
        Parameters,
        int,
        int,
        int,
        Parameters,
    ],
    float,
]

REALS = types.CPointer(types.float64)

_real, _address = types.float64, types.int64
LEVEL = _real(_real, _real, _real, _real, REALS)
BOUND = _real(_real, _real, _real, REALS)
DIVERGENCE = _real(_real, _real, REALS)
QUANTILE = _real(_real, _real, REALS)
DRAWS = types.int64(_real, types.uint64, types.int64, types.int64, _real, REALS, REALS)
FIND = types.int64(_address, types.int64, _real)  # (state, round, coin): an arm
REMEMBER_PULL = types.void(_address, types.int64)  # (state, arm)
REMEMBER_REWARD = types.void(_address, types.int64, _real)  # (state, arm, reward)
SCORE = _real(
    _real,
    _real,
    _real,
    _real,
    types.boolean,
    _real,
    _real,
    _real,
    _real,
    REALS,
    _address,
    _address,
    _address,
    REALS,
)
