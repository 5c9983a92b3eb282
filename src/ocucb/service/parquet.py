"""Parquet: rows written piece by piece, and read so again. pyarrow, which need not be installed, is imported here."""

from __future__ import annotations

import io
import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, BinaryIO

from ocucb.service.errors import RequestError

TIME = "time"  # microseconds UTC
KINDS = ("integer", "number", "text", TIME)


def check_installed() -> None:
    """Raise RequestError unless pyarrow is there."""
    try:
        import pyarrow.parquet  # type: ignore[import-untyped]  # noqa: F401, PLC0415
    except ImportError:
        raise RequestError('Parquet needs pyarrow: install "ocucb[parquet]" where the service runs') from None


class ParquetWriter:
    """Writes rows, tuples of all columns, to a file or any sink; each `write` is a row group of its own."""

    def __init__(self, sink: BinaryIO | io.RawIOBase | Path, columns: Mapping[str, str]) -> None:
        check_installed()
        import pyarrow as pa  # noqa: PLC0415
        import pyarrow.parquet as pq  # noqa: PLC0415

        kinds = {"integer": pa.int64(), "number": pa.float64(), "text": pa.string(), TIME: pa.timestamp("us", "UTC")}
        self._schema = pa.schema([(name, kinds[kind]) for name, kind in columns.items()])
        self._writer = pq.ParquetWriter(sink, self._schema, compression="zstd")

    def write(self, rows: Sequence[Sequence[Any]]) -> None:
        """Write some rows."""
        import pyarrow as pa  # noqa: PLC0415

        if rows:
            columns = zip(*rows, strict=True)
            arrays = [pa.array(values, field.type) for values, field in zip(columns, self._schema, strict=True)]
            self._writer.write_table(pa.Table.from_arrays(arrays, schema=self._schema))

    def describe(self, about: Mapping[str, str]) -> None:
        """Note what the file says of itself."""
        self._writer.add_key_value_metadata(dict(about))

    def close(self) -> None:
        """Write the end, without which nothing can be read."""
        self._writer.close()


class ParquetStream:
    """A Parquet file as a stream of bytes: rows in, and whatever bytes are ready out."""

    def __init__(self, columns: Mapping[str, str]) -> None:
        self._sink = _Drain()
        self._writer = ParquetWriter(self._sink, columns)

    def write(self, rows: Sequence[Sequence[Any]]) -> bytes:
        """Take some rows, and return the bytes that are ready."""
        self._writer.write(rows)
        return self._sink.drain()

    def end(self) -> bytes:
        """Return the last bytes."""
        self._writer.close()
        return self._sink.drain()


class _Drain(io.RawIOBase):
    """A file that only grows, of which what was written is taken away at once."""

    def __init__(self) -> None:
        super().__init__()
        self._parts: list[bytes] = []
        self._written = 0

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        part = bytes(data)
        self._parts.append(part)
        self._written += len(part)
        return len(part)

    def tell(self) -> int:
        return self._written

    def drain(self) -> bytes:
        """Return what was written since the last time."""
        found, self._parts = b"".join(self._parts), []
        return found


def read_about(path: Path) -> dict[str, str]:
    """Return what a file says of itself."""
    check_installed()
    import pyarrow.parquet as pq  # noqa: PLC0415

    found = pq.read_metadata(path).metadata or {}
    return {name.decode(): value.decode() for name, value in found.items() if not name.startswith(b"ARROW")}


def read_rows(path: Path) -> Iterator[list[tuple[Any, ...]]]:
    """Yield the rows of a file, a row group at a time."""
    check_installed()
    import pyarrow.parquet as pq  # noqa: PLC0415

    with pq.ParquetFile(path) as file:
        for group in range(file.num_row_groups):
            columns = [column.to_pylist() for column in file.read_row_group(group).columns]
            yield list(zip(*columns, strict=True))


def sync(path: Path) -> None:
    """Wait until a file, or the names in a folder, are on the disk."""
    opened = os.open(path, os.O_RDONLY)
    try:
        os.fsync(opened)
    finally:
        os.close(opened)
