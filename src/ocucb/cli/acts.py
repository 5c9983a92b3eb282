"""What the demo plays: experiments, and what only the simulation knows of them."""

from __future__ import annotations

import random
from dataclasses import dataclass

from ocucb.labels import Label
from ocucb.noise import Bernoulli, Gaussian

LOST, DELAYED = 0.05, 0.20  # shares of rewards
LONGEST_DELAY = 20.0  # seconds


@dataclass(frozen=True)
class Act:
    """An experiment, with the true mean of each arm. Arms that a person adds are as good as the best so far."""

    name: str
    means: dict[Label, float]
    noise: Bernoulli | Gaussian
    window: float

    def reward(self, arm: Label, luck: random.Random) -> float:
        """Draw a reward of an arm."""
        mean = self.means.get(arm, max(self.means.values()))
        if isinstance(self.noise, Bernoulli):
            return float(luck.random() < mean)
        return luck.gauss(mean, self.noise.scale)

    def delay(self, luck: random.Random) -> float | None:
        """Draw how long a reward takes to come, in seconds; None if it never does."""
        fate = luck.random()
        if fate < LOST:
            return None
        return luck.uniform(1.0, LONGEST_DELAY) if fate < LOST + DELAYED else 0.0


ACTS = (
    Act(
        "button colours",
        {"blue": 0.10, "green": 0.26, "grey": 0.06, "orange": 0.18, "red": 0.15, "violet": 0.12},
        Bernoulli(),
        window=60.0,
    ),
    Act(
        "fifty headlines",
        {f"headline {number:02}": 1.0 - 0.9 * ((number * 17 + 33) % 50 / 49.0) ** 0.7 for number in range(1, 51)},
        Gaussian(scale=0.5),
        window=60.0,
    ),
)
