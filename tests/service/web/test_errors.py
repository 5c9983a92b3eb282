"""Whatever is sent, the answer is an error of the one shape and never a 500, and nothing is lost."""

from __future__ import annotations

import logging
from collections.abc import Callable

import httpx
import pytest

from ocucb import errors as library
from ocucb.service import errors
from ocucb.service.requests import Inspect
from ocucb.service.web.errors import STATUSES, error_response
from service.web.api import Api, check_error
from service.web.bad_input import BODIES, DECIDE, PATHS

JSON = {"Content-Type": "application/json"}


@pytest.mark.parametrize(("path", "body", "status"), BODIES.values(), ids=BODIES)
def test_a_bad_body(lasting: Api, path: str, body: bytes, status: int) -> None:
    answer = lasting.http.post(path, content=body, headers=JSON)
    if status == 201:
        assert answer.status_code == 201, answer.text
    else:
        error = check_error(answer, status)
        assert len(answer.content) < 10_000
        assert "Traceback" not in error["message"]
    lasting.verify()


@pytest.mark.parametrize(("method", "path", "status"), PATHS.values(), ids=PATHS)
def test_a_bad_path(lasting: Api, method: str, path: str, status: int) -> None:
    answer = send(lasting, f"{method} {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n".encode())
    if status == 200:
        assert answer.status_code == 200, answer.text
    else:
        check_error(answer, status)
    if status == 405:
        assert method not in answer.headers["allow"]
        assert answer.headers["allow"]
    lasting.verify()


def send(api: Api, head: bytes, body: bytes = b"") -> httpx.Response:
    """Send bytes as they are, with an admin's key, and return the answer."""
    with api.raw() as connection:
        connection.sendall(head + f"Authorization: Bearer {api.admin}\r\n\r\n".encode() + body)
        data = b""
        while piece := connection.recv(65536):
            data += piece
    top, _, rest = data.partition(b"\r\n\r\n")
    status, *lines = top.decode("latin-1").split("\r\n")
    pairs = [(name, value.strip()) for name, _, value in (line.partition(":") for line in lines)]
    kept = [(name, value) for name, value in pairs if name.lower() != "transfer-encoding"]
    return httpx.Response(int(status.split()[1]), headers=kept, content=rest)


def test_head_is_get_without_a_body(lasting: Api) -> None:
    for path in ("/healthz", "/v1/experiments", "/v1/experiments/colours", "/docs", "/docs/static/swagger-ui.css"):
        answer = lasting.http.head(path)
        assert (answer.status_code, answer.content) == (200, b"")
        assert answer.headers["x-request-id"]
    assert lasting.http.head("/v1/rewards").status_code == 405


@pytest.mark.parametrize(
    "kind",
    [None, "text/plain", "application/x-www-form-urlencoded", "application/xml", "json", "", "multipart/form-data"],
)
def test_a_body_of_another_kind(lasting: Api, kind: str | None) -> None:
    headers = {} if kind is None else {"Content-Type": kind}
    for path in ("/v1/rewards", DECIDE, "/v1/experiments", "/v1/experiments/colours/import", "/v1/keys"):
        check_error(lasting.http.post(path, content=b"{}", headers=headers), 415, "wrong-media-type")
    check_error(lasting.http.post("/v1/rewards", content=b"", headers=headers), 422)
    lasting.verify()


def test_a_kind_may_have_parameters_and_capitals(lasting: Api) -> None:
    for kind in ("application/json; charset=utf-8", "Application/JSON"):
        assert lasting.http.post(DECIDE, content=b"{}", headers={"Content-Type": kind}).status_code == 200


@pytest.mark.parametrize(
    ("key", "status"),
    [
        (b"plain", 200),
        (b"with spaces and ~!@#", 200),
        (b"x" * 200, 200),
        (b"x" * 201, 422),
        (b"", 422),
        (b"\xff\xfe", 422),
        (b"\xc3\xa9", 422),
        (b"tab\there", 422),
        (b"'; DROP TABLE keys; --", 200),
    ],
)
def test_strange_idempotency_keys(lasting: Api, key: bytes, status: int) -> None:
    answer = lasting.http.post(DECIDE, headers={b"Idempotency-Key": key})
    if status == 422:
        check_error(answer, 422)
    else:
        assert answer.status_code == 200
    lasting.verify()


def test_what_is_no_http_is_refused(lasting: Api) -> None:
    for nonsense in (b"hello\r\n\r\n", b"\0\1\2\3", b"GET /\xff HTTP/1.1\r\n\r\n", b"GET / HTTP/9.9\r\n\r\n"):
        with lasting.raw() as connection:
            connection.sendall(nonsense)
            assert connection.recv(12) == b"HTTP/1.1 400"
    lasting.verify()


def test_a_reward_for_another_experiments_decision(lasting: Api) -> None:
    lasting.create("other")
    decision = lasting.decide("other")["id"]
    _, seq, token = decision.split("-", 2)
    first = lasting.decide()["id"].split("-", 2)[0]
    check_error(lasting.reward(f"{first}-{seq}-{token}", 1.0), 404, "unknown-decision")
    narrow = lasting.client(lasting.key("reward", experiments=["colours"]))
    body = {"decision": decision, "reward": 1.0}
    check_error(narrow.post("/v1/rewards", json=body), 404, "unknown-decision")
    results = narrow.post("/v1/rewards", json={"rewards": [body]}).json()["results"]
    assert results[0]["error"]["code"] == "unknown-decision"
    lasting.verify("other")


def test_a_reward_that_the_noise_cannot_make(lasting: Api) -> None:
    lasting.create("coins", noise="bernoulli")
    decision = lasting.decide("coins")["id"]
    check_error(lasting.reward(decision, 0.5), 422, "bad-reward")
    assert lasting.reward(decision, 1).json()["outcome"] == "counted"


def test_details_say_where(lasting: Api) -> None:
    error = check_error(lasting.http.post("/v1/experiments", json={"name": "x", "arms": ["a", True], "windw": 1}), 422)
    said = {detail["where"]: detail["message"] for detail in error["details"]}
    assert set(said) == {"body.arms.1", "body.windw"}
    error = check_error(lasting.http.post("/v1/experiments", json={"name": "x", "arms": ["a"], "policy": "moss"}), 422)
    assert "horizon" in error["message"]
    error = check_error(lasting.http.get("/v1/experiments?limit=-1"), 422)
    assert [detail["where"] for detail in error["details"]] == ["query.limit"]


def test_every_error_of_the_library_has_an_answer() -> None:
    """Faults of the service itself, and what only happens at its start, are 500; all else is in the table."""
    faults = {"ServiceError", "LogError", "SchemaError", "OcucbError", "NotFoundError", "ConflictError", "ClosedError"}
    found = {
        kind
        for module in (errors, library)
        for kind in vars(module).values()
        if isinstance(kind, type) and issubclass(kind, library.OcucbError)
    }
    assert {kind.__name__ for kind in found - set(STATUSES)} == faults
    shown = error_response(errors.LogError("the secret inside"))
    assert shown.status == 500
    assert "secret" not in shown.message


def test_a_fault_is_a_500_that_shows_nothing(
    api: Api, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    api.create()

    def fail(*_: object) -> None:
        raise RuntimeError("the inside of the service")

    with monkeypatch.context() as patch, caplog.at_level(logging.INFO):
        patch.setattr("ocucb.service.web.experiments.Inspect", fail)
        answer = api.http.get("/v1/experiments/colours")
    error = check_error(answer, 500, "internal-error")
    assert "inside" not in answer.text
    logged = [record for record in caplog.records if record.exc_info]
    assert [record.__dict__["fields"]["request_id"] for record in logged] == [error["request_id"]]
    assert Inspect("colours")
    api.verify()


def test_a_store_that_fails_is_a_503_that_shows_nothing(serve: Callable[..., Api]) -> None:
    api = serve()
    api.create()
    with api.store.write() as transaction:
        transaction.connection.exec_driver_sql("ALTER TABLE log RENAME TO gone")
    answer = api.http.post(DECIDE)
    error = check_error(answer, 503, "unavailable")
    assert int(answer.headers["retry-after"]) >= 1
    assert "log" not in error["message"]
    with api.store.write() as transaction:
        transaction.connection.exec_driver_sql("ALTER TABLE gone RENAME TO log")


def test_a_lost_browser_gets_a_page(api: Api) -> None:
    browser = {"Accept": "text/html,application/xhtml+xml,*/*;q=0.8"}
    lost = api.http.get("/nothing", headers=browser)
    assert (lost.status_code, lost.headers["content-type"]) == (404, "text/html; charset=utf-8")
    assert "default-src 'none'" in lost.headers["content-security-policy"]
    assert lost.headers["x-request-id"]
    check_error(api.http.get("/v1/nothing", headers=browser), 404)
    check_error(api.http.get("/nothing"), 404)
