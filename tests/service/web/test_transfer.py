"""Decisions out and logs in: complete, in order, and the same after a round trip."""

from __future__ import annotations

import csv
import io
import json
import socket
import threading
from collections.abc import Callable
from typing import Any

import pytest

from ocucb.service.web import headers, transfer
from service.helpers import ManualClock, wait_until
from service.web.api import Api, check_error

EXPORT = "/v1/experiments/colours/export"
IMPORT = "/v1/experiments/colours/import"
NDJSON = {"Content-Type": "application/x-ndjson"}
CSV = {"Content-Type": "text/csv"}
COLUMNS = (
    "seq,decision,arm,unit,at,deadline,pulls,pending,mean,index,effective_arms,probability,outcome,reward,outcome_at"
)


def lines(api: Api, query: str = "") -> list[dict[str, Any]]:
    answer = api.http.get(f"{EXPORT}{query}")
    assert answer.status_code == 200, answer.text
    assert answer.headers["content-type"] == "application/x-ndjson"
    return [json.loads(line) for line in answer.text.splitlines()]


def flat(line: dict[str, Any]) -> dict[str, Any]:
    """Return a line of JSON with the columns of CSV, which has no records inside records."""
    known = line["statistics"]
    return dict(
        pair for name, value in line.items() for pair in (known.items() if name == "statistics" else [(name, value)])
    )


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
def played(serve: Callable[..., Api], address: str, clock: ManualClock) -> Api:
    """An experiment with decisions of every outcome."""
    api = serve(address, now=clock)
    api.create(window=60.0, on_expiry=0.25, arms=["red", 7, 'strange, "arm"\n'], sticky=10.0)
    for number in range(20):
        api.reward(api.decide()["id"], number / 20)
    late = api.decide(unit="Zoë, the \u2028 second")["id"]
    clock.advance(100)
    check_error(api.reward(late, 1.0), 410)
    api.decide()
    return api


def test_every_decision_with_its_outcome(played: Api) -> None:
    found = lines(played)
    assert [line["outcome"] for line in found] == ["reward"] * 20 + ["default", "pending"]
    assert list(flat(found[0])) == COLUMNS.split(",")
    assert [line["seq"] for line in found] == sorted(line["seq"] for line in found)
    assert [line["reward"] for line in found] == [number / 20 for number in range(20)] + [0.25, None]
    assert found[20]["unit"] == "Zoë, the \u2028 second"
    assert {line["arm"] for line in found} == {"red", 7, 'strange, "arm"\n'}
    assert found[-1]["outcome_at"] is None
    assert played.reward(found[-1]["decision"], 0.5).json()["outcome"] == "counted"
    assert lines(played)[-1]["outcome"] == "reward"


def test_csv_says_the_same(played: Api) -> None:
    answer = played.http.get(f"{EXPORT}?format=csv")
    assert answer.headers["content-type"].startswith("text/csv")
    assert answer.headers["content-disposition"] == 'attachment; filename="decisions.csv"'
    rows = list(csv.DictReader(io.StringIO(answer.content.decode(), newline="")))
    told = [flat(line).items() for line in lines(played)]
    assert rows == [{name: "" if value is None else str(value) for name, value in items} for items in told]


def test_no_cell_of_csv_is_a_formula(api: Api) -> None:
    """And what was exported can still be imported: the arm is the same."""
    arms = ["=1+1", "@sum", "+x", "-y", -3, "plain"]
    api.create(arms=arms)
    for number in range(6):
        api.reward(api.decide(unit=f"=unit {number}")["id"], -0.5)
    text = api.http.get(f"{EXPORT}?format=csv").content.decode()
    rows = list(csv.DictReader(io.StringIO(text, newline="")))
    assert {row["arm"] for row in rows} == {"'=1+1", "'@sum", "'+x", "'-y", "-3", "plain"}
    assert {row["reward"] for row in rows} == {"-0.5"}
    assert {row["unit"][:2] for row in rows} == {"'="}
    api.create("again", arms=arms)
    taken = api.http.post("/v1/experiments/again/import", content=text, headers={"Content-Type": "text/csv"})
    assert taken.status_code == 200, taken.text
    seen = api.http.get("/v1/experiments/again/arms").json()["arms"]
    assert [(arm["arm"], arm["statistics"]["pulls"]) for arm in seen] == [(arm, 1) for arm in arms]


def test_an_export_goes_on_where_one_broke_off(played: Api) -> None:
    found = lines(played)
    assert lines(played, f"?after={found[10]['seq']}") == found[11:]
    assert lines(played, f"?after={2**63 - 1}") == []
    assert played.http.get(f"{EXPORT}?format=csv&after={2**63 - 1}").text == COLUMNS + "\r\n"


def test_a_long_export_comes_in_pages_and_stands_still(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing that happens meanwhile is in it: it is the log as it was at the beginning."""
    monkeypatch.setattr(transfer, "DECISIONS_PER_READ", 100)
    api.create()
    made = api.http.post("/v1/experiments/colours/decisions", json={"count": 1000}).json()["decisions"]
    turn, go_on = threading.Event(), threading.Event()
    page = transfer._read_page

    def slow(*what: Any) -> tuple[int, bytes]:
        if what[2] > 300:
            turn.set()
            assert go_on.wait(60)
        return page(*what)

    monkeypatch.setattr(transfer, "_read_page", slow)
    found: list[dict[str, Any]] = []
    reader = threading.Thread(target=lambda: found.extend(lines(api)))
    reader.start()
    assert turn.wait(60)
    api.decide()
    assert api.reward(made[900]["id"], 1.0).json()["outcome"] == "counted"
    go_on.set()
    reader.join()
    assert [line["decision"] for line in found] == [decision["id"] for decision in made]
    assert {line["outcome"] for line in found} == {"pending"}


def test_an_export_ends_when_its_key_does(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(transfer, "DECISIONS_PER_READ", 10)
    api.create()
    api.http.post("/v1/experiments/colours/decisions", json={"count": 100})
    key, text = api.access.make("for a while", ["read"])
    page = transfer._read_page

    def revoke(*what: Any) -> tuple[int, bytes]:
        if what[2] > 50:
            api.access.revoke(key.id)
        return page(*what)

    monkeypatch.setattr(transfer, "_read_page", revoke)
    with pytest.raises(Exception, match="incomplete"), api.client(text).stream("GET", EXPORT) as answer:
        for _ in answer.iter_lines():
            pass
    check_error(api.client(text).get(EXPORT), 401)
    api.verify()


def test_whoever_does_not_read_is_left(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(headers, "MAX_SEND_SECONDS", 0.2)
    api.create()
    for _ in range(30):
        api.http.post("/v1/experiments/colours/decisions", json={"count": 1000})
    with api.raw() as connection:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        connection.sendall(f"GET {EXPORT} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {api.admin}\r\n\r\n".encode())
        left = 'ocucb_http_requests_total{route="GET /v1/experiments/{name}/export",status="499"} 1.0'
        wait_until(lambda: left in api.http.get("/metrics").text, "the export is given up")
    api.verify()


def test_an_experiment_with_no_decisions(api: Api) -> None:
    api.create()
    assert lines(api) == []
    check_error(api.http.get("/v1/experiments/nowhere/export"), 404, "unknown-experiment")


@pytest.mark.parametrize("form", ["ndjson", "csv"])
def test_what_was_exported_can_be_imported(played: Api, form: str) -> None:
    exported = played.http.get(f"{EXPORT}?format={form}").content
    played.create("again", arms=["red", 7, 'strange, "arm"\n'])
    kind = CSV if form == "csv" else NDJSON
    answer = played.http.post("/v1/experiments/again/import", content=exported, headers=kind)
    assert answer.json() == {"experiment": "again", "entries": 2, "status": "active"}
    before, after = (played.http.get(f"/v1/experiments/{name}/arms").json()["arms"] for name in ("colours", "again"))
    for old, new in zip(before, after, strict=True):
        assert new["arm"] == old["arm"]
        was, now = old["statistics"], new["statistics"]
        assert now["pulls"] == was["pulls"] - was["pending"]
        assert now["mean"] == pytest.approx(was["mean"])
    played.verify("again")


def test_json_is_imported_once_under_a_key(api: Api) -> None:
    api.create()
    body = {"log": [{"arm": "red", "reward": 1}, {"arm": "green", "reward": 0.5}]}
    for _ in range(2):
        answer = api.http.post(IMPORT, json=body, headers={"Idempotency-Key": "warm start"})
        assert answer.json()["entries"] == 2
    assert api.http.get("/v1/experiments/colours").json()["rounds"] == 2
    body["log"].pop()
    check_error(api.http.post(IMPORT, json=body, headers={"Idempotency-Key": "warm start"}), 409, "key-reused")


GOOD = {
    "blank lines": (NDJSON, b'\n{"arm": "red", "reward": 1}\r\n\n', 1),
    "no reward": (NDJSON, b'{"arm": "red"}\n{"arm": "red", "reward": null}\n{"arm": "green", "reward": 0}', 1),
    "more than asked": (NDJSON, b'{"arm": "red", "reward": 1, "weather": [1, 2]}', 1),
    "plain CSV": (CSV, b"arm,reward\nred,1\ngreen,0.5\n", 2),
    "CSV from a spreadsheet": (CSV, b'\xef\xbb\xbf"reward","arm"\r\n"1e-3","red"\r\n', 1),
    "CSV with gaps": (CSV, b"arm,reward\nred,\n\ngreen,1\n", 1),
}


@pytest.mark.parametrize(("kind", "body", "pulls"), GOOD.values(), ids=GOOD)
def test_logs_of_many_forms(lasting: Api, kind: dict[str, str], body: bytes, pulls: int) -> None:
    before = lasting.http.get("/v1/experiments/colours").json()["rounds"]
    answer = lasting.http.post(IMPORT, content=body, headers=kind)
    assert answer.status_code == 200, answer.text
    assert lasting.http.get("/v1/experiments/colours").json()["rounds"] == before + pulls
    lasting.verify()


BAD = {
    "nothing": (NDJSON, b""),
    "no rewards at all": (NDJSON, b'{"arm": "red"}\n'),
    "half a line": (NDJSON, b'{"arm": "red", "reward": 1}\n{"arm": "red", '),
    "no arm": (NDJSON, b'{"reward": 1}'),
    "a number that is none": (NDJSON, b'{"arm": "red", "reward": NaN}'),
    "too large a number": (NDJSON, b'{"arm": "red", "reward": 1e400}'),
    "an array": (NDJSON, b'["red", 1]'),
    "deep nesting": (NDJSON, b"[" * 100_000),
    "invalid UTF-8": (NDJSON, b'{"arm": "\xff", "reward": 1}'),
    "a stranger": (NDJSON, b'{"arm": "red", "reward": 1}\n{"arm": "pink", "reward": 1}'),
    "too many": (NDJSON, b'{"arm":"red","reward":1}\n' * 100_001),
    "empty CSV": (CSV, b""),
    "CSV of one line": (CSV, b"arm,reward\n"),
    "CSV without names": (CSV, b"red,1\ngreen,1\n"),
    "CSV with one column": (CSV, b"arm\nred\n"),
    "CSV with words": (CSV, b"arm,reward\nred,much\n"),
    "CSV with infinity": (CSV, b"arm,reward\nred,inf\n"),
    "CSV with 1e400": (CSV, b"arm,reward\nred,1e400\n"),
    "CSV with nan": (CSV, b"arm,reward\nred,nan\n"),
    "CSV with digits of another kind": (CSV, b"arm,reward\nred,1_000\n"),
    "CSV with NUL": (CSV, b"arm,reward\nr\0ed,1\n"),
    "CSV that is not UTF-8": (CSV, b"arm,reward\nr\xffd,1\n"),
    "CSV with an open quote": (CSV, b'arm,reward\n"red,1\n'),
    "CSV with short lines": (CSV, b"reward,arm\n1\n"),
    "CSV with a very long field": (CSV, b"arm,reward\n" + b"x" * 200_000 + b",1\n"),
    "CSV with a stranger": (CSV, b"arm,reward\nred,1\npink,1\n"),
}


@pytest.mark.parametrize(("kind", "body"), BAD.values(), ids=BAD)
def test_a_bad_log_changes_nothing(lasting: Api, kind: dict[str, str], body: bytes) -> None:
    before = lasting.http.get("/v1/experiments/colours").json()["rounds"]
    check_error(lasting.http.post(IMPORT, content=body, headers=kind), 422)
    assert lasting.http.get("/v1/experiments/colours").json()["rounds"] == before
    lasting.verify()


def test_a_wrong_line_is_named(lasting: Api) -> None:
    body = b'{"arm": "red", "reward": 1}\n{"arm": "red", "reward": "x"}\n'
    error = check_error(lasting.http.post(IMPORT, content=body, headers=NDJSON), 422)
    assert [detail["where"] for detail in error["details"]] == ["body.2"]


def test_arms_that_look_alike_in_csv(api: Api) -> None:
    api.create(arms=[7, "7"])
    error = check_error(api.http.post(IMPORT, content=b"arm,reward\n7,1\n", headers=CSV), 422)
    assert "look alike" in error["message"]
    assert api.http.post(IMPORT, content=b'{"arm": "7", "reward": 1}', headers=NDJSON).status_code == 200
