"""Problems: the means of the arms and how rewards spread around them, with names for the usual ones."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from ocucb.checks import above, real, whole
from ocucb.errors import ParameterError
from ocucb.noise import Bernoulli, Gaussian, Noise


@dataclass(frozen=True)
class Problem:
    """A stochastic bandit problem.

    Parameters
    ----------
    means : the expected reward of each arm, two arms or more.
    noise : how rewards spread around it.
    name : how tables and plots call it.
    """

    means: tuple[float, ...]
    noise: Noise = field(default_factory=Gaussian)
    name: str = "means"

    def __post_init__(self) -> None:
        means = tuple(real("means", mean, "give one number per arm") for mean in self.means)
        if len(means) < 2:
            raise ParameterError(f"means must name at least two arms, got {len(means)}")
        low, high = self.noise.support()
        for mean in means:
            if not low <= mean <= high:
                raise ParameterError(f"means under {self.noise} must lie between {low:g} and {high:g}, got {mean:g}")
        object.__setattr__(self, "means", means)

    @property
    def arms(self) -> int:
        """How many arms."""
        return len(self.means)

    @property
    def gaps(self) -> tuple[float, ...]:
        """How far each arm is below the best."""
        best = max(self.means)
        return tuple(best - mean for mean in self.means)


def worst_case(arms: int = 10, gap: float = 0.3) -> Problem:
    """Return one best arm and all others `gap` below it."""
    whole("arms", arms, 2, "two arms make a choice")
    above("gap", gap, 0.0, "the best arm must be better")
    return Problem((0.0,) + (-gap,) * (arms - 1), name=f"worst_case({arms}, {gap:g})")


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


NAMED: dict[str, Callable[..., Problem]] = {
    make.__name__: make
    for make in (worst_case, linear_gaps, moss_trap, mixed_gaps, bernoulli_worst_case, bernoulli_rare)
}
