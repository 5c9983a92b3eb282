"""Numbers of each experiment for Prometheus, of a bounded number of experiments."""

from __future__ import annotations

from typing import NamedTuple

from prometheus_client import CollectorRegistry, Counter, Gauge

MAX_EXPERIMENTS = 1000
OTHERS = ""  # the label of all experiments beyond these: a name is never empty


class _Numbers(NamedTuple):
    decisions: Counter
    rewards: Counter
    reward_sum: Gauge


class ExperimentMetrics:
    """Counts decisions and rewards by experiment, as this node has served them since it started."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self._decisions = Counter(
            "ocucb_experiment_decisions", "Decisions made, without repeated ones.", ["experiment"], registry=registry
        )
        self._rewards = Counter(
            "ocucb_experiment_rewards", "Rewards that were counted.", ["experiment"], registry=registry
        )
        self._reward_sum = Gauge(
            "ocucb_experiment_reward_sum", "The sum of these rewards.", ["experiment"], registry=registry
        )
        self._of_experiment: dict[str, _Numbers] = {}

    def decided(self, experiment: str, count: int) -> None:
        """Count decisions."""
        if count:
            self._numbers(experiment).decisions.inc(count)

    def rewarded(self, experiment: str, value: float) -> None:
        """Count a reward."""
        numbers = self._numbers(experiment)
        numbers.rewards.inc()
        numbers.reward_sum.inc(value)

    def _numbers(self, experiment: str) -> _Numbers:
        """Return the numbers of an experiment; to find them by their label would take longer than to count."""
        found = self._of_experiment.get(experiment)
        if found is None:
            if len(self._of_experiment) >= MAX_EXPERIMENTS and experiment != OTHERS:
                return self._numbers(OTHERS)
            found = self._of_experiment[experiment] = _Numbers(
                self._decisions.labels(experiment),
                self._rewards.labels(experiment),
                self._reward_sum.labels(experiment),
            )
        return found
