"""The experiments of the demo, and what only its simulation knows of them."""

from __future__ import annotations

import random
from dataclasses import dataclass

from ocucb.labels import Label
from ocucb.noise import Bernoulli, Gaussian, Noise

LOST, DELAYED = 0.05, 0.20  # shares of rewards
LONGEST_DELAY = 20.0  # seconds


@dataclass(frozen=True)
class DemoExperiment:
    """An experiment, with the true mean of each arm. Arms that a person adds are as good as the best so far."""

    name: str
    means: dict[Label, float]
    noise: Noise
    window: float

    def reward(self, arm: Label, rng: random.Random) -> float:
        """Draw a reward of an arm."""
        return self.noise.sample(self.means.get(arm, max(self.means.values())), rng)

    def delay(self, rng: random.Random) -> float | None:
        """Draw how long a reward takes to come, in seconds; None if it never does."""
        share = rng.random()
        if share < LOST:
            return None
        return rng.uniform(1.0, LONGEST_DELAY) if share < LOST + DELAYED else 0.0


# No arm is called after a colour: a page draws arms in colours of its own.
DEMO_EXPERIMENTS = (
    DemoExperiment(
        "page layouts",
        {"banner": 0.10, "cards": 0.26, "carousel": 0.06, "grid": 0.18, "list": 0.15, "video": 0.12},
        Bernoulli(),
        window=60.0,
    ),
    DemoExperiment(
        "fifty headlines",
        {f"headline {number:02}": 1.0 - 0.9 * ((number * 17 + 33) % 50 / 49.0) ** 0.7 for number in range(1, 51)},
        Gaussian(scale=0.5),
        window=60.0,
    ),
)
