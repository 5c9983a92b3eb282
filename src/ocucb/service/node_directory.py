"""Which nodes serve, and which of them is the home of an experiment: a hint that saves time, never the truth."""

from __future__ import annotations

import hashlib
import logging
import secrets
import threading
import time
from collections.abc import Sequence
from functools import lru_cache

from ocucb.service.errors import StoreError
from ocucb.service.nginx_ring import NginxRing
from ocucb.service.stores import Store
from ocucb.service.stores.nodes import NodeRecord, beat, list_nodes, remove_node

BEAT_SECONDS = 0.5
DEAD_SECONDS = 2.0  # without a heartbeat, after which a node is no home any more
FORGET_SECONDS = 60.0
MAX_REMEMBERED_HOMES = 100_000

logger = logging.getLogger(__name__)


class _SeenNode:
    """A node, and when its heartbeat was last seen to change, by our own clock."""

    def __init__(self, record: NodeRecord) -> None:
        self.record, self.at = record, time.monotonic()


class NodeDirectory:
    """Writes that this node is there, reads which others are, and finds the home of an experiment among them.

    The home is the live node with the largest hash of its name and the experiment's (rendezvous hashing): all nodes
    that see the same nodes agree, and a node that comes or goes moves only its own share. If `as_nginx`, it is the one
    to which nginx sends the experiment, if it hashes by its name among the same addresses; the same holds then.
    """

    def __init__(self, store: Store, address: str, as_nginx: bool = False) -> None:
        self._store, self._choose = store, choose_as_nginx if as_nginx else choose_home
        self._own = NodeRecord(secrets.token_hex(8), address.rstrip("/"), 0)
        self._seen: dict[str, _SeenNode] = {}
        self._live: tuple[NodeRecord, ...] = ()
        self._homes: dict[str, NodeRecord | None] = {}
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._beat_on, name="ocucb heartbeat", daemon=True)

    @property
    def name(self) -> str:
        """What this node is called."""
        return self._own.name

    @property
    def live(self) -> tuple[NodeRecord, ...]:
        """The other nodes whose heartbeats are seen to change."""
        return self._live

    @property
    def nodes(self) -> tuple[NodeRecord, ...]:
        """The nodes that serve: itself, and the others that are live."""
        return self._own, *self._live

    def start(self) -> NodeDirectory:
        """Be one of the nodes from now on."""
        self.refresh()
        self._thread.start()
        return self

    def close(self) -> None:
        """Be none of the nodes any more."""
        self._stop.set()
        self._thread.join()
        try:
            with self._store.write() as transaction:
                remove_node(transaction, self._own)
        except StoreError as error:
            logger.warning("this node is still listed among those that serve: %s", error.reason)

    def home(self, experiment: str) -> NodeRecord | None:
        """Return the home of an experiment; None if it is this node."""
        homes = self._homes
        if experiment not in homes:
            if len(homes) >= MAX_REMEMBERED_HOMES:
                homes.clear()
            chosen = self._choose(self.nodes, experiment)
            homes[experiment] = None if chosen.name == self._own.name else chosen
        return homes.get(experiment)

    def home_name(self, experiment: str) -> str:
        """Return the name of the node that is the home of an experiment."""
        home = self.home(experiment)
        return self.name if home is None else home.name

    def is_home(self, experiment: str) -> bool:
        """Tell whether this node is the home of an experiment."""
        return self.home(experiment) is None

    def refresh(self) -> None:
        """Write a heartbeat, and read those of the other nodes."""
        self._own = self._own._replace(heartbeat=self._own.heartbeat + 1)
        with self._store.write() as transaction:
            beat(transaction, self._own)
            found = list_nodes(transaction)
            for silent in self._take_in(found):
                remove_node(transaction, silent)

    def _take_in(self, found: list[NodeRecord]) -> list[NodeRecord]:
        """Note whose heartbeat has changed; return those whose has not for so long that they can be forgotten."""
        now, silent = time.monotonic(), []
        others = [record for record in found if record.name != self._own.name]
        for record in others:
            seen = self._seen.get(record.name)
            if seen is None or seen.record.heartbeat != record.heartbeat:
                self._seen[record.name] = _SeenNode(record)
            elif now - seen.at > FORGET_SECONDS:
                silent.append(record)
        names = {record.name for record in others}
        self._seen = {name: seen for name, seen in self._seen.items() if name in names}
        self._set_live(now)
        return silent

    def _set_live(self, now: float) -> None:
        live = tuple(seen.record for seen in self._seen.values() if now - seen.at <= DEAD_SECONDS)
        if [(node.name, node.address) for node in live] != [(node.name, node.address) for node in self._live]:
            logger.info("nodes that serve", extra={"fields": {"others": [node.address for node in live]}})
            self._live, self._homes = live, {}

    def _beat_on(self) -> None:
        while not self._stop.wait(BEAT_SECONDS):
            try:
                self.refresh()
            except StoreError as error:
                logger.debug("no heartbeat: %s", error.reason)
                self._set_live(time.monotonic())
            except Exception:
                logger.exception("the heartbeat failed and goes on")


def choose_home(nodes: Sequence[NodeRecord], experiment: str) -> NodeRecord:
    """Return the node that is the home of an experiment among these."""
    name = experiment.encode()
    return max(nodes, key=lambda node: hashlib.blake2b(name, key=node.name.encode(), digest_size=8).digest())


def choose_as_nginx(nodes: Sequence[NodeRecord], experiment: str) -> NodeRecord:
    """Return the node to which nginx sends an experiment by `hash`, if its servers are these nodes as advertised.

    Of two with one address, as when a node was started again, it is the first.
    """
    by_server = {node.address.removeprefix("http://"): node for node in reversed(nodes)}
    return by_server[_ring(tuple(sorted(by_server))).find(experiment)]


@lru_cache(maxsize=8)
def _ring(servers: tuple[str, ...]) -> NginxRing:
    return NginxRing(servers)
