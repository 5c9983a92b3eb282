"""How a client is set up: where the service is, with which API key, and how long to wait."""

from __future__ import annotations

import ssl
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import httpx

from ocucb_client import checks
from ocucb_client.errors import wrong_value
from ocucb_client.version import __version__

_KEEP_IDLE = 4.0  # shorter than servers keep an idle connection, so that it is rarely closed while a request is sent


@dataclass(frozen=True)
class Config:
    """What every request needs; the API key is only in `headers`, which nothing prints."""

    url: str
    timeout: float
    attempt_timeout: float
    retries: int
    headers: Mapping[str, str] = field(repr=False)
    tls: ssl.SSLContext = field(repr=False)

    def httpx_options(self) -> dict[str, Any]:
        """Return what an httpx client is made with."""
        limits = httpx.Limits(max_connections=100, max_keepalive_connections=100, keepalive_expiry=_KEEP_IDLE)
        return {"base_url": self.url, "headers": self.headers, "limits": limits, "verify": self.tls}


def check_config(url: str, api_key: str, timeout: float, attempt_timeout: float, retries: int) -> Config:
    """Check what a client is made with. No message repeats the API key."""
    headers = {
        "Authorization": f"Bearer {checks.api_key(api_key)}",
        "User-Agent": f"ocucb-client/{__version__}",
        "Accept": "application/json",
    }
    where = _check_url(url)
    return Config(
        where,
        checks.positive("timeout", timeout, "it is the seconds that a call may take, retries included"),
        checks.positive("attempt_timeout", attempt_timeout, "it is the seconds to wait for one answer"),
        checks.whole("retries", retries, 0, "0 for none"),
        headers,
        _make_tls(where),
    )


def _make_tls(url: str) -> ssl.SSLContext:
    """Return whom to trust. Without TLS nobody is asked for: authorities, which take 20 ms to load, are left out."""
    return httpx.create_ssl_context() if url.startswith("https:") else ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)


def _check_url(url: str) -> str:
    try:
        parsed = httpx.URL(url)
    except (httpx.InvalidURL, TypeError):
        parsed = httpx.URL("")
    if parsed.scheme not in ("http", "https") or not parsed.host or parsed.query or parsed.fragment:
        raise wrong_value(f"url must be the address of the service, like http://127.0.0.1:8000, got {url!r}")
    if parsed.userinfo:
        raise wrong_value("url must have no user or password in it; the API key is given apart")
    return str(parsed)
