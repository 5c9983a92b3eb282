"""A state as the text of a snapshot, and back. The text is that of plain JSON, so that its digest is one everywhere."""

from __future__ import annotations

import base64
import hashlib
import logging
import zlib
from collections import OrderedDict
from collections.abc import Callable
from functools import cached_property
from itertools import chain
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
from pydantic_core import to_json

from ocucb.compiled import Floats
from ocucb.errors import OcucbError
from ocucb.service.exact_sums import Pairs
from ocucb.service.experiment_state import ExperimentState
from ocucb.service.records import Snapshot
from ocucb.service.text import decode, encode

ITEMS_PER_PIECE = 5000
LEAST_PLAIN, MOST_PLAIN = 1e-3, 1e15  # between which numbers are written without an exponent, by whomever
MOST_TINY = 1e-10  # below which they are written with one, and in the same way, by whomever
MIN_COMPRESSED = 100_000  # characters of a snapshot
MAX_REMEMBERED = 20_000_000  # characters of all pieces, which take two to three times as many bytes
_COMPRESSED = "zlib,base64:"  # with which no JSON begins
_ZLIB_HEAD, _ZLIB_END = b"\x78\x01", b"\x03\x00"  # of the fastest level; an empty last block
Items: TypeAlias = "list[Any] | npt.NDArray[Any] | Pairs"

logger = logging.getLogger(__name__)


class _Piece:
    """A part of a snapshot's text: some items of a long list, or what stands between such lists."""

    def __init__(self, text: str, items: Items | None = None) -> None:
        self.text, self.items = text.encode(), items

    @cached_property
    def compressed(self) -> bytes:
        """The text as it stands in a compressed one, whatever comes before."""
        compressor = zlib.compressobj(level=2, wbits=-zlib.MAX_WBITS)
        return compressor.compress(self.text) + compressor.flush(zlib.Z_FULL_FLUSH)

    def has(self, items: Items) -> bool:
        """Tell whether it is the text of these items."""
        if isinstance(items, np.ndarray):
            same_kind = isinstance(self.items, np.ndarray) and self.items.dtype == items.dtype
            return same_kind and self.items.tobytes() == items.tobytes()  # type: ignore[union-attr]  # 0.0 is not -0.0
        return type(self.items) is type(items) and self.items == items


class SnapshotEncoder:
    """Writes states as snapshots, one after the other. For one thread.

    Between two snapshots of an experiment with many arms most pieces of its long lists stay as they are, labels above
    all. So these are remembered, and neither written nor compressed again.
    """

    def __init__(self) -> None:
        self._remembered: OrderedDict[int, dict[tuple[str, int], _Piece]] = OrderedDict()
        self._characters = 0

    def encode(self, experiment: int, state: dict[str, Any], pause: Callable[[], None] = lambda: None) -> Snapshot:
        """Return a state, as plain data or with arrays in it, as a snapshot: a cache of the log, never the truth.

        `pause` is called after each little piece of work.
        """
        known = self._remembered.pop(experiment, {})
        self._characters -= _characters(known)
        writer = _Writer(known, pause)
        writer.write(state, "")
        pieces = writer.finish()
        text = b"".join([piece.text for piece in pieces])
        if len(text) < MIN_COMPRESSED:
            return Snapshot(experiment, state["seq"], _digest(text), text.decode())
        self._remember(experiment, writer.named)
        return Snapshot(experiment, state["seq"], _digest(text), _COMPRESSED + _compress(text, pieces, pause))

    def _remember(self, experiment: int, named: dict[tuple[str, int], _Piece]) -> None:
        """Remember the pieces of this experiment, in the place of those not used for longest."""
        self._remembered[experiment] = named
        self._characters += _characters(named)
        while self._characters > MAX_REMEMBERED:
            self._characters -= _characters(self._remembered.popitem(last=False)[1])


def _characters(named: dict[tuple[str, int], _Piece]) -> int:
    return sum(len(piece.text) for piece in named.values())


class _Writer:
    """Writes one state in pieces: a long list at once would stop all other threads."""

    def __init__(self, known: dict[tuple[str, int], _Piece], pause: Callable[[], None]) -> None:
        self._known, self._pause = known, pause
        self.named: dict[tuple[str, int], _Piece] = {}  # the pieces of lists, by the list and where in it they begin
        self._pieces: list[_Piece] = []
        self._between: list[str] = []

    def write(self, data: object, place: str) -> None:
        """Write data that stand at a place of the state."""
        if isinstance(data, dict):
            for number, (key, value) in enumerate(data.items()):
                self._between.append(f"{',' if number else '{'}{encode(key)}:")
                self.write(value, f"{place}.{key}")
            self._between.append("}" if data else "{}")
        elif isinstance(data, Pairs):
            self._write_list(data, len(data.labels), place)
        elif isinstance(data, np.ndarray) or (isinstance(data, list) and len(data) > ITEMS_PER_PIECE):
            self._write_list(data, len(data), place)
        else:
            self._between.append(encode(data))

    def _write_list(self, items: Items, length: int, place: str) -> None:
        self._between.append("[")
        for start in range(0, length, ITEMS_PER_PIECE):
            self._between += "," if start else ""
            part = slice(start, start + ITEMS_PER_PIECE)
            here = Pairs(items.labels[part], items.numbers[part]) if isinstance(items, Pairs) else items[part]
            self._write_piece((place, start), here)
        self._between.append("]")

    def _write_piece(self, name: tuple[str, int], items: Items) -> None:
        piece = self._known.get(name)
        if piece is None or not piece.has(items):
            piece = _Piece(_encode_list(items)[1:-1], _kept(items))
        self.named[name] = piece
        self._pieces += (_Piece("".join(self._between)), piece)
        self._between = []
        self._pause()

    def finish(self) -> list[_Piece]:
        """Return all pieces."""
        return [*self._pieces, _Piece("".join(self._between))]


def _kept(items: Items) -> Items | None:
    """Return items to compare others with later; None if equal ones may have another text, as 0.0 and -0.0 in a list.

    An array is copied, since a part of it would keep the whole.
    """
    if isinstance(items, np.ndarray):
        return items.copy()
    return items if isinstance(items, Pairs) or set(map(type, items)) <= {int, str} else None


def encode_snapshot(experiment: int, state: dict[str, Any]) -> Snapshot:
    """Return a state as `SnapshotEncoder` does."""
    return SnapshotEncoder().encode(experiment, state)


def decode_snapshot(snapshot: Snapshot) -> ExperimentState | None:
    """Return the state in a snapshot, or None if it cannot be read."""
    try:
        text = _decompress(snapshot.data)
        if _digest(text) != snapshot.digest:
            raise ValueError("its digest is not that of its text")
        state = ExperimentState.from_dict(snapshot.experiment, decode(text.decode()))
        if state.seq != snapshot.seq:
            raise ValueError(f"its text is of entry {state.seq}")
    except (OcucbError, ValueError, KeyError, TypeError, zlib.error) as error:
        logger.warning(
            "the snapshot of experiment %d at entry %d is skipped: %s", snapshot.experiment, snapshot.seq, error
        )
        return None
    return state


def _digest(text: bytes) -> str:
    return hashlib.sha256(text).hexdigest()


def _compress(text: bytes, pieces: list[_Piece], pause: Callable[[], None]) -> str:
    """Return a long text in a sixth of its length, as zlib would: all others wait while the writer stores it."""
    body = []
    for piece in pieces:
        body.append(piece.compressed)
        pause()
    return base64.b64encode(b"".join([_ZLIB_HEAD, *body, _ZLIB_END, zlib.adler32(text).to_bytes(4, "big")])).decode()


def _decompress(text: str) -> bytes:
    if not text.startswith(_COMPRESSED):
        return text.encode()
    return zlib.decompress(base64.b64decode(text.removeprefix(_COMPRESSED)))


def _encode_list(items: Items) -> str:
    """Return JSON as `encode` does, and in a fraction of its time where pydantic writes the same."""
    plain: list[Any]
    if isinstance(items, np.ndarray):
        quick = items.dtype.kind in "bi" or _are_written_alike(items)
        plain = items.tolist()
    elif isinstance(items, Pairs):
        quick = _are_labels_alike(items.labels) and _are_written_alike(np.array([*chain.from_iterable(items.numbers)]))
        plain = list(zip(*items, strict=True))
    else:
        quick, plain = _are_labels_alike(items), items
    return to_json(plain).decode() if quick else encode(plain)


def _are_labels_alike(items: list[Any]) -> bool:
    """Tell whether these are whole numbers and text that Python and pydantic write in the same way: plain ASCII."""
    text = "".join([label for label in items if type(label) is str])
    return set(map(type, items)) <= {int, str} and text.isascii() and text.isprintable()


def _are_written_alike(values: Floats) -> bool:
    """Tell whether Python and pydantic write all numbers in the same way.

    So they do if none needs an exponent, or one of two digits or more: for 1e-05 pydantic has 0.00001, for 1e+16 1e16.
    """
    sizes = np.abs(values)
    plain = (sizes == 0.0) | ((sizes >= LEAST_PLAIN) & (sizes < MOST_PLAIN)) | (sizes < MOST_TINY)
    return bool(np.all(plain & np.isfinite(values)))
