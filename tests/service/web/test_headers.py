"""What the gateway sends with every answer, without a server."""

from __future__ import annotations

import asyncio

import pytest
from starlette.types import Message

from ocucb.service.web.headers import ResponseSender
from ocucb.service.web.route_table import PAGE_FILE_POLICY, PAGE_POLICY, ROUTE_POLICIES, RoutePolicy


def headers_of(policy: RoutePolicy, status: int = 200, own: tuple[tuple[bytes, bytes], ...] = ()) -> dict[str, str]:
    """Return the headers of an answer, of which none may come twice."""
    sent: list[Message] = []

    async def send(message: Message) -> None:
        sent.append(message)

    response = ResponseSender(send, "an-id")
    response.policy = policy
    asyncio.run(response({"type": "http.response.start", "status": status, "headers": list(own)}))
    names = [name for name, _ in sent[0]["headers"]]
    assert len(names) == len(set(names))
    return {name.decode(): value.decode() for name, value in sent[0]["headers"]}


@pytest.mark.parametrize("policy", [*ROUTE_POLICIES.values(), PAGE_POLICY, PAGE_FILE_POLICY])
def test_every_answer_is_guarded(policy: RoutePolicy) -> None:
    found = headers_of(policy)
    assert found["x-request-id"] == "an-id"
    assert found["x-content-type-options"] == "nosniff"
    assert found["x-frame-options"] == "DENY"
    assert "frame-ancestors 'none'" in found["content-security-policy"]
    assert "unsafe" not in found["content-security-policy"]


def test_browsers_keep_static_files_but_no_errors_and_nothing_else() -> None:
    assert headers_of(PAGE_FILE_POLICY)["cache-control"] == "public, max-age=3600"
    assert headers_of(PAGE_FILE_POLICY, 399)["cache-control"] == "public, max-age=3600"
    assert headers_of(PAGE_FILE_POLICY, 400)["cache-control"] == "no-store"
    assert headers_of(PAGE_POLICY)["cache-control"] == "no-store"


def test_a_page_may_be_stricter() -> None:
    own = ((b"content-security-policy", b"default-src 'none'"),)
    assert headers_of(PAGE_POLICY, own=own)["content-security-policy"] == "default-src 'none'"
