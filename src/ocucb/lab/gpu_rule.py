"""A rule and a noise family as code for a GPU: the package's own levels, bounds and scores, as they are."""

from __future__ import annotations

import math
from types import FunctionType, ModuleType
from typing import Any

from ocucb.compiled import Floats
from ocucb.compiled.cuda import SIMULATED, device
from ocucb.compiled.logarithm import log
from ocucb.noise.noise import Family
from ocucb.policies.policy import Rule

DIVERGENCE, UPPER, POSTERIOR = 1, 2, 3  # what stands for the addresses by which scores call these on the CPU

GPU_MATH = ModuleType("gpu_math")  # Python's `math`, with our own logarithm
GPU_MATH.__dict__.update({**vars(math), "__name__": "gpu_math", "log": log})


def score_of(rule: Rule, family: Family) -> Any:
    """Return the score with the family's functions in the place of their addresses."""
    if rule.score is None:
        return device(lambda *_: 0.0)
    divergence, upper, posterior = family.divergence, family.upper, family.posterior

    @device
    def call_bound(which: int, given: Any) -> float:
        if which == UPPER:
            return upper(given[0], given[1], given[2], given[3])
        return posterior(given[0], given[1], given[2], given[3])

    @device
    def call_divergence(which: int, given: Any) -> float:
        return divergence(given[0], given[1], given[2])

    names = {"call_bound": call_bound, "call_divergence": call_divergence}
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


def index_of(rule: Rule, family: Family) -> tuple[Any, Any]:
    """Return the level as the selector reads it, and the bound."""
    level: Any = rule.level if SIMULATED or rule.level is None else _with_names(rule.level, {"math": GPU_MATH})
    bound = {"divergence": family.upper, "posterior": family.posterior, "switch": family.switch}[rule.bound]
    signed = rule.bound == "switch"
    if level is None:
        return device(lambda *_: 0.0), bound

    @device
    def clean_level(t: float, pulls: float, effective: float, arms: float, parameters: Floats) -> float:
        found = level(t, pulls, effective, arms, parameters)
        return found if found >= 0.0 or signed else 0.0

    return clean_level, bound
