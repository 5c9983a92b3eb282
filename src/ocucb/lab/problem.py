"""Problems: the means of the arms and how rewards spread around them, with names for the usual ones."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import pairwise
from pathlib import Path

import numpy as np

from ocucb.checks import above, real, whole
from ocucb.compiled import Floats
from ocucb.errors import ParameterError
from ocucb.lab.delays import Delay
from ocucb.lab.priors import EVEN, Prior
from ocucb.lab.rewards_from_data import RewardsFromData, read_rewards
from ocucb.noise import Bernoulli, Gaussian, Noise
from ocucb.notebook_table import MAX_ROWS, cell, html_table

NAMED_CHANGES = 4  # in a note


@dataclass(frozen=True)
class Problem:
    """A stochastic bandit problem.

    Parameters
    ----------
    means : the expected reward of each arm, two arms or more. If they are random, what is expected of them.
    noise : how rewards spread around it.
    name : how tables and plots call it.
    assumed : the noise that policies assume, if it is another.
    prior : the law from which means are drawn for each run; regret is then averaged over problems.
    changes : pairs of a round and the means from then on. Regret is against the best arm of each moment.
    smooth : means move evenly from one change to the next, and do not jump.
    delay : how many rounds late rewards are.
    """

    means: tuple[float, ...]
    noise: Noise = field(default_factory=Gaussian)
    name: str = "means"
    assumed: Noise | None = None
    prior: Prior | None = None
    changes: tuple[tuple[int, tuple[float, ...]], ...] = ()
    smooth: bool = False
    delay: Delay | None = None

    def __post_init__(self) -> None:
        means = _means(self.means, self.noise)
        if len(means) < 2:
            raise ParameterError(f"means must name at least two arms, got {len(means)}")
        object.__setattr__(self, "means", means)
        object.__setattr__(self, "changes", tuple(self._change(change) for change in self.changes))
        self._check_environment()

    def _change(self, change: tuple[int, tuple[float, ...]]) -> tuple[int, tuple[float, ...]]:
        at, means = whole("the round of a change", change[0], 2, "the first means are those of round 1"), change[1]
        if len(means) != self.arms:
            raise ParameterError(f"a change must have {self.arms} means, one per arm, got {len(means)} at round {at}")
        return at, _means(means, self.noise)

    def _check_environment(self) -> None:
        rounds = [at for at, _ in self.changes]
        for before, after in pairwise(rounds):
            if after <= before:
                raise ParameterError(f"rounds of changes must increase, got {after} after {before}; sort them")
        if self.changes and self.prior is not None:
            raise ParameterError("means must be random or change, got both; give a prior or changes")
        if isinstance(self.noise, RewardsFromData) and (self.changes or self.prior is not None):
            raise ParameterError(
                "rewards from data have the means of the data, got others; leave prior and changes out"
            )
        if self.smooth and not self.changes:
            raise ParameterError("smooth needs changes, got none; say in which round the means are which")
        if self.prior is not None:
            (low, high), (least, most) = self.prior.support(), self.noise.support()
            if low < least or high > most:
                raise ParameterError(
                    f"means drawn from {self.prior} under {self.noise} must lie between {least:g} and {most:g}; "
                    "use uniform, beta or a list within that"
                )

    def _repr_html_(self) -> str:
        best = max(self.means)
        shown = enumerate(self.means[:MAX_ROWS])
        rows = [[str(arm), cell(mean), cell(best - mean)] for arm, mean in shown]
        captions = [f"{self.name}, {self.noise}", *self.notes()]
        return html_table(captions, ("arm", "mean", "gap"), rows, self.arms - len(rows))

    @cached_property
    def assumed_noise(self) -> Noise:
        """The noise that policies assume."""
        if self.assumed is not None:
            return self.assumed
        return self.noise.suggested() if isinstance(self.noise, RewardsFromData) else self.noise

    @property
    def fixed(self) -> bool:
        """Whether each arm has one mean, in all runs and rounds."""
        return self.prior is None and not self.changes

    @property
    def plain(self) -> bool:
        """Whether means are fixed, rewards come at once, and policies assume the right noise."""
        return self.fixed and self.delay is None and self.assumed_noise == self.noise

    @cached_property
    def places(self) -> tuple[float, ...] | None:
        """What the law of rewards takes for a mean where that is not the mean, namely the place of an arm in data."""
        return tuple(map(float, range(self.arms))) if isinstance(self.noise, RewardsFromData) else None

    def means_of_runs(self, seed: int, first: int, runs: int) -> Floats:
        """Return the means of each run if they are random, a row each; else those of each stretch."""
        if self.prior is not None:
            return self.prior.draw(seed, first, runs, self.arms)
        return np.array([self.means, *(means for _, means in self.changes)])

    def notes(self) -> list[str]:
        """Say, a sentence each, in what the problem is not plain."""
        notes = []
        if self.prior is not None:
            notes.append(f"Bayesian regret: the means of each run are drawn from {self.prior}")
        if self.changes:
            how = "move until" if self.smooth else "change in"
            few = [f"{at:,}" for at, _ in self.changes[:NAMED_CHANGES]]
            more = f" and {len(self.changes) - NAMED_CHANGES} more" if len(self.changes) > NAMED_CHANGES else ""
            notes.append(f"means {how} rounds {', '.join(few)}{more}; regret is against the best arm of each moment")
        if self.delay is not None:
            lost = f", {100 * self.delay.lost:g} % of them never" if self.delay.lost else ""
            notes.append(f"rewards come late{lost}: {self.delay} rounds")
        if isinstance(self.noise, RewardsFromData):
            notes.append(f"rewards are drawn from {self.noise.path}; policies assume {self.assumed_noise}")
        elif self.assumed_noise != self.noise:
            notes.append(f"policies assume {self.assumed_noise}, but rewards are {self.noise}")
        return notes

    @cached_property
    def arms(self) -> int:
        """How many arms."""
        return len(self.means)

    @cached_property
    def gaps(self) -> tuple[float, ...]:
        """How far each arm is below the best."""
        best = max(self.means)
        return tuple(best - mean for mean in self.means)


def _means(given: Iterable[float], noise: Noise) -> tuple[float, ...]:
    means = tuple(real("means", mean, "give one number per arm") for mean in given)
    low, high = noise.support()
    for mean in means:
        if not low <= mean <= high:
            raise ParameterError(f"means under {noise} must lie between {low:g} and {high:g}, got {mean:g}")
    return means


def worst_case(arms: int = 10, gap: float = 0.3, best: float = 0.0) -> Problem:
    """Return one arm of mean `best` and all others `gap` below it."""
    whole("arms", arms, 2, "two arms make a choice")
    above("gap", gap, 0.0, "the best arm must be better")
    tail = f", {best:g}" if best else ""
    return Problem((best,) + (best - gap,) * (arms - 1), name=f"worst_case({arms}, {gap:g}{tail})")


def linear_gaps(arms: int = 10) -> Problem:
    """Return gaps 0, 1/K, 2/K, ... (K - 1)/K."""
    whole("arms", arms, 2, "two arms make a choice")
    return Problem(tuple(-i / arms for i in range(arms)), name=f"linear_gaps({arms})")


def moss_trap(arms: int = 10) -> Problem:
    """Return one gap of 1/(4K) and all others 1: where counting all K arms as rivals misleads MOSS."""
    whole("arms", arms, 3, "the trap needs a third arm")
    return Problem((0.0, -1.0 / (4 * arms)) + (-1.0,) * (arms - 2), name=f"moss_trap({arms})")


def mixed_gaps() -> Problem:
    """Return ten arms with gaps 0, 0.1, 0.5 and 1, as in the author's experiments."""
    return Problem((0.0,) + (-0.1,) * 3 + (-0.5,) * 3 + (-1.0,) * 3, name="mixed_gaps")


def bernoulli_worst_case(arms: int = 10, best: float = 0.5, gap: float = 0.1) -> Problem:
    """Return Bernoulli arms: one of mean `best`, all others `gap` below it."""
    whole("arms", arms, 2, "two arms make a choice")
    above("gap", gap, 0.0, "the best arm must be better")
    return Problem(
        (best,) + (best - gap,) * (arms - 1), Bernoulli(), f"bernoulli_worst_case({arms}, {best:g}, {gap:g})"
    )


def bernoulli_rare() -> Problem:
    """Return ten Bernoulli arms with rare successes: 0.1, then 0.05, 0.02 and 0.01 three times each."""
    return Problem((0.1,) + (0.05,) * 3 + (0.02,) * 3 + (0.01,) * 3, Bernoulli(), "bernoulli_rare")


def random(
    arms: int = 10,
    prior: str = EVEN,
    a: float | None = None,
    b: float | None = None,
    values: Sequence[float] = (),
) -> Problem:
    """Return arms whose means are drawn for each run: uniform(a, b), beta(a, b), normal(a, b), or one of `values`."""
    whole("arms", arms, 2, "two arms make a choice")
    standard = {"beta": (1.0, 1.0)}.get(prior, (0.0, 1.0))
    first, second = standard[0] if a is None else a, standard[1] if b is None else b
    law = Prior(prior, tuple(values) if prior == "list" else (first, second))
    entries = f"values=[{', '.join(f'{one:g}' for one in law.parameters)}]"
    inside = entries if prior == "list" else ", ".join(f"{one:g}" for one in law.parameters)
    return Problem((law.mean(),) * arms, name=f"random({arms}, {prior}, {inside})", prior=law)


def _turning(arms: int, gap: float, every: int, stretches: int, best: float) -> list[tuple[float, ...]]:
    """Return the means of each stretch: the best arm is the first, then the second, and so on."""
    whole("arms", arms, 2, "two arms make a choice")
    whole("every", every, 1, "give the rounds of a stretch")
    whole("stretches", stretches, 2, "a change needs two stretches")
    above("gap", gap, 0.0, "the best arm must be better")
    return [tuple(best if arm == s % arms else best - gap for arm in range(arms)) for s in range(stretches)]


def switching(arms: int = 10, gap: float = 0.3, every: int = 2000, stretches: int = 5, best: float = 0.0) -> Problem:
    """Return means that jump: after each `every` rounds the next arm is the best, all others are `gap` below it."""
    means = _turning(arms, gap, every, stretches, best)
    changes = tuple((1 + every * s, means[s]) for s in range(1, stretches))
    name = f"switching({arms}, {gap:g}, {every}, {stretches}, {best:g})"
    return Problem(means[0], name=name, changes=changes)


def rotating(arms: int = 10, gap: float = 0.3, every: int = 2000, stretches: int = 5, best: float = 0.0) -> Problem:
    """Return means that move evenly from one best arm to the next, in `every` rounds each."""
    jumping = switching(arms, gap, every, stretches, best)
    return replace(jumping, name=jumping.name.replace("switching", "rotating"), smooth=True)


def from_data(path: str) -> Problem:
    """Return arms whose rewards are drawn from a CSV or Parquet file of (arm, reward, count)."""
    rewards = read_rewards(path)
    return Problem(rewards.means, rewards, f"data {Path(path).name}")


NAMED: dict[str, Callable[..., Problem]] = {
    make.__name__: make
    for make in (
        worst_case,
        linear_gaps,
        moss_trap,
        mixed_gaps,
        bernoulli_worst_case,
        bernoulli_rare,
        random,
        switching,
        rotating,
    )
}
