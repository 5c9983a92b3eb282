"""The provider for OpenFeature, by the real SDK and a real service."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any

import pytest
from openfeature import api
from openfeature.client import OpenFeatureClient
from openfeature.evaluation_context import EvaluationContext
from openfeature.exception import ErrorCode
from openfeature.flag_evaluation import Reason
from openfeature.track import TrackingEventDetails

from client.admin_queries import key_of
from client.proxy import Proxy
from ocucb_client import Client
from ocucb_client.openfeature import OcucbProvider
from service.server import Server

ADA = EvaluationContext("Ada")


@pytest.fixture
def asked(server: Server, proxy: Proxy) -> Iterator[Client]:
    with Client(proxy.url, key_of(server), timeout=60.0, attempt_timeout=30.0) as client:
        yield client
        proxy.heal()


@pytest.fixture
def flags(asked: Client, name: str) -> Iterator[OpenFeatureClient]:
    api.set_provider_and_wait(OcucbProvider(asked), name)
    yield api.get_client(name)
    api.clear_providers()


def test_a_flag_is_an_experiment(flags: OpenFeatureClient, asked: Client, admin: Client, name: str) -> None:
    details = flags.get_string_details(name, "none", ADA)
    assert (details.value, details.variant, details.reason, details.error_code) == ("red", "red", Reason.SPLIT, None)
    assert details.flag_metadata["pulls"] == 0
    (made,) = admin.export(name)
    assert (made.decision, made.unit, made.outcome) == (details.flag_metadata["decision"], "Ada", "pending")
    flags.track(name, ADA, TrackingEventDetails(0.25))
    asked.flush()
    (made,) = admin.export(name)
    assert (made.outcome, made.reward) == ("reward", 0.25)
    flags.track(name, EvaluationContext("nobody"))  # for whom nothing was decided
    assert flags.get_string_value(name, "none") == "green"
    flags.track("bought", tracking_event_details=TrackingEventDetails(attributes={"experiment": name}))
    asked.flush()
    assert [one.reward for one in admin.export(name)] == [0.25, 1.0]


@pytest.mark.parametrize(
    ("arms", "kind", "default", "value"),
    [
        ({"old": False}, "boolean", True, False),
        (["off"], "boolean", True, False),
        (["on"], "boolean", False, True),
        ({"few": 3}, "integer", 0, 3),
        ([12], "integer", 0, 12),
        ({"exact": 2**53 + 1}, "integer", 0, 2**53 + 1),
        ({"few": 2.5}, "float", 0.0, 2.5),
        (["2.5"], "float", 0.0, 2.5),
        ({"blue": {"hex": "#00f"}}, "object", {}, {"hex": "#00f"}),
        ({"list": [1, 2]}, "object", {}, [1, 2]),
    ],
)
def test_types(
    flags: OpenFeatureClient, admin: Client, name: str, arms: Any, kind: str, default: Any, value: Any
) -> None:
    admin.create(f"{name} {kind}", arms)
    found = getattr(flags, f"get_{kind}_value")(f"{name} {kind}", default, ADA)
    assert (found, type(found)) == (value, type(value))
    waited = asyncio.run(getattr(flags, f"get_{kind}_value_async")(f"{name} {kind}", default, ADA))
    assert waited == value


def test_an_arm_without_a_value_of_the_type(flags: OpenFeatureClient, admin: Client, name: str) -> None:
    for kind, default in (("boolean", True), ("integer", 7), ("float", 0.5), ("object", {"a": 1})):
        details = getattr(flags, f"get_{kind}_details")(name, default, ADA)
        assert (details.value, details.error_code) == (default, ErrorCode.TYPE_MISMATCH)
    admin.create(f"{name} half", {"half": 0.5})
    assert flags.get_integer_details(f"{name} half", 7).error_code == ErrorCode.TYPE_MISMATCH
    admin.create(f"{name} odd", ["inf", "nan"])
    for _ in range(2):
        assert flags.get_integer_details(f"{name} odd", 7).error_code == ErrorCode.TYPE_MISMATCH
        assert flags.get_float_details(f"{name} odd", 7.0).error_code == ErrorCode.TYPE_MISMATCH


def test_another_process_can_track(
    flags: OpenFeatureClient, asked: Client, admin: Client, name: str, caplog: pytest.LogCaptureFixture
) -> None:
    """It names the decision, which is in the flag's metadata: it has made none, and says so if it is not told."""
    decision = flags.get_string_details(name, "none", ADA).flag_metadata["decision"]
    api.set_provider_and_wait(OcucbProvider(asked), "elsewhere")
    elsewhere = api.get_client("elsewhere")
    elsewhere.track("looked at a page", ADA)
    assert not caplog.records, "most events are about no experiment"
    elsewhere.track("bought", ADA, TrackingEventDetails(attributes={"experiment": name}))
    assert [record.levelname for record in caplog.records] == ["WARNING"]
    elsewhere.track("bought", ADA, TrackingEventDetails(0.5, {"decision": decision}))
    asked.flush()
    assert [(one.decision, one.reward) for one in admin.export(name)] == [(decision, 0.5)]
    flags.track(name, EvaluationContext("Bob"))
    assert len(caplog.records) == 2, "a flag of this process, but of nobody whom it knows"


def test_without_the_service_the_default_is_the_value(server: Server, proxy: Proxy, admin: Client, name: str) -> None:
    details = None
    with Client("http://127.0.0.1:9", key_of(server), timeout=0.5, retries=0) as away:
        api.set_provider_and_wait(OcucbProvider(away), "away")
        details = api.get_client("away").get_string_details(name, "plain", ADA)
        api.clear_providers()
    assert (details.value, details.reason, details.error_code) == ("plain", Reason.ERROR, ErrorCode.GENERAL)


def test_experiments_that_do_not_decide(flags: OpenFeatureClient, admin: Client, name: str) -> None:
    missing = flags.get_string_details("nowhere", "plain", ADA)
    assert (missing.value, missing.error_code) == ("plain", ErrorCode.FLAG_NOT_FOUND)
    admin.pause(name)
    assert flags.get_string_value(name, "plain", ADA) == "plain"


def test_a_key_that_may_not_read(server: Server, admin: Client, name: str) -> None:
    narrow = admin.create_api_key("narrow", ["decide", "reward"]).text
    admin.create(f"{name} on", ["on"])
    with Client(server.url, narrow, timeout=60.0) as client:
        api.set_provider_and_wait(OcucbProvider(client), "narrow")
        assert api.get_client("narrow").get_boolean_value(f"{name} on", False, ADA)
        assert api.get_client("narrow").get_string_value(f"{name} on", "", ADA) == "on"
        api.clear_providers()


def test_a_key_that_may_not_read_asks_once_for_each_arm(server: Server, proxy: Proxy, admin: Client, name: str) -> None:
    narrow = admin.create_api_key("narrow", ["decide", "reward"]).text
    admin.create(f"{name} both", ["on", "off"])
    with Client(proxy.url, narrow, timeout=60.0) as client:
        provider = OcucbProvider(client)
        values = [provider.resolve_boolean_details(f"{name} both", False).value for _ in range(6)]
    assert set(values) == {True, False}
    assert sum("/arms" in seen.path for seen in proxy.seen) == 2
