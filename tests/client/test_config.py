"""Whom a client trusts."""

from __future__ import annotations

import ssl

import pytest

from ocucb_client.config import check_config


@pytest.mark.parametrize(
    ("url", "loads"),
    [("https://bandit.example", True), ("HTTPS://bandit.example", True), ("http://127.0.0.1:8000", False)],
)
def test_authorities_are_loaded_where_a_server_must_show_who_it_is(url: str, loads: bool) -> None:
    tls = check_config(url, "ocucb_" + 12 * "a" + "_" + 43 * "b", 1.0, 1.0, 0).httpx_options()["verify"]
    assert bool(tls.cert_store_stats()["x509_ca"]) == loads
    assert (tls.verify_mode, tls.check_hostname) == (ssl.CERT_REQUIRED, True)  # so without any, none is trusted
