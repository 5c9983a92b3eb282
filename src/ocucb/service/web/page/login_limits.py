"""How often somebody may be wrong about an API key before they must wait."""

from __future__ import annotations

import math
import time
from collections import OrderedDict, deque
from collections.abc import Callable

MAX_ADDRESSES = 10_000


class LoginLimits:
    """Counts wrong logins by address, over the last `seconds`. Of too many addresses, the quietest are forgotten.

    A try counts as wrong from its beginning, until it is forgiven: tries at the same time are no way round.
    """

    def __init__(
        self,
        most: int,
        seconds: float = 60.0,
        addresses: int = MAX_ADDRESSES,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        self._most, self._seconds, self._addresses, self._now = most, seconds, addresses, now
        self._tries: OrderedDict[str, deque[float]] = OrderedDict()

    def begin(self, address: str) -> int:
        """Count a try and return 0; or if there were too many, return the seconds to wait."""
        now = self._now()
        tries = self._tries.setdefault(address, deque())
        self._tries.move_to_end(address)
        while tries and tries[0] <= now - self._seconds:
            tries.popleft()
        if len(tries) >= self._most:
            return max(1, math.ceil(tries[0] + self._seconds - now))
        tries.append(now)
        if len(self._tries) > self._addresses:
            self._tries.popitem(last=False)
        return 0

    def forgive(self, address: str) -> None:
        """Take back the last try: it was right."""
        if tries := self._tries.get(address):
            tries.pop()
