"""Numbers for Prometheus. Labels are templates of routes, statuses and outcomes: few, whatever callers send."""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterator
from itertools import accumulate

from prometheus_client import CollectorRegistry, Counter, Gauge
from prometheus_client.core import CounterMetricFamily, HistogramMetricFamily, Metric
from prometheus_client.exposition import generate_latest
from prometheus_client.registry import Collector

from ocucb.service.engine import Engine

BUCKETS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0)


class Answers(Collector):
    """Answers by route and status, and how long they took by route. Counting costs little, for it happens to each."""

    def __init__(self) -> None:
        self._counts: defaultdict[tuple[str, int], int] = defaultdict(int)
        self._times: defaultdict[str, list[int]] = defaultdict(lambda: [0] * (len(BUCKETS) + 1))
        self._sums: defaultdict[str, float] = defaultdict(float)

    def note(self, route: str, status: int, seconds: float) -> None:
        """Count an answer."""
        self._counts[route, status] += 1
        self._times[route][bisect_left(BUCKETS, seconds)] += 1
        self._sums[route] += seconds

    def collect(self) -> Iterator[Metric]:
        requests = CounterMetricFamily("ocucb_http_requests", "Requests answered.", labels=["route", "status"])
        for (route, status), count in self._counts.items():
            requests.add_metric([route, str(status)], count)
        yield requests
        seconds = HistogramMetricFamily("ocucb_http_request_seconds", "Time to an answer.", labels=["route"])
        for route, counts in self._times.items():
            upto = zip((*map(str, BUCKETS), "+Inf"), accumulate(counts), strict=True)
            seconds.add_metric([route], [(edge, float(count)) for edge, count in upto], self._sums[route])
        yield seconds


class Metrics:
    """The counters of one app, in a registry of their own."""

    def __init__(self, engine: Engine) -> None:
        self.registry = CollectorRegistry()
        answers = Answers()
        self.registry.register(answers)
        self.answered = answers.note
        self.decisions = Counter("ocucb_decisions", "Decisions made, without repeated ones.", registry=self.registry)
        self.rewards = Counter(
            "ocucb_rewards",
            "Rewards by what became of them: an outcome, or the code of an error.",
            ["outcome"],
            registry=self.registry,
        )
        waiting = Gauge("ocucb_engine_waiting", "Requests that wait for a transaction.", registry=self.registry)
        waiting.set_function(lambda: engine.waiting)
        trouble = Gauge("ocucb_engine_trouble", "1 while the database does not work.", registry=self.registry)
        trouble.set_function(lambda: float(engine.trouble is not None))

    def text(self) -> bytes:
        """Return all numbers as Prometheus reads them."""
        return generate_latest(self.registry)
