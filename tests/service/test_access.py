"""API keys: made once, known to all nodes, refused at once when revoked."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import pytest

from ocucb.errors import OcucbError
from ocucb.service.access import ROLES, Access
from ocucb.service.callers import ThreadCaller
from ocucb.service.engine import Engine
from ocucb.service.errors import DeniedError, RequestError, UnknownKeyError
from ocucb.service.requests import Decide, Inspect
from ocucb.service.stores import Store
from service.helpers import PATIENCE, PATIENT, QUIET, ManualClock, Node


@pytest.fixture
def access(node: Node, clock: ManualClock) -> Access:
    return Access(node.store, clock)


def test_the_first_key_is_made_once(node: Node, access: Access, clock: ManualClock) -> None:
    text = access.make_first_key()
    assert text is not None
    key = access.identify(text)
    assert key is not None
    assert (key.name, key.roles, key.experiments, key.created) == ("first", frozenset({"admin"}), None, clock.time)
    assert access.make_first_key() is None
    access.revoke(key.id)
    assert access.make_first_key() is None
    assert Access(node.store).make_first_key() is None


def test_of_many_nodes_that_start_one_makes_the_first_key(address: str) -> None:
    made: list[str | None] = []

    def begin() -> None:
        store = Store(address, PATIENT)
        store.migrate()
        made.append(Access(store).make_first_key())
        store.close()

    threads = [threading.Thread(target=begin) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(made) == 6
    assert sum(text is not None for text in made) == 1


def test_a_key_is_recognised_by_all_of_its_text(access: Access) -> None:
    key, text = access.make("app", ["decide", "reward", "decide"], ["colours"])
    assert access.identify(text) == access.find(key.id) == key
    assert key.roles == {"decide", "reward"}
    other = access.make("other", ["read"])[1]
    half = len("ocucb_") + 13
    strangers = ["", "ocucb_", text[:-1], text + "x", text.upper(), text[:half] + other[half:], "é" * 62, text[6:]]
    assert [access.identify(stranger) for stranger in strangers] == [None] * len(strangers)


def test_the_database_has_no_secret(node: Node, access: Access) -> None:
    text = access.make("app", ["read"])[1]
    with node.store.read() as transaction:
        rows = transaction.connection.exec_driver_sql("SELECT * FROM api_keys").all()
    assert text.split("_", 2)[2] not in str(rows)


def test_roles_and_experiments(access: Access) -> None:
    admin, narrow = access.make("root", ["admin"])[0], access.make("narrow", ["read"], ["a", "b"])[0]
    assert all(admin.may(role) for role in ROLES)
    assert [narrow.may(role) for role in ROLES] == [False, False, False, False, True]
    assert admin.sees("anything")
    assert [narrow.sees(name) for name in ("a", "b", "c")] == [True, True, False]


@pytest.mark.parametrize(
    ("name", "roles", "experiments"),
    [
        ("", ["read"], None),
        ("x" * 201, ["read"], None),
        ("nul\0", ["read"], None),
        ("no role", [], None),
        ("wrong role", ["root"], None),
        ("admin of some", ["admin", "read"], ["a"]),
        ("of none", ["read"], []),
        ("of too many", ["read"], [str(number) for number in range(1001)]),
        ("of no name", ["read"], ["a/b"]),
    ],
)
def test_bad_keys(access: Access, name: str, roles: list[str], experiments: list[str] | None) -> None:
    with pytest.raises(OcucbError):
        access.make(name, roles, experiments)
    assert access.list_keys() == []


def test_keys_by_pages(access: Access) -> None:
    made = sorted(access.make(f"key {number}", ["read"])[0] for number in range(5))
    assert access.list_keys(limit=3) == made[:3]
    assert access.list_keys(after=made[2].id) == made[3:]
    revoked = access.revoke(made[0].id)
    assert revoked.revoked is not None
    assert access.list_keys()[0] == revoked == access.revoke(made[0].id)
    with pytest.raises(UnknownKeyError):
        access.revoke("nobody")


def test_a_key_revoked_elsewhere_is_refused_at_once(
    address: str, start: Callable[..., Node], clock: ManualClock
) -> None:
    """The node that is asked has the key in memory and hears of nothing; its next batch refuses the key."""
    node = start()
    access = Access(node.store, clock)
    engine = Engine(node.store, clock, QUIET, access).start()
    caller = ThreadCaller(engine, PATIENCE)
    elsewhere = Store(address, PATIENT)
    try:
        node.create()
        other = Access(elsewhere, clock)
        key, text = other.make("app", ["decide"])
        assert access.identify(text) is None  # not known here yet, until somebody looks
        caller.ask(Decide("colours"), api_key=key.id)
        assert access.identify(text) == key
        other.revoke(key.id)
        requests: list[Any] = [Decide("colours"), Inspect("colours")]
        for request in requests:
            with pytest.raises(DeniedError):
                caller.ask(request, api_key=key.id)
        assert access.identify(text) is None
        assert node.kinds().count("decision") == 1
        caller.ask(Decide("colours"))  # the service's own requests need no key
    finally:
        engine.close()
        elsewhere.close()


def test_a_slow_reader_brings_nothing_back(node: Node, access: Access) -> None:
    key, text = access.make("app", ["read"])
    with node.store.read() as transaction:
        transaction.find_experiments(["begin to read"])
        other = Access(node.store)
        other.revoke(key.id)
        access.refresh()
        access.refresh_in(transaction)  # on SQLite this still reads the past
    assert access.identify(text) is None


def test_too_many_keys(access: Access, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ocucb.service.access.MAX_API_KEYS", 2)
    keys = [access.make("one of two", ["read"])[0] for _ in range(2)]
    with pytest.raises(RequestError, match="revoke some"):
        access.make("third", ["read"])
    access.revoke(keys[0].id)
    access.make("third", ["read"])
