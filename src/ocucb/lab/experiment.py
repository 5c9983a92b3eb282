"""An experiment: which policies on which problems, for how long, how often. Data, checked when it is made."""

from __future__ import annotations

import re
import textwrap
import tomllib
from collections.abc import Callable, Iterable
from dataclasses import dataclass, fields
from functools import cached_property
from numbers import Integral
from typing import Any, TypeAlias

from ocucb.checks import real, whole
from ocucb.errors import ParameterError
from ocucb.lab.checkpoints import check_checkpoints, default_checkpoints, read_checkpoints
from ocucb.lab.fleet import Fleet, check_fleet
from ocucb.lab.problem import Problem
from ocucb.lab.problem_spec import read_problem, write_problem
from ocucb.lab.remembering import Remembering
from ocucb.lab.shard import Shard
from ocucb.lab.spec import (
    OWN,
    describe_noise,
    describe_policy,
    format_noise,
    format_policy,
    read_policies,
    suggest,
)
from ocucb.noise import Noise
from ocucb.policies import Policy
from ocucb.suitability import check_suitable

MAX_RUNS = 100_000
SHARD_STEPS = 2_000_000  # rounds in a shard, about: a tenth of a second or so, to show progress and lose little
SHARD_ARMS = 40  # so many arms more make a round about twice as long
SHARD_RUNS = 256
NUMBERS = re.compile(r"\[\n((?: +[-+.\de]+,\n)+)\]")

Key: TypeAlias = tuple[int, int, int]  # which problem, which policy, which block of runs


@dataclass(frozen=True)
class Experiment:
    """Policies on problems.

    Parameters
    ----------
    problems : with different names.
    policies : pairs of a label and a policy; labels all different. The first is the reference of paired differences.
    horizon : rounds of each run.
    runs : runs of each policy on each problem, 2 or more; or else
    precision : add runs until the standard error of every mean regret at the horizon is within this share, e.g. 0.01.
    seed : of the reward tape.
    checkpoints : the rounds after which regret is recorded; the last is the horizon. Empty for 50, log-spaced.
    max_runs : where to stop if the precision is not reached, up to the end of the block that holds this run.
    """

    problems: tuple[Problem, ...]
    policies: tuple[tuple[str, Policy], ...]
    horizon: int
    runs: int | None = None
    precision: float | None = None
    seed: int = 0
    checkpoints: tuple[int, ...] = ()
    max_runs: int = MAX_RUNS

    def __post_init__(self) -> None:
        problems = _problems(self.problems)
        horizon = _horizon(self.horizon, problems)
        clean = {
            "problems": problems,
            "policies": _policies(self.policies, horizon),
            "horizon": horizon,
            "runs": None if self.runs is None else whole("runs", self.runs, 2, "an error bar needs two runs"),
            "precision": _precision(self.precision, self.runs),
            "seed": _seed(self.seed),
            "checkpoints": check_checkpoints(self.checkpoints, horizon),
            "max_runs": whole("max_runs", self.max_runs, 2, "an error bar needs two runs"),
        }
        for name, value in clean.items():
            object.__setattr__(self, name, value)
        for problem in problems:
            for _, policy in self.policies:
                _check_suitable(policy, problem.assumed_noise)
            if problem.delay is not None and problem.delay.least() >= horizon:
                raise ParameterError(
                    f"delays of {problem.name} must end before the horizon, {horizon}, got {problem.delay}; "
                    "no reward would ever come"
                )

    @cached_property
    def labels(self) -> tuple[str, ...]:
        """What the policies are called here."""
        return tuple(label for label, _ in self.policies)

    @cached_property
    def block_size(self) -> int:
        """Runs of one shard. It hangs on the experiment only, so that shards are the same wherever they are played."""
        arms = max(problem.arms for problem in self.problems)
        steps = self.horizon * (1 + arms // SHARD_ARMS)
        return max(1, min(SHARD_STEPS // steps, SHARD_RUNS, self._cap))

    @cached_property
    def blocks(self) -> int:
        """Blocks of runs that each policy on each problem has, or may come to have."""
        return -(-self._cap // self.block_size)

    @cached_property
    def capacity(self) -> int:
        """Runs that each policy on each problem has, or may come to have; whole blocks where precision decides."""
        return self._cap if self.runs is not None else self.blocks * self.block_size

    @property
    def _cap(self) -> int:
        return self.max_runs if self.runs is None else self.runs

    def runs_between(self, first_block: int, last_block: int) -> int:
        """Return the runs in the blocks from the first up to, not including, the last."""
        return min(last_block * self.block_size, self.capacity) - min(first_block * self.block_size, self.capacity)

    def shard(self, key: Key) -> Shard:
        """Return the shard of one problem, one policy, one block of runs."""
        problem, policy, block = key
        first = block * self.block_size
        return Shard(
            self.problems[problem],
            self.policies[policy][1],
            self.horizon,
            self.checkpoints,
            self.seed,
            first,
            min(self.block_size, self.capacity - first),
        )

    def shards(self, first_block: int, last_block: int) -> list[tuple[Key, Shard]]:
        """Return the shards of the blocks from the first up to, not including, the last.

        Blocks are outermost: whenever a study stops, the policies have met nearly the same runs.
        """
        keys = [
            (problem, policy, block)
            for block in range(first_block, last_block)
            for problem in range(len(self.problems))
            for policy in range(len(self.policies))
        ]
        return [(key, self.shard(key)) for key in keys]

    def to_toml(self) -> str:
        """Return the experiment as TOML. Raises ParameterError if a policy or noise family is the user's own."""
        if OWN not in self._description:  # then it has nothing of a user's own, and is this text
            return self._description
        return _to_toml(self, format_policy, format_noise)

    def describe(self) -> str:
        """Return the experiment as TOML with policies and noise of the user's own described; not to be read back."""
        return self._description

    @cached_property
    def _description(self) -> str:
        return _to_toml(self, describe_policy, describe_noise)

    @classmethod
    def from_toml(cls, text: str) -> Experiment:
        """Return the experiment that a TOML text describes."""
        try:
            data = tomllib.loads(text)
        except tomllib.TOMLDecodeError as problem:
            raise ParameterError(f"an experiment must be TOML, but it breaks off: {problem}") from None
        known = [field.name for field in fields(cls)]
        for key in data:
            if key not in known:
                raise ParameterError(f"keys of an experiment are {', '.join(known)}, got {key!r}{suggest(key, known)}")
        for key in ("problems", "policies", "horizon"):
            if key not in data:
                raise ParameterError(f"an experiment must have {key}, got {', '.join(data) or 'nothing'}; add {key}")
        horizon = whole("horizon", data["horizon"], 2, "give the rounds of a run")
        data["problems"] = [read_problem(entry) for entry in _several("problems", data["problems"])]
        data["policies"] = read_policies(data["policies"], horizon)
        if isinstance(data.get("checkpoints"), str):
            data["checkpoints"] = read_checkpoints(data["checkpoints"], horizon)
        return cls(**data)


def _problems(given: Iterable[Problem]) -> tuple[Problem, ...]:
    problems = _several("problems", given)
    for problem in problems:
        if not isinstance(problem, Problem):
            raise ParameterError(f"problems must be made by Problem or a named one, got {problem!r}; use mixed_gaps()")
    _distinct("names of problems", [problem.name for problem in problems], "give name=... to Problem")
    return problems


def _policies(given: Iterable[tuple[str, Policy]], horizon: int) -> tuple[tuple[str, Policy], ...]:
    policies = []
    for pair in _several("policies", given):
        if not isinstance(pair, tuple | list) or len(pair) != 2 or not isinstance(pair[1], Policy):
            raise ParameterError(f'policies must be pairs of a label and a policy, got {pair!r}; use ("UCB", UCB())')
        label, policy = pair
        if not isinstance(label, str) or not label.strip():
            raise ParameterError(f"labels of policies must be words, got {label!r}; use {policy.name!r}")
        limit = policy.rule().horizon
        if limit is not None and limit < horizon:
            raise ParameterError(
                f"{label} must play {horizon} rounds, but it was made for {limit}; give it horizon={horizon}"
            )
        policies.append((label, policy))
    _distinct("labels of policies", [label for label, _ in policies], "give each a label of its own")
    return tuple(policies)


def _check_suitable(policy: Policy, noise: Noise) -> None:
    """Raise one clear line for a policy that makes no sense under a noise family, with its memory or on its fleet."""
    if isinstance(policy, Fleet):
        check_fleet(policy, noise)
        check_suitable(policy.policy, noise)
    elif isinstance(policy, Remembering):
        check_suitable(policy.policy, noise, policy.memory)
    else:
        check_suitable(policy, noise)


def _several(name: str, given: object) -> tuple[Any, ...]:
    if isinstance(given, str) or not isinstance(given, Iterable):
        raise ParameterError(f"{name} must be a list or tuple, got {given!r}; put it in brackets")
    several = tuple(given)
    if not several:
        raise ParameterError(f"{name} must hold at least one, got none; add one")
    return several


def _distinct(name: str, given: list[str], remedy: str) -> None:
    for i, one in enumerate(given):
        if one in given[:i]:
            raise ParameterError(f"{name} must all be different, got {one!r} twice; {remedy}")


def _horizon(given: int, problems: tuple[Problem, ...]) -> int:
    horizon = whole("horizon", given, 2, "give the rounds of a run")
    largest = max(problems, key=lambda problem: problem.arms)
    if horizon < largest.arms:
        raise ParameterError(
            f"horizon must be at least the number of arms, {largest.arms} of {largest.name}, got {horizon}; "
            "every arm is played once before any is chosen"
        )
    return horizon


def _precision(given: float | None, runs: int | None) -> float | None:
    if (given is None) == (runs is None):
        got = "neither" if given is None else "both"
        raise ParameterError(f"one of runs and precision must be given, got {got}; use runs=100 or precision=0.01")
    if given is None:
        return None
    precision = real("precision", given, "use precision=0.01 for 1 %")
    if not 0.0 < precision < 1.0:
        raise ParameterError(f"precision must be between 0 and 1, got {precision:g}; use precision=0.01 for 1 %")
    return precision


def _seed(given: object) -> int:
    if isinstance(given, bool) or not isinstance(given, Integral) or not 0 <= int(given) < 2**63:
        raise ParameterError(f"seed must be a whole number, 0 or more and less than 2^63, got {given!r}; use seed=0")
    return int(given)


def _to_toml(experiment: Experiment, write_policy: Callable[[Policy], str], write_noise: Callable[[Noise], str]) -> str:
    data: dict[str, Any] = {}
    for field in ("horizon", "runs", "precision", "max_runs", "seed"):
        value = getattr(experiment, field)
        if value is not None and (field, value) != ("max_runs", MAX_RUNS):
            data[field] = value
    if experiment.checkpoints != default_checkpoints(experiment.horizon):
        data["checkpoints"] = list(experiment.checkpoints)
    problems = [write_problem(problem, write_noise) for problem in experiment.problems]
    named = all(set(problem) == {"problem"} for problem in problems)
    data["problems"] = [problem["problem"] for problem in problems] if named else problems
    data["policies"] = {label: write_policy(policy) for label, policy in experiment.policies}
    import tomli_w  # noqa: PLC0415 - who only reads policies by their names, as the service does, need not have it

    return NUMBERS.sub(_wrap, tomli_w.dumps(data))


def _wrap(match: re.Match[str]) -> str:
    """Return an array of numbers in few lines, which tomli_w gives a line each."""
    inside = " ".join(match[1].split()).rstrip(",")
    lines = textwrap.fill(inside, 100, initial_indent="    ", subsequent_indent="    ")
    return f"[\n{lines},\n]" if len(inside) > 90 else f"[{inside}]"
