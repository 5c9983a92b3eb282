"""The logarithm without a branch, against many digits."""

from __future__ import annotations

import importlib
import math
import random
from typing import Any

from ocucb.compiled.logarithm import log

mpmath: Any = importlib.import_module("mpmath")


def test_it_is_within_one_unit_in_the_last_place() -> None:
    numbers = random.Random(1)
    for _ in range(1000):
        wide = math.exp(numbers.uniform(-700.0, 700.0))
        near_one = 1.0 + numbers.choice((-1.0, 1.0)) * 10.0 ** numbers.uniform(-15.0, -0.4)
        for x in (wide, near_one, math.sqrt(0.5), math.nextafter(math.sqrt(0.5), 0.0)):
            with mpmath.workprec(200):
                true = mpmath.log(mpmath.mpf(x))
                error = abs(mpmath.mpf(log(x)) - true)
            assert error <= math.ulp(float(true)), x


def test_its_limits_are_those_of_a_logarithm() -> None:
    assert (log(1.0), log(0.0), log(math.inf)) == (0.0, -math.inf, math.inf)
    assert math.isnan(log(-1.0))
    assert math.isnan(log(math.nan))
