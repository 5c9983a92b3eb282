"""Callers over HTTP who insist: each asks with a key until it is answered, and notes what it was told."""

from __future__ import annotations

import random
import threading
import time
from collections import Counter
from typing import Any

import httpx

from service.load import EXPERIMENT, Noted
from service.server import NO_TLS

PATIENCE = 60.0


class Callers:
    """Threads that decide and reward at some nodes, and the notes of all of them."""

    def __init__(self, urls: list[str], key: str, each: int) -> None:
        self.noted = Noted({}, {}, {})
        self.statuses: Counter[int] = Counter()
        self.problems: list[str] = []
        self.answered = [0] * len(urls)
        self._headers = {"Authorization": f"Bearer {key}"}
        self._done = threading.Event()
        self._threads = [
            threading.Thread(target=self._call, args=(node, url, f"node {node} caller {caller}"))
            for node, url in enumerate(urls)
            for caller in range(each)
        ]

    def __enter__(self) -> Callers:
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def stop(self) -> None:
        """Let nobody ask any more."""
        self._done.set()
        for thread in self._threads:
            thread.join()

    def wait(self, node: int, more: int) -> None:
        """Wait until a node has answered so many more requests."""
        goal, end = self.answered[node] + more, time.monotonic() + PATIENCE
        while self.answered[node] < goal:
            assert time.monotonic() < end, f"node {node} does not go on; {self.statuses} {self.problems[:3]}"
            time.sleep(0.005)

    def _call(self, node: int, url: str, name: str) -> None:
        draw, number = random.Random(name), 0
        verify = NO_TLS if url.startswith("http:") else True
        with httpx.Client(base_url=url, headers=self._headers, timeout=30.0, verify=verify) as client:
            while not self._done.is_set():
                number += 1
                key = f"{name}.{number}"
                unit = f"unit {draw.randrange(500)}" if draw.random() < 0.2 else None
                self.noted.asked[key] = unit
                path = f"/v1/experiments/{EXPERIMENT}/decisions"
                body: dict[str, object] = {} if unit is None else {"unit": unit}
                answer = self._insist(node, client, path, body, {"Idempotency-Key": key})
                if answer is None:
                    return
                decision = answer["decisions"][0]["id"]
                self.noted.decided[key] = decision
                value = draw.random()
                if draw.random() < 0.8:
                    told = self._insist(node, client, "/v1/rewards", {"decision": decision, "reward": value})
                    if told is not None and told.get("outcome") == "counted":
                        self.noted.rewarded[decision] = value

    def _insist(
        self, node: int, client: httpx.Client, path: str, body: dict[str, object], headers: dict[str, str] | None = None
    ) -> dict[str, Any] | None:
        """Ask until there is an answer that is no failure, as a client with an idempotency key does."""
        while not self._done.is_set():
            try:
                answer = client.post(path, json=body, headers=headers)
            except httpx.TransportError:
                time.sleep(0.05)  # many who ask a server that starts would take its time
                continue
            self.statuses[answer.status_code] += 1
            if answer.status_code == 503:
                if "Retry-After" not in answer.headers:
                    self.problems.append("503 without Retry-After")
                time.sleep(0.05)
            elif answer.status_code == 408:  # on a busy machine the caller was slow; a client asks again as well
                if "not stored" not in answer.json()["error"]["message"]:
                    self.problems.append(f"408 {answer.text[:200]}")
                time.sleep(0.05)
            elif answer.status_code in (200, 409, 410):  # a sticky decision may have its reward, or be too late
                self.answered[node] += 1
                found: dict[str, Any] = answer.json()
                return found
            else:
                self.problems.append(f"{answer.status_code} {answer.text[:200]}")
                time.sleep(0.05)
        return None
