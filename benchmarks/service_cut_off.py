"""A node that is cut off from the network: the longest that an experiment at home there had to wait.

Two nodes on PostgreSQL. All that the second node sends and receives, to and from the database and the first node, goes
through relays, which at one blow pass nothing on any more: connections stay open and say nothing, as behind a broken
switch. Eight callers ask the first node for decisions of an experiment whose home is the second, with an idempotency
key each until it is answered, so that the second is cut off in the middle of a transaction more often than not. What is
measured is the longest time from asking for a decision to getting it; several times over, each with a new second node.
The first node has served another experiment before.

    python -m benchmarks.service_cut_off postgresql://postgres@/postgres?host=/run/postgresql
"""

from __future__ import annotations

import itertools
import select
import socket
import sys
import tempfile
import threading
import time
from contextlib import ExitStack
from pathlib import Path

from sqlalchemy.engine import make_url

from benchmarks.service import caller, free_port, prepare, running
from benchmarks.service_nodes import database
from benchmarks.table import write
from ocucb.service.access import Access
from ocucb.service.node_directory import choose_home
from ocucb.service.stores import Store
from ocucb.service.stores.nodes import list_nodes

AT_MOST = 3.0
CALLERS = 8
TIMES = 5
WARM, BEFORE = 100, 300  # decisions that do not count, and that are compared with
SECONDS_AFTER = 6.0
CHUNK = 65_536
HEARD_OF = 3.0  # seconds until nodes know of each other


class Relay:
    """Passes bytes on between a port of this machine and a place, until it is cut."""

    def __init__(self, place: tuple[str, int] | str) -> None:
        self._place, self._cut = place, threading.Event()
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def cut(self) -> None:
        """Pass nothing on any more; who is connected stays so, and hears nothing."""
        self._cut.set()

    def _accept(self) -> None:
        while not self._cut.is_set():
            near, _ = self._listener.accept()
            threading.Thread(target=self._pass_on, args=(near,), daemon=True).start()

    def _pass_on(self, near: socket.socket) -> None:
        far = socket.socket(socket.AF_UNIX if isinstance(self._place, str) else socket.AF_INET)
        try:
            far.connect(self._place)
            while True:
                for one in select.select([near, far], [], [])[0]:
                    if self._cut.is_set():
                        threading.Event().wait()  # for ever, with both ends open
                    data = one.recv(CHUNK)
                    if not data:
                        return
                    (far if one is near else near).sendall(data)
        except OSError:
            pass
        finally:
            near.close()
            far.close()


def place_of(server: str) -> tuple[str, int] | str:
    """Return where a PostgreSQL server listens: a host and port, or the path of a socket."""
    url = make_url(server)
    host, port = str(url.query.get("host", url.host or "127.0.0.1")), url.port or 5432
    return f"{host}/.s.PGSQL.{port}" if host.startswith("/") else (host, port)


class Callers:
    """Threads that ask a node for one decision after the other, each until it is answered."""

    def __init__(self, port: int, key: str, name: str) -> None:
        self.longest, self.answered, self._over = 0.0, 0, threading.Event()
        self._numbers = itertools.count()
        self._threads = [threading.Thread(target=self._ask, args=(port, key, name)) for _ in range(CALLERS)]

    def __enter__(self) -> Callers:
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *what: object) -> None:
        self._over.set()
        for thread in self._threads:
            thread.join()

    def _ask(self, port: int, key: str, name: str) -> None:
        with caller(port, key) as ask:
            while not self._over.is_set():
                began, headers = time.monotonic(), {"Idempotency-Key": f"{name} {next(self._numbers)}"}
                while ask.post(f"/v1/experiments/{name}/decisions", headers=headers).status_code != 200:
                    time.sleep(0.02)
                self.longest = max(self.longest, time.monotonic() - began)
                self.answered += 1

    def wait(self, decisions: int) -> None:
        """Wait until so many more decisions were made."""
        enough = self.answered + decisions
        while self.answered < enough:
            time.sleep(0.01)


def cut_off(stack: ExitStack, server: str, address: str, first: int, key: str, folder: Path) -> tuple[float, float]:
    """Start a second node, cut it off; return the longest wait before that, and after."""
    to_database, port = Relay(place_of(server)), free_port()
    to_node = Relay(("127.0.0.1", port))
    url = make_url(address)
    far = url.set(host="127.0.0.1", port=to_database.port).difference_update_query(["host"])
    words = ["serve", "--port", str(port), "--database", far.render_as_string(hide_password=False)]
    command = [sys.executable, "-m", "ocucb.cli", *words, "--advertise", f"http://127.0.0.1:{to_node.port}"]
    process = stack.enter_context(running(command, port, folder))
    time.sleep(HEARD_OF)
    name = at_home(address, f"http://127.0.0.1:{to_node.port}")
    prepare(first, key, name, 10)
    with Callers(first, key, name) as callers:
        callers.wait(WARM)
        callers.longest = 0.0
        callers.wait(BEFORE)
        before, callers.longest = callers.longest, 0.0
        to_database.cut()
        to_node.cut()
        time.sleep(SECONDS_AFTER)
    process.kill()
    return before, callers.longest


def at_home(address: str, node: str) -> str:
    """Return a new name for an experiment whose home is a node."""
    store = Store(address)
    with store.read() as transaction:
        listed = list_nodes(transaction)
    store.close()
    names = (f"experiment {time.time_ns()} {number}" for number in itertools.count())
    return next(name for name in names if choose_home(listed, name).address == node)


def main() -> None:
    """Measure, and write the table."""
    (server,) = sys.argv[1:]
    with tempfile.TemporaryDirectory(dir=".") as name, ExitStack() as stack:
        folder = Path(name).resolve()
        address = stack.enter_context(database(server))
        store = Store(address)
        store.migrate()
        key = Access(store).make("benchmark", ["admin"])[1]
        store.close()
        port = free_port()
        words = ["serve", "--port", str(port), "--database", address, "--rate-limit", "1000000"]
        command = [sys.executable, "-m", "ocucb.cli", *words, "--advertise", f"http://127.0.0.1:{port}"]
        stack.enter_context(running(command, port, folder))
        prepare(port, key, "first", 10)
        with Callers(port, key, "first") as callers:  # so that the first node has served before
            callers.wait(WARM)
        waits = [cut_off(stack, server, address, port, key, folder) for _ in range(TIMES)]
    rows = [[str(number), f"{before:.2f}", f"{after:.2f}"] for number, (before, after) in enumerate(waits, 1)]
    rows.append(["longest", f"{max(one for one, _ in waits):.2f}", f"{max(two for _, two in waits):.2f}"])
    write("service_cut_off", __doc__ or "", ["", "before, s", f"after, s (at most {AT_MOST:g})"], rows)


if __name__ == "__main__":
    main()
