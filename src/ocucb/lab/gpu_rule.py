"""A rule and a noise family as code for a GPU: the package's own levels, bounds and scores, as they are.

For estimates there is a second version of some, in single precision: the same functions with their constants rounded.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from types import FunctionType, ModuleType
from typing import Any

import numpy as np

from ocucb.compiled import Floats
from ocucb.compiled.cuda import SIMULATED, device, rough_device
from ocucb.compiled.logarithm import log
from ocucb.noise import gaussian
from ocucb.noise.noise import Family
from ocucb.policies import gittins
from ocucb.policies.policy import Rule
from ocucb.selection.order import power

DIVERGENCE, UPPER, POSTERIOR = 1, 2, 3  # what stands for the addresses by which scores call these on the CPU

GPU_MATH = ModuleType("gpu_math")  # Python's `math`, with our own logarithm
GPU_MATH.__dict__.update({**vars(math), "__name__": "gpu_math", "log": log})
ROUGH_MATH = ModuleType("rough_math")  # Python's `math`, with constants in single precision
ROUGH_MATH.__dict__.update({**vars(math), "__name__": "rough_math", "e": np.float32(math.e), "pi": np.float32(math.pi)})


def has_estimates(rule: Rule, family: Family) -> bool:
    """Return whether indices or scores can be estimated in single precision, with an error that is known.

    The package's own levels are a few logarithms of quotients, each rounded by some units; and of bounds the Gaussian's
    is a square root, its posterior a few polynomials. Other families solve equations, and lose more digits.
    """
    if family.upper is not gaussian.upper or rule.variance_bound is not None:
        return False
    if rule.score is not None:
        return rule.samples and not rule.reads_divergence
    module = str(getattr(rule.level, "__module__", None))  # typed at a prompt, it may have none
    return rule.bound == "divergence" and module.startswith("ocucb.policies.") and module != gittins.__name__


def score_of(rule: Rule, family: Family, rough: bool = False) -> Any:
    """Return the score with the family's functions in the place of their addresses."""
    if rule.score is None:
        return device(lambda *_: 0.0)
    divergence = family.divergence
    upper, posterior = (_rough(one) if rough else one for one in (family.upper, family.posterior))

    @device
    def call_bound(which: int, given: Any) -> float:
        if which == UPPER:
            return upper(given[0], given[1], given[2], given[3])
        return posterior(given[0], given[1], given[2], given[3])

    @device
    def call_divergence(which: int, given: Any) -> float:
        return divergence(given[0], given[1], given[2])

    names = {"call_bound": call_bound, "call_divergence": call_divergence}
    if rough:
        return _rough(rule.score, {**names, "float": np.float32})
    return _with_names(rule.score, names if SIMULATED else {**names, "math": GPU_MATH})


def _with_names(function: Any, names: dict[str, Any]) -> Any:
    """Return a kernel for the GPU in which some names, there and in the kernels that it calls, stand for others."""
    python: Any = getattr(function, "py_func", function)
    known = python.__globals__
    called = {name: known[name] for name in python.__code__.co_names if hasattr(known.get(name), "py_func")}
    deeper = {name: _with_names(one, names) for name, one in called.items() if _uses(one, names)}
    made = {**known, **names, **deeper}
    return device(FunctionType(python.__code__, made, python.__name__, python.__defaults__, python.__closure__))


def _uses(function: Any, names: dict[str, Any]) -> bool:
    """Return whether a kernel, or one that it calls, uses one of the names."""
    python = function.py_func
    known = [python.__globals__.get(name) for name in python.__code__.co_names]
    return bool(names.keys() & set(python.__code__.co_names)) or any(
        _uses(one, names) for one in known if hasattr(one, "py_func")
    )


def _rough(function: Any, names: dict[str, Any] | None = None) -> Any:
    """Return a kernel, with those that it calls, in single precision: all its constants are rounded."""
    python: Any = getattr(function, "py_func", function)
    made = {**python.__globals__, **(names or {})}
    for name in python.__code__.co_names:
        one = made.get(name)
        if isinstance(one, float):
            made[name] = np.float32(one)
        elif one is math:
            made[name] = ROUGH_MATH
        elif hasattr(one, "py_func") and name not in (names or {}):
            made[name] = _rough(one)
    constants = tuple(np.float32(one) if isinstance(one, float) else one for one in python.__code__.co_consts)
    code = python.__code__.replace(co_consts=constants)
    return rough_device(FunctionType(code, made, python.__name__, python.__defaults__, python.__closure__))


def power_of(rough: bool) -> Callable[..., Any]:
    """Return T^ρ as a function for the GPU."""
    return _rough(power) if rough else power


def index_of(rule: Rule, family: Family, rough: bool = False) -> tuple[Any, Any]:
    """Return the level as the selector reads it, and the bound."""
    bound = {"divergence": family.upper, "posterior": family.posterior, "switch": family.switch}[rule.bound]
    if rule.variance_bound is not None:
        bound = rule.variance_bound
    signed = rule.bound == "switch"
    level: Any = rule.level
    if level is None:
        return device(lambda *_: 0.0), bound
    if rough:
        level, bound = _rough(level), _rough(bound)
    elif not SIMULATED:
        level = _with_names(level, {"math": GPU_MATH})
    zero: Any = np.float32(0.0) if rough else 0.0

    @device
    def clean_level(t: float, pulls: float, effective: float, arms: float, parameters: Floats) -> Any:
        found = level(t, pulls, effective, arms, parameters)
        return found if found >= zero or signed else zero

    return clean_level, bound
