"""Which server nginx chooses by `hash KEY consistent;`: so that homes can be where it sends requests anyway."""

from __future__ import annotations

import struct
import zlib
from bisect import bisect_left
from collections.abc import Iterable

POINTS_PER_SERVER = 160  # of the weight 1


class NginxRing:
    """A ring of servers, each as nginx's configuration has it: HOST:PORT, without a weight.

    The points of a server are crc32(HOST, 0, PORT, PREVIOUS), where PREVIOUS is the point before, in four bytes from
    the lowest, at first 0; a key belongs to the first point at its crc32 or after it (ketama, as Cache::Memcached::Fast
    and so nginx have it).

    >>> NginxRing(["10.0.0.5:8000", "10.0.0.6:8000"]).find("landing page")
    '10.0.0.5:8000'
    """

    def __init__(self, servers: Iterable[str]) -> None:
        points: dict[int, str] = {}
        for server in sorted(servers):
            host, _, port = server.rpartition(":")
            begun, point = zlib.crc32(f"{host}\0{port}".encode()), 0
            for _ in range(POINTS_PER_SERVER):
                point = zlib.crc32(struct.pack("<I", point), begun)
                points.setdefault(point, server)
        self._points = sorted(points)
        self._servers = [points[point] for point in self._points]

    def find(self, key: str) -> str:
        """Return the server of a key."""
        return self._servers[bisect_left(self._points, zlib.crc32(key.encode())) % len(self._servers)]
