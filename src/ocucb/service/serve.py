"""The server process: opens the store, makes the first key, listens, and at the end leaves nothing half done."""

from __future__ import annotations

import contextlib
import gc
import importlib
import ipaddress
import logging
import math
import os
import signal
import socket
import sys
from collections.abc import Callable, Iterator, Sequence
from types import FrameType, TracebackType
from typing import Any

import uvicorn

from ocucb import __version__
from ocucb.bandit import Bandit
from ocucb.policies import OCUCBn
from ocucb.precompile import use_all
from ocucb.service.access import Access
from ocucb.service.connections import Connection, close_late
from ocucb.service.engine import Engine, Limits
from ocucb.service.errors import ServiceError
from ocucb.service.logs import start_logs
from ocucb.service.node_directory import NodeDirectory
from ocucb.service.open_store import open_or_create_store
from ocucb.service.settings import Settings, mask
from ocucb.service.stores import Store
from ocucb.service.web.app import build_app
from ocucb.service.web.app_state import Service
from ocucb.service.web.tracing import open_tracing

INTERRUPTED = 130
BACKLOG = 2048  # connections that wait to be accepted
KEEP_ALIVE_SECONDS = 75  # of an idle connection: longer than proxies keep theirs
SWITCH_SECONDS = 0.0005  # after which, on SQLite, the writer lets the event loop run, and the other way round
SPARE_FILES = 256  # beside connections: the database, the log, what libraries open
GARBAGE_THRESHOLD = 20_000  # new objects, before garbage is searched for: some hundred requests have as many
TICKS_BETWEEN_CHECKS = 50  # of a tenth of a second, between two checks for connections that are held for nothing

logger = logging.getLogger(__name__)


class Announcer:
    """What the process says on standard output: the first key, once, and the address when it listens."""

    def show_key(self, key: str) -> None:
        """Show the admin key. Only here: never in the log."""
        line = "=" * 78
        print(f"{line}\nThe admin key of this service, shown only this once. Keep it in a safe place:\n")
        print(f"    {key}\n")
        print(f"If it is lost, make another: ocucb keys make --name admin --role admin\n{line}", flush=True)

    def show_address(self, url: str) -> None:
        """Say where the service listens."""
        print(f"ocucb {__version__} listens on {url} (API: {url}/docs; Ctrl-C stops it)", flush=True)


def serve(settings: Settings, notes: Sequence[str] = (), announcer: Announcer | None = None) -> None:
    """Serve until SIGTERM, or until Ctrl-C, which raises KeyboardInterrupt when all is done.

    What is open is answered, what is queued is stored. What keeps it from serving is one clear `ServiceError`.
    `notes` are warnings for the log. Must be called in the main thread.
    """
    start_logs(settings.log_level, settings.log_format)
    for note in notes:
        logger.warning(note)
    if settings.advertise and not settings.database.startswith("postgresql"):
        raise ServiceError("--advertise is for several nodes, which need PostgreSQL; leave it out, or see --database")
    _allow_files(2 * settings.max_connections + SPARE_FILES)
    announcer = announcer or Announcer()
    with StopSignals() as stop, _bound(settings) as listener, open_or_create_store(settings.database) as store:
        access = Access(store)
        if (key := access.make_first_key()) is not None:
            announcer.show_key(key)
        _warm_up()
        if settings.database.startswith("sqlite"):  # the writer for PostgreSQL waits for that most of the time
            sys.setswitchinterval(SWITCH_SECONDS)
        gc.set_threshold(GARBAGE_THRESHOLD)
        gc.freeze()  # what is loaded stays: to search it for garbage again and again makes callers wait
        url = _url(listener)
        _warn_beyond_loopback(settings, listener, url)
        with contextlib.ExitStack() as stack:
            engine = stack.enter_context(_running(Engine(store, limits=_limits(settings), key_verifier=access)))
            directory = stack.enter_context(_listed(settings, store)) if settings.advertise else None
            tracing = stack.enter_context(contextlib.closing(open_tracing())) if settings.traces else None
            app = build_app(Service(settings, store, engine, access, directory, tracing))

            def listening() -> None:
                logger.info("listening", extra={"fields": {"address": url, "database": mask(settings.database)}})
                announcer.show_address(url)

            stop.server = _Server(_config(app, settings), listening)
            stop.server.listen(listener)
    logger.info("stopped")
    if stop.asked == signal.SIGINT:
        raise KeyboardInterrupt


class StopSignals:
    """What SIGTERM and Ctrl-C do: the first ends all in order, a second Ctrl-C ends it at once."""

    def __init__(self) -> None:
        self.asked: int | None = None
        self.server: _Server | None = None

    def __enter__(self) -> StopSignals:
        self._before = {sign: signal.signal(sign, self._handle) for sign in (signal.SIGINT, signal.SIGTERM)}
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        for sign, handler in self._before.items():
            signal.signal(sign, handler)

    def _handle(self, sign: int, _: FrameType | None) -> None:
        if self.asked is not None:
            if sign == signal.SIGINT:  # all that was answered is stored; nobody waits for the rest
                os.write(2, b"stopped at once\n")
                os._exit(INTERRUPTED)
            return
        self.asked = sign
        if self.server is not None:
            self.server.should_exit = True
        elif sign == signal.SIGINT:
            raise KeyboardInterrupt
        else:
            raise SystemExit(0)


class _Server(uvicorn.Server):
    """Says when it listens, and leaves signals to `StopSignals`."""

    def __init__(self, config: uvicorn.Config, listening: Callable[[], None]) -> None:
        super().__init__(config)
        self._listening = listening

    def listen(self, listener: socket.socket) -> None:
        """Serve until told to stop."""
        try:
            self.run([listener])
        except SystemExit:
            raise ServiceError("the service did not start; the log above says why") from None

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self._listening()

    async def on_tick(self, counter: int) -> bool:
        if counter % TICKS_BETWEEN_CHECKS == 0:
            close_late(self.server_state.connections)
        return await super().on_tick(counter)

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


def _config(app: Callable[..., Any], settings: Settings) -> uvicorn.Config:
    return uvicorn.Config(
        app,
        loop="uvloop" if os.name == "posix" else "asyncio",
        http=Connection,
        ws="none",
        lifespan="on",
        log_config=None,
        log_level=settings.log_level,
        access_log=False,
        server_header=False,
        backlog=BACKLOG,
        limit_concurrency=settings.max_connections,
        timeout_keep_alive=KEEP_ALIVE_SECONDS,
        timeout_graceful_shutdown=math.ceil(settings.request_timeout) + 1,
        proxy_headers=bool(settings.trusted_proxies),
        forwarded_allow_ips=settings.trusted_proxies,
    )


def _limits(settings: Settings) -> Limits:
    return Limits(
        batch=settings.max_batch,
        waiting=settings.max_waiting,
        sweep=settings.sweep,
        snapshot=settings.snapshot,
        cached_experiments=settings.cached_experiments,
        keep_idempotency_keys=settings.keep_idempotency_keys,
    )


@contextlib.contextmanager
def _running(engine: Engine) -> Iterator[Engine]:
    engine.start()
    try:
        yield engine
    finally:
        engine.close()


@contextlib.contextmanager
def _listed(settings: Settings, store: Store) -> Iterator[NodeDirectory]:
    """Be one of the nodes that pass requests on to each other."""
    directory = NodeDirectory(store, settings.advertise, settings.homes == "nginx").start()
    try:
        yield directory
    finally:
        directory.close()


@contextlib.contextmanager
def _bound(settings: Settings) -> Iterator[socket.socket]:
    """Take the port, before anything else is touched; nobody can connect until the server listens."""
    try:
        found = socket.getaddrinfo(settings.host, settings.port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
        family, kind, protocol, _, place = min(found, key=lambda one: one[0] != socket.AF_INET)
        listener = socket.socket(family, kind, protocol)
    except (OSError, UnicodeError) as problem:
        raise ServiceError(
            f"host {settings.host!r} cannot be listened on: {problem}; give another with --host"
        ) from None
    with listener:
        try:
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listener.bind(place)
        except OSError as problem:
            raise ServiceError(
                f"port {settings.port} of {settings.host} cannot be listened on: {problem.strerror}; "
                "give another with --port, or 0 for any that is free"
            ) from None
        yield listener


def _allow_files(count: int) -> None:
    """Ask the system for so many open files, where it counts them; each connection is one."""
    if os.name == "posix":
        resource: Any = importlib.import_module("resource")
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        if soft != resource.RLIM_INFINITY and soft < count:
            most = count if hard == resource.RLIM_INFINITY else min(count, hard)
            resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, most), hard))


def _url(listener: socket.socket) -> str:
    name, port = listener.getsockname()[:2]
    return f"http://[{name}]:{port}" if ":" in name else f"http://{name}:{port}"


def _warn_beyond_loopback(settings: Settings, listener: socket.socket, url: str) -> None:
    """Say loudly that keys and data will travel in the open."""
    if settings.behind_tls or ipaddress.ip_address(listener.getsockname()[0].partition("%")[0]).is_loopback:
        return
    logger.warning("listening beyond this machine without TLS", extra={"fields": {"address": url}})
    print(
        f"\n{'!' * 78}\nWARNING: {url} can be reached from other machines, and without TLS.\n"
        "Keys, logins, decisions and rewards can be read and changed on the way.\n"
        "Listen on 127.0.0.1, or put a proxy that speaks TLS in front and say --behind-tls.\n"
        f"{'!' * 78}\n",
        file=sys.stderr,
        flush=True,
    )


def _warm_up() -> None:
    """Compile what every experiment needs, or load it: no caller must wait for that."""
    use_all(Bandit(OCUCBn(), [0, 1]))
