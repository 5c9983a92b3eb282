"""Shards on a GPU: many of them, of any problems and parameters of one kind, in one launch."""

from __future__ import annotations

import functools
from collections import defaultdict
from collections.abc import Sequence
from typing import Any

import numpy as np

from ocucb.compiled import Floats
from ocucb.compiled.cuda import read_only, scratch
from ocucb.lab.fleet import Fleet
from ocucb.lab.gpu_episode import EXACT_SUMS, Kind, make_episode
from ocucb.lab.shard import Outcome, Shard
from ocucb.policies.policy import Rule

MEMORY = 8 * 2**30  # bytes of the GPU that one launch may take for the state of its runs
WORDS = 3  # floats of state for an arm of a run

_episode = functools.cache(make_episode)


def unfit(shard: Shard) -> str | None:
    """Say why a shard cannot be played on a GPU, or return None."""
    rule = shard.policy.rule()
    if shard.trace:
        return "choices are recorded"
    if isinstance(shard.policy, Fleet):
        return f"{shard.policy} has several nodes, which the GPU has not"
    if shard.problem.assumed_noise.family().spreads or rule.variance_bound is not None:
        keeper = shard.problem.assumed_noise if rule.variance_bound is None else shard.policy
        return f"{keeper} keeps the spread of each arm's rewards, which the GPU does not"
    if rule.forgets:
        return f"{shard.policy} forgets, which the GPU does not"
    if not shard.problem.plain:
        return f"{shard.problem.name}: {shard.problem.notes()[0]}"
    if rule.rho and shard.problem.arms > EXACT_SUMS and not _continuous(shard):
        return f"effective arms of more than {EXACT_SUMS} arms under a noise that is not continuous"
    return None


def _continuous(shard: Shard) -> bool:
    """Return whether two arms can hardly be in equal states."""
    return not shard.problem.noise.whole and shard.problem.noise.name in ("gaussian", "exponential")


def _kind(shard: Shard) -> tuple[Kind, int, tuple[int, ...], int]:
    """Return what shards of one launch share: code, arms, checkpoints, and how many parameters there are."""
    rule, family = shard.policy.rule(), shard.problem.noise.family()
    corrects = bool(rule.rho) and shard.problem.arms > EXACT_SUMS
    kind = Kind(rule._replace(parameters=(), horizon=None), family._replace(parameters=(), width=0.0), corrects)
    return kind, shard.problem.arms, shard.checkpoints, len(rule.parameters)


def play_together(shards: Sequence[Shard]) -> list[Outcome]:
    """Play shards that are all fit, in as few launches as memory allows; return their outcomes in order."""
    groups: dict[Any, list[int]] = defaultdict(list)
    for place, shard in enumerate(shards):
        groups[_kind(shard)].append(place)
    outcomes: dict[int, Outcome] = {}
    for (kind, arms, _, _), places in groups.items():
        limit = max(1, MEMORY // (8 * WORDS * arms))
        for some in _parts(places, [shards[place].runs for place in places], limit):
            made = _launch(kind, [shards[place] for place in some])
            outcomes |= dict(zip(some, made, strict=True))
    return [outcomes[place] for place in range(len(shards))]


def _parts(places: list[int], runs: list[int], limit: int) -> list[list[int]]:
    """Split places so that no part has more runs than the limit, if it has more than one place."""
    parts: list[list[int]] = [[]]
    total = 0
    for place, count in zip(places, runs, strict=True):
        if parts[-1] and total + count > limit:
            parts.append([])
            total = 0
        parts[-1].append(place)
        total += count
    return parts


def _launch(kind: Kind, shards: list[Shard]) -> list[Outcome]:
    arms, runs = shards[0].problem.arms, sum(shard.runs for shard in shards)
    counts = np.zeros((runs, arms), dtype=np.int64)
    regret = np.zeros((runs, len(shards[0].checkpoints)))
    numbers = np.concatenate([shard.first + np.arange(shard.runs) for shard in shards])
    numbers_of_shards = np.repeat(np.arange(len(shards)), [shard.runs for shard in shards])
    _episode(kind)(
        runs,
        *(scratch(runs * arms) for _ in range(WORDS)),
        counts,
        regret,
        read_only(numbers),
        read_only(numbers_of_shards),
        read_only(np.array([shard.seed for shard in shards], dtype=np.int64)),
        read_only(np.array([shard.problem.means for shard in shards], dtype=np.float64)),
        read_only(_rows([shard.policy.rule() for shard in shards])),
        read_only(_rows([shard.problem.noise.family() for shard in shards])),
        read_only(np.array(shards[0].checkpoints, dtype=np.int64)),
    )
    ends = np.cumsum([shard.runs for shard in shards])[:-1]
    parts = zip(np.split(regret, ends), np.split(counts, ends), strict=True)
    return [Outcome(some, pulls, np.empty((len(some), 0), dtype=np.int64)) for some, pulls in parts]


def _rows(sources: Sequence[Rule | Any]) -> Floats:
    """Return the parameters of each, a row each, with one more column: an array must have something in it."""
    return np.array([[*np.asarray(source.parameters, dtype=np.float64), 0.0] for source in sources])
