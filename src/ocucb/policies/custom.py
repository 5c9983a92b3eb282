"""LevelPolicy: a policy of your own, made of a level function."""

from __future__ import annotations

import functools
import inspect
import itertools
import math
from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass
from numbers import Real
from types import FunctionType
from typing import Any, ClassVar, Literal, TypeAlias

from ocucb.checks import one_of, real, whole, within
from ocucb.compiled import LevelFunction, kernel
from ocucb.errors import ParameterError
from ocucb.policies.policy import Policy, Rule, Trend, WithArms
from ocucb.policies.table import POLICIES

# Given as a mapping, kept as pairs: hashable, and equal only in the same order, by which a level reads them.
Named: TypeAlias = Mapping[str, float] | tuple[tuple[str, float], ...]

TRENDS = ("rises", "falls", "neither")
WITH_ARMS = ("unknown", "unread", "falls")
BOUNDS = ("divergence", "posterior", "switch")
STATE = ("t", "pulls", "effective", "arms")
SIGNATURE = f"({', '.join(STATE)}, parameters)"
State: TypeAlias = tuple[float, float, float, float]


@functools.cache
def _compile_once(level: LevelFunction) -> LevelFunction:
    """Compile a level once, so that policies of the same function are equal and share one machine address."""
    return kernel(level)


@dataclass(frozen=True)
class LevelPolicy(Policy):
    """A policy of your own: a name, a level function and its parameters.

    L = level(t, pulls, effective, arms, parameters)

    Parameters
    ----------
    name : what to call it; not the name of a policy of the package.
    level : the function, compiled or plain; it must compile, and may neither allocate nor raise.
    parameters : names and values of what `level` reads as parameters[0], parameters[1], ... in this order.
    trend : how the level moves with t while nothing else changes: "rises", "falls" (or stands still) or "neither".
        The first two are chosen lazily, which is exact only if they are true; a few points are tried here.
    rho : exponent of the effective arms, in [0, 1], or None if the level does not read them.
    bound : which bound of the noise family takes the level: "divergence", "posterior" or "switch".
    horizon : the last round it may be asked for, or None.
    with_arms : how the level moves with the number of arms while nothing else changes: "unread" (not at all), "falls"
        (or stands still), or "unknown": then an arm that is added or retired costs as much as a look at all arms. A few
        points are tried here.

    With bound="switch" all this is said of the size of the level. Unless the trend is "neither", its sign must not read
    the effective arms, and t only if the size rises with it; with "falls" for the arms, too, it may change once as t
    rises and arms fall.
    """

    formula: ClassVar[str] = "a level of your own"
    source: ClassVar[str] = "your code"

    name: str
    level: LevelFunction
    parameters: Named = ()
    _: KW_ONLY
    trend: Literal["rises", "falls", "neither"]
    rho: float | None = None
    bound: Literal["divergence", "posterior", "switch"] = "divergence"
    horizon: int | None = None
    with_arms: Literal["unknown", "unread", "falls"] = "unknown"

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not self.name.strip():
            raise ParameterError(f"name must be a word or more, got {self.name!r}")
        if self.name in POLICIES:
            raise ParameterError(f"name must be new, got {self.name!r}, which is {POLICIES[self.name].__name__}")
        one_of("trend", self.trend, TRENDS)
        one_of("bound", self.bound, BOUNDS)
        one_of("with_arms", self.with_arms, WITH_ARMS)
        clean = {
            "level": _compiled_level(self.level),
            "parameters": _named_floats(self.parameters),
            "rho": None if self.rho is None else within("rho", self.rho, 0.0, 1.0, "use rho=0.5, or None"),
            "horizon": None if self.horizon is None else whole("horizon", self.horizon, 1, "use None for anytime"),
        }
        for name, value in clean.items():
            object.__setattr__(self, name, value)
        _check_promises(self)

    def rule(self) -> Rule:
        return Rule(
            parameters=tuple(dict(self.parameters).values()),
            level=self.level,
            rho=self.rho,
            trend=Trend[self.trend.upper()],
            bound=self.bound,
            horizon=self.horizon,
            with_arms=WithArms[self.with_arms.upper()],
        )

    def to_dict(self) -> dict[str, Any]:
        return {"name": self.name, "parameters": dict(self.parameters)}


def _compiled_level(given: object) -> LevelFunction:
    """Return the one compiled form of a level function."""
    python = getattr(given, "py_func", given)
    if not isinstance(python, FunctionType):
        raise ParameterError(f"level must be a function of {SIGNATURE}, got {given!r}")
    signature = inspect.signature(python)
    positional = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    if [parameter.kind in positional for parameter in signature.parameters.values()] != [True] * 5:
        raise ParameterError(f"level must take the five arguments {SIGNATURE}, got {python.__name__}{signature}")
    return _compile_once(python)


def _named_floats(given: Named) -> tuple[tuple[str, float], ...]:
    try:
        named = dict(given)
    except (TypeError, ValueError):
        raise ParameterError(f'parameters must map names to numbers, as {{"strength": 2.0}}, got {given!r}') from None
    if not all(isinstance(name, str) for name in named):
        raise ParameterError(f"parameters must be named by words, got {list(named)}")
    return tuple((name, real(f"parameters[{name!r}]", value, "levels take floats")) for name, value in named.items())


def _check_promises(policy: LevelPolicy) -> None:
    """Raise if at a few states the level is no finite number, or breaks what was declared of it."""
    for arms, pulls in itertools.product((1.0, 2.0, 10.0, 1000.0), (1.0, 7.0, 1000.0)):
        rounds = _rounds_to_try(pulls + arms, policy.horizon)
        effective_arms = sorted({1.0, math.sqrt(arms), arms})
        for effective in effective_arms:
            _check_trend(policy, [(t, pulls, effective, arms) for t in rounds])
        for t in rounds:
            _check_growth_in_pulls(policy, [(t, fewer, arms, arms) for fewer in (pulls / 7, pulls) if fewer >= 1.0])
            _check_effective_arms(policy, [(t, pulls, effective, arms) for effective in effective_arms])
            _check_with_arms(policy, [(t, pulls, 1.0, fewer) for fewer in (1.0, max(1.0, arms // 3), arms)])
        if policy.bound == "switch" and policy.trend != "neither":
            _check_sign(policy, pulls, arms, rounds)


def _rounds_to_try(first: float, horizon: int | None) -> list[float]:
    """Return a few rounds from the first in which an arm can have so many pulls beside so many other arms."""
    rounds = [float(round(first * later)) for later in (1.0, 1.2, 2.0, 5.0, 30.0, 1e3, 1e6)]
    return rounds if horizon is None else [t for t in [*rounds, float(horizon)] if t <= horizon]


def _check_trend(policy: LevelPolicy, states: list[State]) -> None:
    for before, after in itertools.pairwise(states):
        low, high = _size_of_level(policy, before), _size_of_level(policy, after)
        if (policy.trend == "rises" and _clearly_less(high, low)) or (
            policy.trend == "falls" and _clearly_less(low, high)
        ):
            raise ParameterError(
                f'trend="{policy.trend}" is not true: the level goes from {low:g} at {_state_in_words(before)} '
                f'to {high:g} at t={after[0]:g}; use trend="neither" if it moves both ways'
            )


def _check_growth_in_pulls(policy: LevelPolicy, states: list[State]) -> None:
    for before, after in itertools.pairwise(states):
        low, high = _size_of_level(policy, before), _size_of_level(policy, after)
        if policy.trend != "neither" and _clearly_less(low / before[1], high / after[1]):
            raise ParameterError(
                f"level must not grow faster than the pulls, got {low:g} at {_state_in_words(before)} and {high:g} at "
                f'pulls={after[1]:g}; use trend="neither" if it must'
            )


def _check_effective_arms(policy: LevelPolicy, states: list[State]) -> None:
    for before, after in itertools.pairwise(states):
        low, high = _size_of_level(policy, before), _size_of_level(policy, after)
        if policy.rho is None and low != high:
            raise ParameterError(
                f"rho must be given for a level that reads the effective arms, got None; use rho=0.5 "
                f"(the level is {low:g} at {_state_in_words(before)} and {high:g} at effective={after[2]:g})"
            )
        signs = _level_of(policy, before) * _level_of(policy, after)
        if policy.bound == "switch" and policy.trend != "neither" and signs < 0.0:
            raise ParameterError(
                f"the sign of the level must not read the effective arms, but changes from {_state_in_words(before)} "
                f'to effective={after[2]:g}; use trend="neither"'
            )
        if _clearly_less(low, high):
            raise ParameterError(
                f"level must not rise with the effective arms, got {low:g} at {_state_in_words(before)} "
                f"and {high:g} at effective={after[2]:g}; put them under a fraction bar, as in t/(pulls*effective)"
            )


def _check_with_arms(policy: LevelPolicy, states: list[State]) -> None:
    for before, after in itertools.pairwise(states):
        low, high = _size_of_level(policy, before), _size_of_level(policy, after)
        if (policy.with_arms == "unread" and low != high) or (policy.with_arms == "falls" and _clearly_less(low, high)):
            raise ParameterError(
                f'with_arms="{policy.with_arms}" is not true: the level goes from {low:g} at {_state_in_words(before)} '
                f'to {high:g} at arms={after[3]:g}; use with_arms="unknown"'
            )


def _check_sign(policy: LevelPolicy, pulls: float, arms: float, rounds: list[float]) -> None:
    """Raise if the sign of a level, which picks the bound, reads what it must not, or changes both ways."""
    numbers = {arms} if policy.with_arms == "unknown" else {1.0, max(1.0, arms // 3), arms}
    levels = {(t, number): _level_of(policy, (t, pulls, 1.0, number)) for t in rounds for number in numbers}
    ways = set()
    for before, after in itertools.permutations(levels, 2):
        if before[0] > after[0] or before[1] < after[1] or levels[before] * levels[after] >= 0.0:
            continue
        ways.add(levels[after] > 0.0)
        if policy.trend == "falls" and before[1] == after[1]:
            remedy = 'with trend="falls" it must not read t; use trend="neither"'
        elif policy.with_arms == "unread" and before[0] == after[0]:
            remedy = 'with_arms="unread" is not true; use with_arms="unknown"'
        elif len(ways) == 2:
            remedy = 'elsewhere it changes back; use trend="neither", or with_arms="unknown" if only arms do that'
        else:
            continue
        raise ParameterError(
            f"the sign of the level changes from t={before[0]:g}, arms={before[1]:g} to t={after[0]:g}, "
            f"arms={after[1]:g} at pulls={pulls:g}: {remedy}"
        )


def _size_of_level(policy: LevelPolicy, state: State) -> float:
    """Return the level as the selector will read it: no less than 0, or its size where it switches."""
    value = _level_of(policy, state)
    return abs(value) if policy.bound == "switch" else max(0.0, value)


def _level_of(policy: LevelPolicy, state: State) -> float:
    """Return the level in plain Python."""
    python = getattr(policy.level, "py_func", policy.level)
    try:
        value = python(*state, policy.rule().parameters)
    except Exception as problem:
        raise ParameterError(
            f"level must return a finite number, got {type(problem).__name__}: {problem} at {_state_in_words(state)}"
        ) from problem
    if isinstance(value, bool) or not isinstance(value, Real) or not math.isfinite(value):
        raise ParameterError(f"level must return a finite number, got {value!r} at {_state_in_words(state)}")
    return float(value)


def _clearly_less(one: float, other: float) -> bool:
    """Return whether one is less than the other by more than rounding."""
    return one < other - 1e-9 * abs(other)


def _state_in_words(state: State) -> str:
    return ", ".join(f"{name}={value:g}" for name, value in zip(STATE, state, strict=True))
