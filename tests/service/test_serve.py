"""The server process: how it starts, what it says, how it ends, and what keeps it from starting."""

from __future__ import annotations

import asyncio
import contextlib
import json
import re
import signal
import socket
import sqlite3
import stat
import time
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
import uvicorn
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol
from uvicorn.server import ServerState

from ocucb.service import connections
from ocucb.service.serve import _warn_beyond_loopback
from ocucb.service.settings import Settings
from service.launcher import run
from service.server import PATIENCE, Server, environment

COLOURS = {"name": "colours", "arms": ["red", "green"]}


def refused(folder: Path, *words: str, **variables: str) -> str:
    """Return the one line that a server says which does not start."""
    done = run(("serve", *words), folder, environment(**{"OCUCB_PORT": "0", **variables}))
    assert done.returncode == 2, done.stderr
    assert done.stdout == ""
    *log, last = done.stderr.splitlines()
    assert all(json.loads(line)["level"] == "warning" for line in log)
    assert last.startswith("ocucb: error: ")
    return last.removeprefix("ocucb: error: ")


def open_request(server: Server, head: str, body: str) -> socket.socket:
    """Begin a request whose last byte is not sent yet, and which the server has begun to read."""
    parts = urlsplit(server.url)
    connection = socket.create_connection((parts.hostname, parts.port), PATIENCE)
    fields = f"Host: x\r\nExpect: 100-continue\r\nContent-Length: {len(body)}"
    connection.sendall(f"{head}\r\n{fields}\r\n\r\n".encode())
    assert connection.recv(65_536) == b"HTTP/1.1 100 Continue\r\n\r\n"
    connection.sendall(body[:-1].encode())
    return connection


def test_a_key_at_the_first_start_and_never_again(tmp_path: Path) -> None:
    with Server(tmp_path) as first:
        key = first.key
        assert key is not None
        assert first.out.count(key) == 1
        assert first.ask("GET", "/healthz", None).status_code == 200
        assert first.ask("GET", "/v1/experiments", None).status_code == 401
        assert first.ask("POST", "/v1/experiments", key, json=COLOURS).status_code == 201
        assert first.stop(signal.SIGTERM) == 0
        assert first.log[-1]["message"] == "stopped"
    with Server(tmp_path) as second:
        assert second.key is None
        assert second.ask("GET", "/v1/experiments/colours", key).status_code == 200
        second.process.kill()
        assert second.process.wait(PATIENCE) == -signal.SIGKILL
    with Server(tmp_path) as third:
        assert third.key is None
        assert third.ask("GET", "/v1/experiments/colours", key).status_code == 200
        assert third.stop(signal.SIGINT) == 130
        assert third.log[-1]["message"] == "stopped"
    for server in (first, second, third):
        assert key.split("_", 2)[2] not in server.err
        assert "Traceback" not in server.err
    database = tmp_path / "ocucb.db"
    assert stat.S_IMODE(database.stat().st_mode) == 0o600
    assert key.split("_", 2)[2].encode() not in database.read_bytes()


def test_the_log_is_json_and_names_the_address(tmp_path: Path) -> None:
    with Server(tmp_path, OCUCB_PROT="1") as server:
        (line,) = [line for line in server.log if line["message"] == "listening"]
        assert (line["address"], line["database"]) == (server.url, "sqlite:///ocucb.db")
        (odd,) = [line for line in server.log if line["level"] == "warning"]
        assert odd["message"] == "the variable OCUCB_PROT is no setting and was ignored; did you mean OCUCB_PORT?"
        assert server.stop() == 0


@pytest.mark.parametrize("sign", [signal.SIGTERM, signal.SIGINT])
def test_open_requests_are_answered_before_the_end(sign: int, tmp_path: Path) -> None:
    with Server(tmp_path) as server:
        server.ask("POST", "/v1/experiments", server.key, json=COLOURS).raise_for_status()
        head = f"POST /v1/experiments/colours/decisions HTTP/1.1\r\nAuthorization: Bearer {server.key}"
        with open_request(server, f"{head}\r\nContent-Type: application/json", '{"count": 3}') as connection:
            server.process.send_signal(sign)
            server.wait_for("Shutting down")
            connection.sendall(b"}")
            answer = b""
            while piece := connection.recv(65_536):
                answer += piece
        assert server.process.wait(PATIENCE) == (0 if sign == signal.SIGTERM else 130)
        status, _, body = answer.decode().partition("\r\n\r\n")
        assert status.startswith("HTTP/1.1 200 ")
        assert len(json.loads(body)["decisions"]) == 3
    with sqlite3.connect(tmp_path / "ocucb.db") as database:
        assert database.execute("SELECT count(*) FROM log WHERE kind = 'decision'").fetchone() == (3,)
    database.close()


def test_a_second_ctrl_c_ends_it_at_once(tmp_path: Path) -> None:
    with Server(tmp_path, "--request-timeout", "3000") as server:
        server.ask("POST", "/v1/experiments", server.key, json=COLOURS).raise_for_status()
        head = f"POST /v1/experiments/colours/decisions HTTP/1.1\r\nAuthorization: Bearer {server.key}"
        with open_request(server, f"{head}\r\nContent-Type: application/json", '{"count": 3}'):
            server.process.send_signal(signal.SIGINT)
            server.wait_for("Waiting for connections to close")
            assert server.stop(signal.SIGINT) == 130
        assert server.err.endswith("stopped at once\n")


def test_a_port_that_is_taken(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        assert refused(tmp_path, "--port", str(port)) == (
            f"port {port} of 127.0.0.1 cannot be listened on: Address already in use; "
            "give another with --port, or 0 for any that is free"
        )
    assert list(tmp_path.iterdir()) == []


def test_a_host_that_is_not_here(tmp_path: Path) -> None:
    assert re.fullmatch(
        r"host 'nowhere\.invalid' cannot be listened on: .*; give another with --host",
        refused(tmp_path, "--host", "nowhere.invalid"),
    )
    assert "cannot be listened on: Cannot assign requested address" in refused(tmp_path, "--host", "203.0.113.5")
    assert "cannot be listened on" in refused(tmp_path, "--host", "x" * 100)


def test_bad_toml(tmp_path: Path) -> None:
    (tmp_path / "x.toml").write_text("port = ", encoding="utf-8")
    assert refused(tmp_path, "--config", "x.toml").startswith("file x.toml must be TOML, got: ")
    assert refused(tmp_path, OCUCB_CONFIG="x.toml").startswith("file x.toml must be TOML, got: ")


@pytest.mark.parametrize("folder", ["absent", "/proc"])  # nobody can write there, not even root
def test_a_folder_where_no_database_can_be_made(folder: str, tmp_path: Path) -> None:
    address = f"sqlite:///{folder}/ocucb.db"
    assert refused(tmp_path, "--database", address) == (
        f"the database {address} cannot be used: unable to open database file; choose another with --database"
    )


def test_a_database_in_memory(tmp_path: Path) -> None:
    assert refused(tmp_path, "--database", "sqlite:///:memory:").startswith("a database in memory is not durable")
    assert list(tmp_path.iterdir()) == []


def test_a_database_that_is_a_text_file(tmp_path: Path) -> None:
    text = tmp_path / "notes.txt"
    text.write_text("Not a database, but my notes.\n" * 100, encoding="utf-8")
    before = text.read_bytes()
    assert refused(tmp_path, "--database", "sqlite:///notes.txt") == (
        "the database sqlite:///notes.txt cannot be used: file is not a database; choose another with --database"
    )
    assert text.read_bytes() == before


def test_an_empty_file_is_a_new_database(tmp_path: Path) -> None:
    (tmp_path / "ocucb.db").touch()
    with Server(tmp_path) as server:
        assert server.key is not None
        assert server.stop() == 0


def test_a_newer_schema_is_refused(tmp_path: Path) -> None:
    with Server(tmp_path) as server:
        assert server.stop() == 0
    database = sqlite3.connect(tmp_path / "ocucb.db")
    with database:
        database.execute("UPDATE alembic_version SET version_num = '9999'")
    database.close()
    assert re.fullmatch(
        r"the database has schema 9999, newer than this ocucb knows \(up to \d+\); upgrade ocucb, .*",
        refused(tmp_path),
    )


def test_postgresql(postgresql: str, tmp_path: Path) -> None:
    """It is not there yet when the server starts; its address has a password, which nobody sees."""
    address = re.sub(r"://(\w*):?[^@]*@", r"://\1:hunter2@", postgresql)
    assert "hunter2" in address
    sockets = Path(parse_qs(urlsplit(address).query)["host"][0])
    late = tmp_path / "late"
    words = ("--database", address.replace(str(sockets), str(late)))
    with Server(tmp_path, *words, ready=False) as server:
        server.wait_for("the database does not answer yet")
        late.symlink_to(sockets)
        server.wait_for("listens on", "out")
        assert server.ask("GET", "/readyz", None).status_code == 200
        assert server.stop() == 0
        assert "hunter2" not in server.out + server.err
        assert [line["database"] for line in server.log if "database" in line] == [words[1].replace("hunter2", "***")]


def test_a_postgresql_that_does_not_come(tmp_path: Path) -> None:
    line = refused(tmp_path, "--database", f"postgresql://me:hunter2@/name?host={tmp_path}/absent")
    assert line.startswith(f"the database postgresql://me:***@/name?host={tmp_path}/absent cannot be used: ")


@pytest.mark.parametrize(
    ("host", "tls", "loud"),
    [("0.0.0.0", False, True), ("0.0.0.0", True, False), ("127.0.0.1", False, False), ("127.8.8.8", False, False)],
)
def test_beyond_loopback_is_said_loudly(
    host: str, tls: bool, loud: bool, capsys: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    with socket.socket() as bound:  # to nobody's harm: it never listens
        bound.bind((host, 0))
        _warn_beyond_loopback(Settings(host=host, behind_tls=tls), bound, f"http://{host}:1")
    printed = capsys.readouterr().err
    assert len(printed.splitlines()) > 3 if loud else printed == ""
    assert ("WARNING: http://0.0.0.0:1 can be reached from other machines, and without TLS." in printed) == loud
    assert [record.message for record in caplog.records] == ["listening beyond this machine without TLS"] * loud


async def empty(scope: Any, receive: Any, send: Any) -> None:
    """Answer 204 once the body is there."""
    while scope["type"] == "http" and (message := await receive()).get("more_body"):
        if message["type"] == "http.disconnect":
            return
    await send({"type": "http.response.start", "status": 204, "headers": []})
    await send({"type": "http.response.body"})


@contextlib.asynccontextmanager
async def listening() -> AsyncIterator[tuple[int, set[Any]]]:
    """Serve nothing, and hand out the port and the connections."""
    server = uvicorn.Server(uvicorn.Config(empty, http=connections.Connection, lifespan="off", log_config=None))
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
        serving = asyncio.create_task(server._serve([listener]))
        while not server.started:
            await asyncio.sleep(0.01)
        yield port, server.server_state.connections
        server.should_exit = True
        await serving


async def sent(request: bytes) -> bytes:
    """Send something, and return what comes back until the connection is closed."""
    async with listening() as (port, open_ones):
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(request)
        answer = asyncio.create_task(reader.read())
        while not answer.done():
            await asyncio.sleep(0.02)
            connections.close_late(open_ones)
        writer.close()
        return await answer


BEGUN = [
    (b"", b""),
    (b"POST / HT", b""),
    (b"POST / HTTP/1.1\r\nHost: x\r\nX-", b""),
    (b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\n1234", b""),
    (b"GET / HTTP/1.1\r\nHost: x\r\n\r\nGET / HTTP/1.1\r\n", b"HTTP/1.1 204 "),
    (b"GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", b"HTTP/1.1 204 "),
]


@pytest.mark.parametrize(("request_", "answer"), BEGUN)
def test_a_request_that_does_not_end_is_cut_off(
    request_: bytes, answer: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connections, "MAX_ARRIVAL_SECONDS", 0.3)
    got = asyncio.run(sent(request_))
    assert got.startswith(answer)
    assert got.count(b"HTTP/1.1") == (1 if answer else 0)


def test_an_idle_connection_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connections, "MAX_ARRIVAL_SECONDS", 0.1)

    async def twice() -> None:
        async with listening() as (port, open_ones):
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            for _ in range(2):
                writer.write(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
                assert (await reader.readuntil(b"\r\n\r\n")).startswith(b"HTTP/1.1 204 ")
                await asyncio.sleep(0.3)
                connections.close_late(open_ones)
            writer.close()

    asyncio.run(twice())


@pytest.mark.parametrize("begin", [b"GET /", b"GET / HTTP/1.1\r\nX: ", b"GET / HTTP/1.1\r\nX: a\r\n"])
def test_a_head_that_is_too_large_is_refused(begin: bytes) -> None:
    rest = begin[-6:] if begin.endswith(b"\n") else b"a"
    head = (begin + rest * connections.MAX_HEAD_BYTES)[: connections.MAX_HEAD_BYTES + 1]
    answer = asyncio.run(sent(head))
    assert answer.startswith(b"HTTP/1.1 400 ")
    assert answer.count(b"HTTP/1.1") == 1
    assert error_in(answer) == ("bad-http", "The head of a request must be 65536 bytes or less.")


def error_in(answer: bytes) -> tuple[str, str]:
    """Return code and message of an answer that has the one shape of errors."""
    head, _, body = answer.partition(b"\r\n\r\n")
    assert b"content-type: application/json" in head
    error = json.loads(body)["error"]
    assert error["request_id"]
    return error["code"], error["message"]


def test_broken_http_has_the_shape_of_all_errors() -> None:
    answer = asyncio.run(sent(b"NONSENSE\r\n\r\n"))
    assert answer.startswith(b"HTTP/1.1 400 ")
    assert error_in(answer)[0] == "bad-http"


def test_too_many_connections_are_told_so(tmp_path: Path) -> None:
    with Server(tmp_path, "--max-connections", "2") as server:
        host, port = server.url.removeprefix("http://").split(":")
        assert server.ask("GET", "/healthz", None).status_code == 200
        with socket.create_connection((host, int(port))):
            end = time.monotonic() + 60.0
            while (answer := server.ask("GET", "/healthz", None)).status_code == 200:
                assert time.monotonic() < end
        assert answer.status_code == 503
        assert answer.headers["retry-after"] == "1"
        assert answer.json()["error"]["code"] == "busy"


def test_uvicorn_has_what_connections_extend() -> None:
    """These are no part of uvicorn's documented interface: see pyproject.toml for its upper bound."""

    async def make_protocol() -> HttpToolsProtocol:
        return HttpToolsProtocol(uvicorn.Config(nothing), ServerState(), {})

    protocol = asyncio.run(make_protocol())
    values = ("limit_concurrency", "app", "connections", "tasks", "transport", "cycle", "pipeline", "parser", "headers")
    states = ("app_state", "server_state", "timeout_keep_alive", "loop")
    methods = ("connection_made", "connection_lost", "data_received", "send_400_response", "on_response_complete")
    parsed = ("on_message_begin", "on_headers_complete", "on_body", "on_message_complete")
    moved = [name for name in (*values, *states, *methods, *parsed) if not hasattr(protocol, name)]
    moved += [name for name in ("startup", "on_tick", "capture_signals") if not hasattr(uvicorn.Server, name)]
    assert not moved, f"uvicorn {uvicorn.__version__} has moved {moved}: see src/ocucb/service/connections.py, serve.py"


async def nothing(scope: object, receive: object, send: object) -> None:
    """An app that is never called."""
