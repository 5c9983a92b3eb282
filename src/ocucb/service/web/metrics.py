"""Numbers for Prometheus. Labels are templates of routes, statuses and outcomes: few, whatever callers send."""

from __future__ import annotations

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram
from prometheus_client.exposition import generate_latest

from ocucb.service.engine import Engine

BUCKETS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0)


class Metrics:
    """The counters of one app, in a registry of their own."""

    def __init__(self, engine: Engine) -> None:
        self.registry = CollectorRegistry()
        self._requests = Counter(
            "ocucb_http_requests", "Requests answered.", ["route", "status"], registry=self.registry
        )
        self._seconds = Histogram(
            "ocucb_http_request_seconds", "Time to an answer.", ["route"], buckets=BUCKETS, registry=self.registry
        )
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
        self._known: dict[tuple[str, int], tuple[Counter, Histogram]] = {}

    def answered(self, route: str, status: int, seconds: float) -> None:
        """Count an answer."""
        pair = self._known.get((route, status))
        if pair is None:
            pair = self._requests.labels(route, str(status)), self._seconds.labels(route)
            self._known[route, status] = pair
        pair[0].inc()
        pair[1].observe(seconds)

    def text(self) -> bytes:
        """Return all numbers as Prometheus reads them."""
        return generate_latest(self.registry)
