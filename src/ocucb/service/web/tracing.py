"""OpenTelemetry traces: a span for each request, in the trace that its caller's `traceparent` names. An extra."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ocucb import __version__
from ocucb.service.errors import RequestError

HEADERS = (b"traceparent", b"tracestate")
SERVER_ERROR = 500


class Tracing:
    """Makes spans by a tracer provider of the OpenTelemetry SDK. Whoever makes it closes it, which sends the rest."""

    def __init__(self, provider: Any) -> None:
        from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator  # noqa: PLC0415

        self._provider, self._tracer = provider, provider.get_tracer("ocucb.service")
        self._propagator = TraceContextTextMapPropagator()

    def start(self, method: str, headers: Mapping[bytes, bytes]) -> Any:
        """Begin the span of a request, below that of its caller if there is one."""
        from opentelemetry.trace import SpanKind  # noqa: PLC0415

        given = {name.decode(): headers[name].decode("latin-1") for name in HEADERS if name in headers}
        context = self._propagator.extract(given)
        return self._tracer.start_span(method, context, SpanKind.SERVER, {"http.request.method": method})

    def headers(self, span: Any) -> dict[bytes, bytes]:
        """Return what a request that is passed on carries, so that it is in the same trace."""
        from opentelemetry.trace import set_span_in_context  # noqa: PLC0415

        carrier: dict[str, str] = {}
        self._propagator.inject(carrier, set_span_in_context(span))
        return {name.encode(): value.encode("latin-1", "replace") for name, value in carrier.items()}

    def end(
        self, span: Any, method: str, route: str, status: int, request_id: str, key: str, experiment: str | None
    ) -> None:
        """End the span of a request that is answered."""
        from opentelemetry.trace import Status, StatusCode  # noqa: PLC0415

        span.update_name(f"{method} {route}")
        about = {"http.route": route, "http.response.status_code": status, "ocucb.request_id": request_id}
        known = {"ocucb.api_key": key, "ocucb.experiment": experiment}
        span.set_attributes({**about, **{name: value for name, value in known.items() if value}})
        if status >= SERVER_ERROR:
            span.set_attribute("error.type", str(status))
            span.set_status(Status(StatusCode.ERROR))
        span.end()

    def close(self) -> None:
        """Send what was not sent yet, and stop."""
        self._provider.shutdown()


def trace_id(span: Any) -> str:
    """Return the id of the trace of a span, as logs and other tools write it."""
    return f"{span.get_span_context().trace_id:032x}"


def open_tracing() -> Tracing:
    """Return tracing that sends spans by OTLP over HTTP, as the standard variables OTEL_... say."""
    try:
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter  # noqa: PLC0415
        from opentelemetry.sdk.resources import (  # noqa: PLC0415
            SERVICE_NAME,
            SERVICE_VERSION,
            OTELResourceDetector,
            Resource,
        )
        from opentelemetry.sdk.trace import TracerProvider  # noqa: PLC0415
        from opentelemetry.sdk.trace.export import BatchSpanProcessor  # noqa: PLC0415
    except ImportError:
        raise RequestError('traces need OpenTelemetry: install "ocucb[tracing]", or leave out the setting') from None
    # What the variables say comes last, and so wins: OTEL_SERVICE_NAME, OTEL_RESOURCE_ATTRIBUTES.
    ours = Resource({SERVICE_NAME: "ocucb", SERVICE_VERSION: __version__})
    provider = TracerProvider(resource=Resource.create().merge(ours).merge(OTELResourceDetector().detect()))
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
    return Tracing(provider)
