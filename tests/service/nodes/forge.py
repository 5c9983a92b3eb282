"""Makes servers that can be killed: `forge.py ADDRESS` forks one for each port it is told, and says its process id.

Everything is imported once, here, so that twenty servers start in the time of one. Children end with their parent.
"""

from __future__ import annotations

import os
import signal
import sys
import traceback

from ocucb import Bandit, OCUCBn
from ocucb.service.serve import serve
from ocucb.service.settings import Settings

SETTINGS = {"sweep": 0.05, "snapshot": 200, "patience": 20.0, "log_level": "error"}


def main() -> None:
    """Fork a server for each line with a port, until the input ends; then end what is left."""
    address, children = sys.argv[1], []
    bandit = Bandit(OCUCBn(), 2)
    for _ in range(4):  # loads what is compiled, once for all
        bandit.learn(bandit.decide().arm, 0.5)
    for line in sys.stdin:
        child = os.fork()
        if child == 0:
            os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
            os.dup2(2, 1)
            _serve(address, int(line))
        children.append(child)
        print(child, flush=True)
    for child in children:
        try:
            os.kill(child, signal.SIGKILL)
        except ProcessLookupError:
            continue
    for child in children:
        os.waitpid(child, 0)


def _serve(address: str, port: int) -> None:
    try:
        serve(Settings(database=address, port=port, **SETTINGS))  # type: ignore[arg-type]
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(0)


if __name__ == "__main__":
    main()
