"""The guide's bytes per decision and per reward, measured again."""

from __future__ import annotations

import re
from concurrent.futures import ThreadPoolExecutor

import pytest

from ocucb.service.requests import Decide, Reward
from ocucb.service.stores import Store
from service.guide.machine import GUIDE
from service.helpers import Node

MANY = 4000
SIZES = {
    "sqlite": "SELECT page_count * page_size FROM pragma_page_count(), pragma_page_size()",
    # Not of the whole database: PostgreSQL tidies up its own catalogue when it likes, and what other tests left there.
    "postgresql": "SELECT sum(pg_relation_size(oid)) FROM pg_class WHERE relnamespace = 'public'::regnamespace",
}


def size(store: Store) -> int:
    with store.read() as transaction:
        connection = transaction.connection
        return int(connection.exec_driver_sql(SIZES[connection.dialect.name]).scalar_one())


def claimed(address: str) -> list[float]:
    """Return what the guide says of a decision and of a reward."""
    rows = re.findall(r"^\| (?:decision|reward) \| (\d+) \| (\d+) \|$", GUIDE.read_text("utf-8"), flags=re.MULTILINE)
    return [float(row[not address.startswith("sqlite")]) for row in rows]


def test_bytes_per_decision_and_reward(address: str) -> None:
    node = Node(address)
    try:
        node.create(arms=tuple(f"arm-{number:02}" for number in range(10)))
        sizes = [size(node.store)]
        ids = [one.id for _ in range(MANY // 1000) for one in node.ask(Decide("colours", count=1000))]
        sizes.append(size(node.store))
        with ThreadPoolExecutor(16) as pool:
            list(pool.map(lambda one: node.ask(Reward(one, 0.5)), ids))
        sizes.append(size(node.store))
    finally:
        node.close()
    measured = [(sizes[i + 1] - sizes[i]) / MANY for i in range(2)]
    assert measured == pytest.approx(claimed(address), rel=0.2)
