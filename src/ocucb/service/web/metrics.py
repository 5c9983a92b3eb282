"""Numbers for Prometheus. Labels are templates of routes, statuses, outcomes and some experiments: not many."""

from __future__ import annotations

import time
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterator
from itertools import accumulate

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily, Metric
from prometheus_client.exposition import generate_latest
from prometheus_client.registry import Collector

from ocucb.service.engine import Engine
from ocucb.service.node_directory import NodeDirectory

MAX_EXPERIMENTS = 1000
OTHER_EXPERIMENTS = ""  # the label of all experiments beyond these: a name is never empty
BUCKETS_REQUESTS = (1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024)
BUCKETS_SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0)


class AnswerCounts(Collector):
    """Counts answers by route and status, and how long they took. For one thread.

    Prometheus' own counters take 6 µs for an answer; these are plain numbers, put into its words when it asks.
    """

    def __init__(self) -> None:
        self._answers: dict[tuple[str, int], int] = {}
        self._seconds: dict[str, float] = defaultdict(float)
        self._buckets: dict[str, list[int]] = {}
        self._created: dict[tuple[str, int], float] = {}

    def count(self, route: str, status: int, seconds: float) -> None:
        """Count an answer, and how long it took."""
        buckets = self._buckets.get(route)
        if buckets is None:
            buckets = self._buckets[route] = [0] * (len(BUCKETS_SECONDS) + 1)
        buckets[bisect_left(BUCKETS_SECONDS, seconds)] += 1
        self._seconds[route] += seconds
        key = route, status
        if key not in self._answers:
            self._answers[key], self._created[key] = 0, time.time()
        self._answers[key] += 1

    def collect(self) -> Iterator[Metric]:
        """Yield the numbers as Prometheus has them."""
        requests = CounterMetricFamily("ocucb_http_requests", "Requests answered.", labels=["route", "status"])
        for (route, status), count in list(self._answers.items()):
            requests.add_metric([route, str(status)], count, created=self._created[route, status])
        yield requests
        seconds = HistogramMetricFamily("ocucb_http_request_seconds", "Time to an answer.", labels=["route"])
        ends = [*map(str, BUCKETS_SECONDS), "+Inf"]
        for route, counts in list(self._buckets.items()):
            buckets = [(end, float(count)) for end, count in zip(ends, accumulate(counts), strict=True)]
            seconds.add_metric([route], buckets, self._seconds[route])
            began = min(at for (name, _), at in self._created.items() if name == route)
            seconds.add_sample("ocucb_http_request_seconds_created", {"route": route}, began)
        yield seconds


class _ExperimentCounter:
    """What was counted of one experiment."""

    __slots__ = ("created", "decisions", "reward_sum", "rewards")

    def __init__(self) -> None:
        self.created, self.decisions, self.rewards, self.reward_sum = time.time(), 0, 0, 0.0


class ExperimentCounts(Collector):
    """Counts decisions and rewards by experiment, as this node has served them since it started. For one thread.

    Plain numbers, as those of the answers; of a bounded number of experiments.
    """

    def __init__(self) -> None:
        self._created = time.time()
        self._experiments: dict[str, _ExperimentCounter] = {}

    def decided(self, experiment: str, count: int) -> None:
        """Count decisions."""
        if count:
            found = self._experiments.get(experiment) or self._add(experiment)
            found.decisions += count

    def rewarded(self, experiment: str, value: float) -> None:
        """Count a reward."""
        found = self._experiments.get(experiment) or self._add(experiment)
        found.rewards += 1
        found.reward_sum += value

    def _add(self, experiment: str) -> _ExperimentCounter:
        label = experiment if len(self._experiments) < MAX_EXPERIMENTS else OTHER_EXPERIMENTS
        return self._experiments.setdefault(label, _ExperimentCounter())

    def collect(self) -> Iterator[Metric]:
        """Yield the numbers as Prometheus has them."""
        found = list(self._experiments.items())
        total = sum(counts.decisions for _, counts in found)
        yield CounterMetricFamily(
            "ocucb_decisions", "Decisions made, without repeated ones.", value=total, created=self._created
        )
        of_experiment = ["experiment"]
        decisions = CounterMetricFamily(
            "ocucb_experiment_decisions", "Decisions made, without repeated ones.", labels=of_experiment
        )
        rewards = CounterMetricFamily("ocucb_experiment_rewards", "Rewards that were counted.", labels=of_experiment)
        sums = GaugeMetricFamily("ocucb_experiment_reward_sum", "The sum of these rewards.", labels=of_experiment)
        for label, counts in found:
            decisions.add_metric([label], counts.decisions, created=counts.created)
            rewards.add_metric([label], counts.rewards, created=counts.created)
            sums.add_metric([label], counts.reward_sum)
        yield from (decisions, rewards, sums)


class ForwardedCounts(Collector):
    """Counts requests that are passed on, as plain numbers. For one thread."""

    def __init__(self) -> None:
        self.answered = self.served_here = 0
        self._created = time.time()

    def collect(self) -> Iterator[Metric]:
        """Yield the numbers as Prometheus has them."""
        about = "Requests passed on to the home of their experiment: answered by it, or served here after all."
        forwarded = CounterMetricFamily("ocucb_forwarded_requests", about, labels=["outcome"])
        forwarded.add_metric(["answered"], self.answered, created=self._created)
        forwarded.add_metric(["served here"], self.served_here, created=self._created)
        yield forwarded


class Metrics:
    """The counters of one app, in a registry of their own."""

    def __init__(self, engine: Engine, directory: NodeDirectory | None = None) -> None:
        self.registry = CollectorRegistry()
        self.answers = AnswerCounts()
        self.registry.register(self.answers)
        self.experiments = ExperimentCounts()
        self.registry.register(self.experiments)
        self.rewards = Counter(
            "ocucb_rewards",
            "Rewards by what became of them: an outcome, or the code of an error.",
            ["outcome"],
            registry=self.registry,
        )
        self.corrections = Counter(
            "ocucb_corrections",
            "Corrections of rewards by what became of them: an outcome, or the code of an error.",
            ["outcome"],
            registry=self.registry,
        )
        self.verdicts = Counter(
            "ocucb_verdicts",
            "Verdicts asked for, by what they were: open, a winner, or the code of an error.",
            ["outcome"],
            registry=self.registry,
        )
        self.forwarded = ForwardedCounts()
        self.registry.register(self.forwarded)
        nodes = Gauge(
            "ocucb_nodes", "Nodes that serve, itself included; 0 without --advertise.", registry=self.registry
        )
        nodes.set_function(lambda: 0 if directory is None else len(directory.nodes))
        waiting = Gauge("ocucb_engine_waiting", "Requests that wait for a transaction.", registry=self.registry)
        waiting.set_function(lambda: engine.waiting)
        loading = Gauge("ocucb_engine_loading", "Those whose experiment is read into memory.", registry=self.registry)
        loading.set_function(lambda: engine.loading)
        lag = Gauge(
            "ocucb_engine_lag_seconds", "How long the request waited that was served last.", registry=self.registry
        )
        lag.set_function(lambda: engine.lag)
        cached = Gauge("ocucb_engine_experiments", "Experiments in memory.", registry=self.registry)
        cached.set_function(lambda: engine.cached_experiments)
        damaged = Gauge(
            "ocucb_engine_damaged_experiments", "Experiments whose log cannot be read.", registry=self.registry
        )
        damaged.set_function(lambda: engine.damaged_experiments)
        sizes = Histogram(
            "ocucb_engine_batch_requests",
            "Requests in a transaction.",
            buckets=BUCKETS_REQUESTS,
            registry=self.registry,
        )
        durations = Histogram(
            "ocucb_engine_batch_seconds", "Time for a transaction.", buckets=BUCKETS_SECONDS, registry=self.registry
        )

        def observe_batch(size: int, seconds: float) -> None:
            sizes.observe(size)
            durations.observe(seconds)

        engine.observe_batch = observe_batch
        trouble = Gauge("ocucb_engine_trouble", "1 while the database does not work.", registry=self.registry)
        trouble.set_function(lambda: float(engine.store_error is not None))

    def text(self) -> bytes:
        """Return all numbers as Prometheus reads them."""
        return generate_latest(self.registry)
