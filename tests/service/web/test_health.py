"""Whether the service says how it is: health, numbers, documentation."""

from __future__ import annotations

import json
import logging
import re
import sqlite3
from collections.abc import Callable, Sequence

import pytest
from sqlalchemy import delete

from browser import SLOW_MACHINE, chromium
from ocucb import __version__
from ocucb.service.engine import Limits
from ocucb.service.stores.dialects import Timeouts
from ocucb.service.stores.tables import log
from ocucb.service.web import metrics
from ocucb.service.web.docs import describe
from ocucb.service.web.messages import BODIES, read
from ocucb.service.web.metrics import Metrics
from ocucb.service.web.route_table import ROUTE_POLICIES
from service.helpers import wait_until
from service.web.api import Api, check_error

DECIDE = "/v1/experiments/colours/decisions"


def number(text: str, name: str) -> float:
    """Return one number of the metrics."""
    found = re.search(rf"^{re.escape(name)} (\S+)$", text, re.MULTILINE)
    assert found is not None, f"no {name} in {text}"
    return float(found[1])


def test_healthy(lasting: Api) -> None:
    answer = lasting.client().get("/healthz")
    assert (answer.status_code, answer.json()) == (200, {"status": "ok"})
    answer = lasting.client().get("/readyz")
    said = answer.json()
    assert answer.status_code == 200
    assert 0.0 <= said.pop("lag") < 60.0
    assert said == {"status": "ok", "waiting": 0, "loading": 0, "damaged_experiments": 0}


def test_a_damaged_experiment_is_said(serve: Callable[..., Api], caplog: pytest.LogCaptureFixture) -> None:
    api = serve()
    api.create()
    api.create("others")
    api.http.post(DECIDE, json={"count": 3})
    with api.store.write() as transaction:
        transaction.connection.execute(delete(log).where(log.c.experiment == 1, log.c.seq == 2))
    fresh = serve()
    with caplog.at_level(logging.INFO):
        check_error(fresh.http.post(DECIDE), 500, "damaged-experiment")
        check_error(fresh.http.get("/v1/experiments/colours"), 500, "damaged-experiment")
    noted = [record.__dict__["fields"].get("reason") for record in caplog.records if hasattr(record, "fields")]
    assert noted == ["entry 2 is missing from the log: entry 3 follows 1"] * 2
    assert not any(record.exc_info for record in caplog.records), "it is no bug of the service"
    fresh.decide("others")
    assert fresh.client().get("/readyz").json()["damaged_experiments"] == 1
    assert number(fresh.http.get("/metrics").text, "ocucb_engine_damaged_experiments") == 1.0


def test_a_key_that_sees_some_experiments_reads_no_numbers_of_all(api: Api) -> None:
    check_error(api.client(api.key("read", experiments=["colours"])).get("/metrics"), 403, "forbidden")
    assert api.client(api.key("read")).get("/metrics").status_code == 200


def test_batches_are_counted(api: Api) -> None:
    api.create()
    api.decide()
    text = api.http.get("/metrics").text
    assert number(text, "ocucb_engine_batch_requests_sum") == number(text, "ocucb_engine_batch_seconds_count") == 2.0
    assert number(text, "ocucb_engine_experiments") == 1.0


def test_trouble_with_the_database_is_said_and_ends(serve: Callable[..., Api], sqlite: str) -> None:
    api = serve(timeouts=Timeouts(lock=0.2), limits=Limits(sweep=0.05, retry_delay=0.05))
    api.create()
    rival = sqlite3.connect(sqlite.removeprefix("sqlite:///"), isolation_level=None)
    rival.execute("BEGIN IMMEDIATE")
    answer = api.http.post(DECIDE)
    check_error(answer, 503, "unavailable")
    assert answer.headers["retry-after"] == "1"
    answer = api.client().get("/readyz")
    check_error(answer, 503, "unavailable")
    assert answer.headers["retry-after"] == "1"
    assert api.client().get("/healthz").status_code == 200
    assert number(api.http.get("/metrics").text, "ocucb_engine_trouble") == 1.0
    rival.execute("ROLLBACK")
    rival.close()
    wait_until(lambda: api.client().get("/readyz").status_code == 200, "the service recovers by itself")
    assert number(api.http.get("/metrics").text, "ocucb_engine_trouble") == 0.0
    api.verify()


def test_trouble_lasts_until_something_can_be_written(serve: Callable[..., Api]) -> None:
    """A transaction that writes nothing succeeds on a full disk, too."""
    api = serve(limits=Limits(sweep=0.02, retry_delay=0.02))
    api.create()
    tables = ("log", "nodes")
    with api.store.write() as transaction:
        for table in tables:
            refuse = f"BEFORE INSERT ON {table} BEGIN SELECT RAISE(ABORT, 'database or disk is full'); END"
            transaction.connection.exec_driver_sql(f"CREATE TRIGGER full_{table} {refuse}")
    check_error(api.http.post(DECIDE), 503, "unavailable")
    sweeps: list[bool] = []
    find_due = api.engine._housekeeping.find_due

    def note(damaged: Sequence[int], writing: bool) -> list[int]:
        sweeps.append(writing)
        return find_due(damaged, writing)

    api.engine._housekeeping.find_due = note  # type: ignore[method-assign]
    wait_until(lambda: len(sweeps) > 3, "it was tried again")
    check_error(api.client().get("/readyz"), 503, "unavailable")
    assert all(sweeps)
    with api.store.write() as transaction:
        for table in tables:
            transaction.connection.exec_driver_sql(f"DROP TRIGGER full_{table}")
    wait_until(lambda: api.client().get("/readyz").status_code == 200, "the service recovers by itself")
    api.decide()
    api.verify()


def test_without_a_database_there_are_numbers_and_nothing_else(api: Api) -> None:
    """Numbers are wanted most when nothing works, and tell no secrets."""
    api.create()
    with api.store.write() as transaction:
        transaction.connection.exec_driver_sql("ALTER TABLE access RENAME TO gone")
    assert api.http.get("/metrics").status_code == 200
    for path in ("/v1/experiments", "/v1/keys", "/v1/experiments/colours/export"):
        check_error(api.http.get(path), 503, "unavailable")
    check_error(api.client("ocucb_aaaaaaaaaaaa_" + "x" * 43).get("/v1/experiments/colours"), 503)
    with api.store.write() as transaction:
        transaction.connection.exec_driver_sql("ALTER TABLE gone RENAME TO access")
    assert api.http.get("/v1/experiments").status_code == 200


def test_numbers_count_what_happened(api: Api) -> None:
    api.create()
    decision = api.decide()["id"]
    api.http.post(DECIDE, json={"count": 4})
    for reward in (1.0, 1.0, 2.0):
        api.reward(decision, reward)
    api.http.post("/v1/rewards", json={"rewards": [{"decision": decision, "reward": 1.0}]})
    for _ in range(2):
        api.http.post(DECIDE, headers={"Idempotency-Key": "k"})
    text = api.http.get("/metrics").text
    assert number(text, "ocucb_decisions_total") == 6.0
    assert number(text, 'ocucb_rewards_total{outcome="counted"}') == 1.0
    assert number(text, 'ocucb_rewards_total{outcome="repeated"}') == 2.0
    assert number(text, 'ocucb_rewards_total{outcome="reward-conflict"}') == 1.0
    route = 'route="POST /v1/experiments/{name}/decisions"'
    assert number(text, f'ocucb_http_requests_total{{{route},status="200"}}') == 4.0
    assert number(text, f"ocucb_http_request_seconds_count{{{route}}}") == 4.0
    assert number(text, "ocucb_engine_waiting") == 0.0


def test_a_node_without_an_address_lists_none(lasting: Api) -> None:
    assert lasting.http.get("/v1/nodes", params={"experiment": "any"}).json() == {"nodes": [], "home": None}
    assert number(lasting.http.get("/metrics").text, "ocucb_nodes") == 0.0


def test_a_time_is_counted_in_its_bucket(api: Api) -> None:
    metrics = Metrics(api.engine)
    for seconds in (0.001, 0.0011, 0.25):
        metrics.answers.count("GET /x", 200, seconds)
    text = metrics.text().decode()
    times = "ocucb_http_request_seconds"
    for limit, count in (("0.001", 1.0), ("0.0025", 2.0), ("0.1", 2.0), ("0.25", 3.0), ("+Inf", 3.0)):
        assert number(text, f'{times}_bucket{{le="{limit}",route="GET /x"}}') == count
    assert number(text, f'{times}_sum{{route="GET /x"}}') == pytest.approx(0.2521)


def test_numbers_do_not_grow_with_what_callers_send(api: Api) -> None:
    def lines() -> int:
        return len(api.http.get("/metrics").text.splitlines())

    api.http.get("/nowhere")
    api.http.get("/v1/experiments/nowhere")
    lines()
    before = lines()
    for odd in range(50):
        api.http.get(f"/nowhere/{odd}")
        api.http.get(f"/v1/experiments/{odd}")
    assert lines() == before


def test_every_app_has_numbers_of_its_own(serve: Callable[..., Api]) -> None:
    one, other = serve(), serve()
    one.create()
    one.decide()
    assert number(one.http.get("/metrics").text, "ocucb_decisions_total") == 1.0
    assert number(other.http.get("/metrics").text, "ocucb_decisions_total") == 0.0


def test_openapi_is_complete(lasting: Api) -> None:
    found = lasting.client().get("/openapi.json").json()
    assert found == describe(lasting.app)
    assert found["info"]["title"] == "ocucb"
    assert found["info"]["version"] == __version__
    schemas = set(found["components"]["schemas"])
    used = set(re.findall(r"#/components/schemas/(\w+)", str(found)))
    assert used <= schemas
    assert "HTTPValidationError" not in schemas
    for path, operations in found["paths"].items():
        for method, operation in operations.items():
            policy = ROUTE_POLICIES[f"{method.upper()} {path}"]
            assert operation["summary"]
            assert ("security" in operation) is (policy.role is not None)
            assert ("requestBody" in operation) is (policy.size is not None)
            errors = {status for status in operation["responses"] if status >= "4"}
            if policy.role is not None:
                assert {"401", "403", "422", "429", "503"} <= errors
                assert f"`{policy.role}`" in operation["description"]
            if policy.size is not None:
                assert {"408", "413", "415"} <= errors
            if "{" in path:
                assert "404" in errors
            for status in errors:
                schema = operation["responses"][status]["content"]["application/json"]["schema"]
                assert schema == {"$ref": "#/components/schemas/ErrorAnswer"}


def test_the_examples_are_right() -> None:
    for model in BODIES:
        for example in model.model_json_schema()["examples"]:
            read(model, json.dumps(example).encode())


def test_the_documentation_needs_nothing_from_elsewhere(lasting: Api) -> None:
    """Also under its own Content-Security-Policy, in a browser that would say what it had to block."""
    page = lasting.client().get("/docs").text
    assert re.findall(r"<script(?![^>]*\bsrc=)|<style|style=|https?://", page) == []
    for file in re.findall(r'(?:src|href)="([^"]+)"', page):
        answer = lasting.client().get(f"/{file}")
        assert answer.status_code == 200
        assert answer.headers["cache-control"] == "public, max-age=3600"
    said: list[str] = []
    asked: list[str] = []
    with chromium() as browser:
        tab = browser.new_page()
        tab.set_default_timeout(SLOW_MACHINE)
        tab.on("console", lambda message: said.append(message.text))
        tab.on("pageerror", lambda error: said.append(str(error)))
        tab.on("request", lambda request: asked.append(request.url))
        tab.goto(f"{lasting.url}/docs")
        for summary in ("Decide", "Create an experiment"):
            tab.get_by_text(summary, exact=True).first.click()
        tab.get_by_text("Needs the role").first.wait_for()
    assert said == []
    assert {url for url in asked if not url.startswith((lasting.url, "data:"))} == set()


def test_numbers_of_each_experiment(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(metrics, "MAX_EXPERIMENTS", 2)
    for name in ("colours", "shapes", "sizes", "songs"):
        api.create(name)
        decision = api.decide(name)["id"]
        for reward in (-0.5, -0.5, 1.0):
            api.reward(decision, reward)
        api.http.post("/v1/rewards", json={"rewards": [{"decision": api.decide(name)["id"], "reward": 2.0}]})
    text = api.http.get("/metrics").text
    for label, times in (("colours", 1.0), ("shapes", 1.0), ("", 2.0)):
        assert number(text, f'ocucb_experiment_decisions_total{{experiment="{label}"}}') == 2 * times
        assert number(text, f'ocucb_experiment_rewards_total{{experiment="{label}"}}') == 2 * times
        assert number(text, f'ocucb_experiment_reward_sum{{experiment="{label}"}}') == 1.5 * times
