"""Traces, by the real SDK: a span for each request, in its caller's trace, on every node."""

from __future__ import annotations

import http.server
import threading
from collections.abc import Callable, Iterator

import pytest
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import StatusCode

from ocucb import __version__
from ocucb.service.node_directory import choose_home
from ocucb.service.web.tracing import Tracing, open_tracing
from service.helpers import wait_until
from service.web.api import Api, check_error

TRACE, PARENT = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"
HEADERS = {"traceparent": f"00-{TRACE}-{PARENT}-01", "tracestate": "vendor=opaque"}
DECIDE = "/v1/experiments/colours/decisions"


@pytest.fixture
def spans() -> InMemorySpanExporter:
    return InMemorySpanExporter()


@pytest.fixture
def tracing(spans: InMemorySpanExporter) -> Iterator[Tracing]:
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(spans))
    made = Tracing(provider)
    yield made
    made.close()


def test_a_request_is_a_span_of_its_callers_trace(
    serve: Callable[..., Api], tracing: Tracing, spans: InMemorySpanExporter
) -> None:
    api = serve(tracing=tracing)
    api.create()
    spans.clear()
    assert api.http.post(DECIDE, headers={**HEADERS, "X-Request-Id": "mine"}).status_code == 200
    check_error(api.http.get("/v1/experiments/nowhere"), 404)
    api.http.get("/nothing", headers={"traceparent": "not one"})
    wait_until(lambda: len(spans.get_finished_spans()) == 3, "three spans")
    first, second, third = spans.get_finished_spans()
    assert first.name == "POST /v1/experiments/{name}/decisions"
    assert first.parent is not None
    assert (f"{first.context.trace_id:032x}", f"{first.parent.span_id:016x}") == (TRACE, PARENT)
    about = dict(first.attributes or {})
    assert about["http.response.status_code"] == 200
    assert about["ocucb.request_id"] == "mine"
    assert about["ocucb.experiment"] == "colours"
    assert first.context.trace_state.to_header() == "vendor=opaque"
    assert api.admin.split("_", 2)[2] not in str(about)
    assert (second.parent, (second.attributes or {})["http.response.status_code"]) == (None, 404)
    assert third.name == "GET unmatched"
    assert "ocucb.experiment" not in (third.attributes or {})


def test_a_failure_is_one_in_the_trace(
    serve: Callable[..., Api], tracing: Tracing, spans: InMemorySpanExporter
) -> None:
    api = serve(tracing=tracing)
    api.create()
    with api.store.write() as transaction:
        transaction.connection.exec_driver_sql("ALTER TABLE log RENAME TO gone")
    spans.clear()
    check_error(api.http.post(DECIDE), 503)
    wait_until(lambda: len(spans.get_finished_spans()) == 1, "its span")
    (span,) = spans.get_finished_spans()
    assert (span.attributes or {})["error.type"] == "503"
    assert span.status.status_code is StatusCode.ERROR


@pytest.mark.parametrize("named", [False, True])
def test_the_service_has_a_name_and_the_variables_can_say_another(monkeypatch: pytest.MonkeyPatch, named: bool) -> None:
    for variable in ("OTEL_SERVICE_NAME", "OTEL_RESOURCE_ATTRIBUTES"):
        monkeypatch.delenv(variable, raising=False)
    if named:
        monkeypatch.setenv("OTEL_SERVICE_NAME", "shop")
        monkeypatch.setenv("OTEL_RESOURCE_ATTRIBUTES", "deployment.environment=test")
    tracing = open_tracing()
    about = dict(tracing._provider.resource.attributes)
    tracing.close()
    assert (about["service.name"], about["service.version"]) == ("shop" if named else "ocucb", __version__)
    assert about.get("deployment.environment") == ("test" if named else None)


def test_a_request_that_is_passed_on_stays_in_its_trace(
    serve: Callable[..., Api], address: str, tracing: Tracing, spans: InMemorySpanExporter
) -> None:
    nodes = [serve(address, advertised=True, tracing=tracing) for _ in range(2)]
    directories = [node.directory for node in nodes]
    assert all(directories)
    wait_until(lambda: all(one is not None and one.live for one in directories), "nodes know each other")
    api = nodes[0]
    assert api.directory is not None
    name = next(name for name in map(str, range(100)) if api.directory.home(name) is not None)
    api.create(name)
    spans.clear()
    assert api.http.post(f"/v1/experiments/{name}/decisions", headers=HEADERS).status_code == 200
    wait_until(lambda: len(spans.get_finished_spans()) >= 2, "both nodes have a span")
    ours = [span for span in spans.get_finished_spans() if span.name.endswith("/decisions")]
    assert {f"{span.context.trace_id:032x}" for span in ours} == {TRACE}
    inner, outer = ours
    assert inner.parent is not None
    assert inner.parent.span_id == outer.context.span_id
    assert choose_home is not None


def test_spans_are_sent_where_the_variables_say(serve: Callable[..., Api], monkeypatch: pytest.MonkeyPatch) -> None:
    bodies: list[tuple[str, bytes]] = []

    class Collector(http.server.BaseHTTPRequestHandler):
        def do_POST(self) -> None:  # as http.server calls it
            bodies.append((self.path, self.rfile.read(int(self.headers["content-length"]))))
            self.send_response(200)
            self.end_headers()

        def log_message(self, *words: object) -> None:
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Collector) as collector:
        thread = threading.Thread(target=collector.serve_forever)
        thread.start()
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", f"http://127.0.0.1:{collector.server_port}")
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_COMPRESSION", "none")
        tracing = open_tracing()
        serve(tracing=tracing).create()
        tracing.close()
        collector.shutdown()
        thread.join()
    assert any(path == "/v1/traces" and b"POST /v1/experiments" in body for path, body in bodies)
