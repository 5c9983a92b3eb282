"""What the tests of the client ask the service itself, past the client under test."""

from __future__ import annotations

from ocucb_client import Client
from service.server import Server

PATIENCE = 120.0


def key_of(server: Server) -> str:
    """Return the admin key that a service showed at its first start."""
    assert server.key is not None
    return server.key


def decide(admin: Client, name: str, number: int) -> list[str]:
    """Return the ids of so many decisions."""
    return [one.id for done in range(0, number, 1000) for one in admin.decide(name, count=min(1000, number - done))]


def rewarded(admin: Client, name: str) -> dict[str, float]:
    """Return which decisions have which reward."""
    return {row.decision: row.reward for row in admin.export(name) if row.reward is not None}
