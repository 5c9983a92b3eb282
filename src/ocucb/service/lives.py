"""The experiments that a node has in memory: loaded when first asked for, dropped when in doubt or long unused."""

from __future__ import annotations

import hashlib
import logging
from collections import OrderedDict
from collections.abc import Iterable, Iterator
from typing import Any

from ocucb.errors import OcucbError
from ocucb.service.errors import LogError
from ocucb.service.fold import Live
from ocucb.service.records import Entry
from ocucb.service.stores import Store, Transaction
from ocucb.service.text import decode, encode

logger = logging.getLogger(__name__)
PIECE = 5000


class Lives:
    """Experiments in memory by id and by name, at most `most` of them. For one thread."""

    def __init__(self, store: Store, most: int) -> None:
        self._store, self._most = store, most
        self._by_id: OrderedDict[int, Live] = OrderedDict()
        self._ids: dict[str, int] = {}

    def get(self, names: Iterable[str], ids: Iterable[int]) -> tuple[dict[int, Live], dict[int, LogError]]:
        """Return those of these experiments that exist, and what is wrong with those whose log cannot be read."""
        wanted = {self._ids[name] for name in names if name in self._ids} | {i for i in ids if i in self._by_id}
        found = {experiment: self._by_id[experiment] for experiment in wanted}
        for experiment in wanted:
            self._by_id.move_to_end(experiment)
        absent_names = [name for name in names if name not in self._ids]
        absent_ids = [experiment for experiment in ids if experiment not in self._by_id]
        broken: dict[int, LogError] = {}
        if absent_names or absent_ids:
            with self._store.read() as transaction:
                for head in transaction.find(absent_names, absent_ids):
                    try:
                        found[head.id] = load(transaction, head.id, head.seq)
                        self.add(found[head.id])
                    except LogError as problem:
                        logger.error("experiment %r: %s", head.name, problem)
                        broken[head.id] = problem
        return found, broken

    def add(self, live: Live) -> None:
        """Keep an experiment."""
        self._by_id[live.id], self._ids[live.name] = live, live.id

    def drop(self, ids: Iterable[int]) -> None:
        """Throw experiments away: the store knows them better."""
        for experiment in ids:
            live = self._by_id.pop(experiment, None)
            if live is not None:
                del self._ids[live.name]

    def trim(self) -> None:
        """Throw away those not used for longest, if there are too many."""
        self.drop(list(self._by_id)[: max(0, len(self._by_id) - self._most)])


def load(transaction: Transaction, experiment: int, upto: int) -> Live:
    """Return an experiment as the log up to `upto` makes it, from the newest snapshot that can be read."""
    live = None
    for seq, digest, text in transaction.snapshots(experiment):
        live = _from_snapshot(experiment, seq, digest, text) if seq <= upto else None
        if live is not None:
            break
    return catch_up(transaction, experiment, live, upto)


def catch_up(transaction: Transaction, experiment: int, live: Live | None, upto: int) -> Live:
    """Fold the rest of the log into `live`, or all of it into nothing."""
    for page in pages(transaction, experiment, 0 if live is None else live.seq, upto):
        if live is None:
            live, page = Live.begin(experiment, page[0]), page[1:]  # noqa: PLW2901
        live.take(page)
    if live is None or live.seq != upto:
        raise LogError(f"the log ends at entry {0 if live is None else live.seq}, but should go on to {upto}")
    return live


def pages(transaction: Transaction, experiment: int, after: int, upto: int) -> Iterator[list[Entry]]:
    """Yield the entries after `after` and up to `upto`, some at a time."""
    while after < upto and (page := transaction.entries(experiment, after, upto)):
        yield page
        after = page[-1].seq


def draw(state: dict[str, Any]) -> tuple[int, str, str]:
    """Return a state (`Live.to_dict`) as a snapshot: (seq, digest, text). A cache for `load`, never the truth."""
    text = _encode_in_pieces(state)
    return state["seq"], _digest(text), text


def _from_snapshot(experiment: int, seq: int, digest: str, text: str) -> Live | None:
    try:
        if _digest(text) != digest:
            raise ValueError("its digest is not that of its text")
        live = Live.from_dict(experiment, decode(text))
        if live.seq != seq:
            raise ValueError(f"it is of entry {live.seq}")
    except (OcucbError, ValueError, KeyError, TypeError) as problem:
        logger.warning("the snapshot of experiment %d at entry %d is skipped: %s", experiment, seq, problem)
        return None
    return live


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def _encode_in_pieces(data: object) -> str:
    """Return JSON as `encode` does, but let other threads in between: a long list at once would stop them all."""
    if isinstance(data, dict):
        return "{" + ",".join(f"{encode(key)}:{_encode_in_pieces(value)}" for key, value in data.items()) + "}"
    if isinstance(data, list) and len(data) > PIECE:
        cuts = range(0, len(data), PIECE)
        return "[" + ",".join(encode(data[cut : cut + PIECE])[1:-1] for cut in cuts) + "]"
    return encode(data)
