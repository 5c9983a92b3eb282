"""A running service as its visitors and its callers see it."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import quote

import httpx
from playwright.sync_api import Browser, ConsoleMessage, Page

from browser import SLOW_MACHINE, Scheme
from ocucb.service.access import Access
from ocucb.service.stores import Store
from service.helpers import PATIENT
from service.server import NO_TLS, PATIENCE, Server

COOKIE = "ocucb_session"
PHONE, DESK = 375, 1200


class Site(Server):
    """`ocucb serve` on an SQLite file, its first key, and a way round it to the database."""

    def __init__(self, folder: Path, *words: str) -> None:
        super().__init__(folder, *words)
        self.store = Store(f"sqlite:///{folder / 'ocucb.db'}", PATIENT)
        self.access = Access(self.store)
        assert self.key is not None
        self.admin = self.key

    def __enter__(self) -> Site:
        return self

    def __exit__(self, *what: object) -> None:
        self.store.close()
        super().__exit__(*what)

    def make_key(self, *roles: str, experiments: list[str] | None = None, name: str = "made") -> str:
        return self.access.make(name, roles, experiments)[1]

    def create(self, name: str, arms: list[Any], **what: Any) -> None:
        body = {"name": name, "arms": arms, "noise": "bernoulli", "seed": 1, **what}
        assert self.ask("POST", "/v1/experiments", self.admin, json=body).status_code == 201

    def decide(self, name: str, count: int) -> list[dict[str, Any]]:
        answer = self.ask("POST", f"/v1/experiments/{quote(name)}/decisions", self.admin, json={"count": count})
        assert answer.status_code == 200, answer.text
        return list(answer.json()["decisions"])

    def stream(self, name: str, chances: Mapping[Any, float], rounds: int, batch: int = 20, seed: int = 1) -> None:
        """Decide and reward, as a caller with users would."""
        users = random.Random(seed)
        for _ in range(rounds):
            decisions = self.decide(name, batch)
            rewards = [
                {"decision": made["id"], "reward": float(users.random() < chances[made["arm"]])} for made in decisions
            ]
            answer = self.ask("POST", "/v1/rewards", self.admin, json={"rewards": rewards})
            assert answer.status_code == 200, answer.text

    @contextmanager
    def client(self, key: str | None = None) -> Iterator[httpx.Client]:
        """A browser without a screen; logged in, if a key is given."""
        with httpx.Client(base_url=self.url, timeout=PATIENCE, verify=NO_TLS) as client:
            if key is not None:
                assert client.post("/login", data={"key": key}).status_code == 303
            yield client

    @contextmanager
    def visit(self, browser: Browser, width: int = DESK, scheme: Scheme = "light", **what: Any) -> Iterator[Seen]:
        """A browser with a profile of its own."""
        context = browser.new_context(
            base_url=self.url, color_scheme=scheme, viewport={"width": width, "height": 900}, **what
        )
        context.set_default_timeout(SLOW_MACHINE)
        seen = Seen(context.new_page())

        def heard(message: ConsoleMessage) -> None:
            seen.complaints.append(f"{message.type}: {message.text}")

        seen.page.on("console", heard)
        seen.page.on("pageerror", lambda error: seen.complaints.append(str(error)))
        seen.page.on("request", lambda request: seen.requests.append(request.url))
        try:
            yield seen
        finally:
            context.close()

    def let_in(self, seen: Seen, key: str) -> None:
        """Show the list to somebody who is logged in: by a request of our own, where the form is not what is tested."""
        with self.client(key) as client:
            seen.page.context.add_cookies([{"name": COOKIE, "value": client.cookies[COOKIE], "url": self.url}])
        seen.page.goto("/")

    def is_local(self, url: str) -> bool:
        return url.startswith((f"{self.url}/", "data:"))


@dataclass
class Seen:
    """A page in a browser, and all that it complained about or asked the network for."""

    page: Page
    complaints: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)

    def log_in(self, key: str) -> None:
        self.page.goto("/login")
        self.page.get_by_label("API key").fill(key)
        self.page.get_by_role("button", name="Log in").click()
        self.page.wait_for_url(re.compile(r"^(?!.*/login)"))


def token_of(page: httpx.Response) -> str:
    """Return the token that the forms of a page carry."""
    found = re.search(r'name="csrf" value="([^"]+)"', page.text)
    assert found is not None, page.text
    return found[1]
