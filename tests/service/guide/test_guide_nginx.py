"""The guide's nginx before real nodes: TLS, limits, errors, streams, and nodes that come and go."""

from __future__ import annotations

import doctest
import json
import re
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import httpx
import pytest

from ocucb.service import nginx_ring
from ocucb.service.node_directory import choose_as_nginx
from ocucb.service.stores.nodes import NodeRecord
from service.guide.machine import GUIDE, Machine, blocks
from service.guide.proxy import NAME, Nginx
from service.helpers import wait_until
from service.load import prepare
from service.nodes.callers import Callers
from service.nodes.test_killed import Servers, free_ports
from service.server import PATIENCE, Server
from service.test_crashes import check
from tools.programs import locate

CALLERS = 4
NAMES = [f"{word} {number}" for number in range(250) for word in ("experiment", "größe, 100 % & mehr")]


@pytest.fixture(scope="module")
def machine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Machine]:
    """A machine that the tests of one node share; each has experiments of its own."""
    made = Machine(tmp_path_factory.mktemp("machine"))
    yield made
    made.kill()


@pytest.fixture(scope="module")
def node(machine: Machine) -> Server:
    return machine.start()


@pytest.fixture(scope="module")
def nginx(machine: Machine, node: Server) -> Iterator[Nginx]:
    with Nginx(machine, [node.url]) as started:
        yield started


@pytest.fixture
def client(nginx: Nginx, node: Server) -> Iterator[httpx.Client]:
    with nginx.client(node.key) as made:
        yield made


def create(client: httpx.Client, name: str) -> str:
    """Create an experiment, and return where it is."""
    client.post("/v1/experiments", json={"name": name, "arms": ["red", "green"]}).raise_for_status()
    return f"/v1/experiments/{name}"


def test_the_configuration_is_one_that_nginx_takes(nginx: Nginx) -> None:
    said = nginx.check()
    assert "test is successful" in said
    assert "[warn]" not in said


def test_decisions_over_tls(client: httpx.Client, node: Server) -> None:
    path = create(client, "decisions")
    answer = client.post(f"{path}/decisions", json={}, headers={"X-Request-Id": "mine.1"})
    assert answer.status_code == 200
    assert answer.headers["X-Request-Id"] == "mine.1"
    assert answer.headers["Strict-Transport-Security"] == "max-age=31536000"
    decision = answer.json()["decisions"][0]["id"]
    assert client.post("/v1/rewards", json={"decision": decision, "reward": 1}).json()["outcome"] == "counted"
    other = client.post("/v1/rewards", json={"decision": decision, "reward": 0}, headers={"X-Request-Id": "not good"})
    assert other.status_code == 409
    assert other.json()["error"]["request_id"] == other.headers["X-Request-Id"] != "not good"
    node.wait_for(f'"request_id": "{other.headers["X-Request-Id"]}".* "status": 409')


def test_the_service_knows_that_it_is_behind_tls(client: httpx.Client, node: Server, nginx: Nginx) -> None:
    """A browser's login works through nginx: the cookie is for https alone, and the origin is found to be our own."""
    assert client.get("/login").status_code == 200
    answer = client.post("/login", data={"key": node.key}, headers={"Origin": nginx.url})
    assert answer.status_code == 303, answer.text
    assert "; secure" in answer.headers["Set-Cookie"].lower()
    foreign = client.post("/login", data={"key": node.key}, headers={"Origin": "https://elsewhere.example"})
    assert foreign.status_code == 403


def test_a_body_that_is_too_large(client: httpx.Client) -> None:
    """The service refuses what is too large for a decision, nginx what is too large for anything: in one shape."""
    path = create(client, "bodies")
    for what, size in (("decisions", 1_000_001), ("import", 20_000_001)):
        answer = client.post(f"{path}/{what}", content=b" " * size, headers={"Content-Type": "application/json"})
        assert answer.status_code == 413
        error = answer.json()["error"]
        assert error["code"] == "too-large"
        assert error["request_id"] == answer.headers["X-Request-Id"]


def test_a_large_import_comes_through(client: httpx.Client) -> None:
    path, log = create(client, "import"), {"log": [{"arm": "red", "reward": 1.0}] * 90_000}
    assert len(json.dumps(log)) > 2_000_000
    assert client.post(f"{path}/import", json=log).status_code == 200
    assert client.get(f"{path}/arms").json()["arms"][0]["statistics"]["pulls"] == 90_000


def test_an_export_is_a_stream(client: httpx.Client, node: Server, nginx: Nginx) -> None:
    """Somebody who pauses while reading gets all of it, and nginx keeps none of it on disk."""
    path, many = create(client, "export"), 40_000
    for _ in range(many // 1000):
        client.post(f"{path}/decisions", json={"count": 1000}).raise_for_status()
    with socket.socket() as plain:
        plain.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        plain.settimeout(PATIENCE)
        plain.connect(("127.0.0.1", nginx.port))
        with nginx.context().wrap_socket(plain, server_hostname=NAME) as caller:
            head = f"GET {path}/export HTTP/1.0\r\nHost: {NAME}\r\nAuthorization: Bearer {node.key}"
            caller.sendall(f"{head}\r\n\r\n".encode())
            text = caller.recv(4096)
            time.sleep(1.0)
            text += b"".join(iter(lambda: caller.recv(4096), b""))
    assert text.startswith(b"HTTP/1.1 200 ")
    assert text.count(b'"statistics"') == many
    assert "upstream response is buffered to a temporary file" not in nginx.errors


def test_no_node_answers(tmp_path: Path) -> None:
    nobody = f"http://127.0.0.1:{free_ports(1)[0]}"
    with Nginx(Machine(tmp_path), [nobody]) as nginx, nginx.client("none") as client:
        answer = client.post("/v1/rewards", headers={"X-Request-Id": "mine"})
    assert answer.status_code == 503
    assert answer.headers["Retry-After"] == "1"
    assert answer.headers["X-Request-Id"] == "mine"
    error = answer.json()["error"]
    assert (error["code"], error["request_id"]) == ("unavailable", "mine")


def test_nodes_restarted_one_after_the_other(cluster: Machine, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Callers notice nothing, or hear 503 with Retry-After and ask again; nothing that they were told is lost."""
    address = cluster.environment()["OCUCB_DATABASE"]
    prepare(address)
    key = cluster.shell("ocucb keys make --name callers --role decide --role reward").strip()
    found = re.search(r"systemctl restart [^\n]*\n(.+)done", blocks("bash")["rolling restart"], flags=re.DOTALL)
    assert found is not None
    wait = found[1].strip().splitlines()
    ports = free_ports(2)
    with Servers(address, tmp_path) as servers, Nginx(cluster, [f"http://127.0.0.1:{port}" for port in ports]) as nginx:
        running = [servers.start(port) for port in ports]
        for port in ports:
            cluster.shell(f"port={port}\n{wait[0]}")
        monkeypatch.setenv("SSL_CERT_FILE", str(nginx.certificate))
        with Callers([f"https://127.0.0.1:{nginx.port}"], key, CALLERS) as callers:
            callers.wait(0, 30)
            for port, server in zip(ports, running, strict=True):
                server.send_signal(signal.SIGTERM)
                assert server.wait() == 0
                servers.start(port)
                cluster.shell("\n".join([f"port={port}", *wait]))
                callers.wait(0, 30)
    assert callers.problems == []
    assert callers.statuses[503] <= 2 * CALLERS  # one request under way for each of them, twice
    check(address, callers.noted)


def test_nginx_that_hashes_by_experiment_finds_its_home(tmp_path: Path) -> None:
    """The guide's lines, in a real nginx whose servers only say who they are; then with one server less."""
    assert doctest.testmod(nginx_ring) == (0, 1)
    (hash_line,) = re.findall(r"`(hash [^`]*;)`", GUIDE.read_text(encoding="utf-8"))
    (map_line,) = re.findall(r"`(map \$uri [^`]*})`", GUIDE.read_text(encoding="utf-8"))
    front, *ports = free_ports(4)
    servers = [f"127.0.0.1:{port}" for port in ports]
    nodes = [NodeRecord(str(place), f"http://{server}", 1) for place, server in enumerate(servers)]
    for left in (3, 2):
        upstream = "".join(f"server {server};" for server in servers[:left])
        says = "".join(f"server {{ listen {server}; return 200 {server}; }}" for server in servers)
        config = tmp_path / f"nginx {left}.conf"
        config.write_text(
            f"daemon off; pid {tmp_path}/pid; error_log {tmp_path}/errors; events {{ }} http {{ access_log off; "
            f"client_body_temp_path {tmp_path}/body; proxy_temp_path {tmp_path}/proxy; {map_line} "
            f"upstream ocucb {{ zone ocucb 64k; {hash_line} {upstream} }} {says} "
            f"server {{ listen 127.0.0.1:{front}; location / {{ proxy_pass http://ocucb; }} }} }}",
            encoding="utf-8",
        )
        words = [str(locate("nginx")), "-c", str(config), "-p", str(tmp_path), "-e", str(tmp_path / "errors")]
        with subprocess.Popen(words) as running, httpx.Client(base_url=f"http://127.0.0.1:{front}") as client:
            try:
                wait_until(lambda: _listens(front), "nginx listens")
                for name in NAMES:
                    sent = client.post(f"/v1/experiments/{quote(name)}/decisions").text
                    assert choose_as_nginx(nodes[:left], name).address == f"http://{sent}"
            finally:
                running.terminate()


def _listens(port: int) -> bool:
    with socket.socket() as tried:
        return tried.connect_ex(("127.0.0.1", port)) == 0
