"""Imports `ocucb` once, and runs it in a fork for each order, a line of JSON: its words, its folder, its files.

Says the id of each new process. Its exit code stands in a file of the order once it has ended.
"""

from __future__ import annotations

import gc
import json
import os
import signal
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import ocucb.cli.app
import ocucb.service.serve
import ocucb.service.web.app  # noqa: F401
from ocucb import Bandit, OCUCBn
from ocucb.cli import main


def load_kernels() -> None:
    """Load what is compiled."""
    bandit = Bandit(OCUCBn(), 2)
    for _ in range(4):
        bandit.learn(bandit.decide().arm, 0.5)


def wait_for_orders() -> list[str]:
    """Fork a process for each order; return in that process, with the words of its command."""
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # those who wait for commands are nobody's to wait for
    for line in sys.stdin:
        if os.fork() == 0:
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            order: dict[str, Any] = json.loads(line)
            child = os.fork()
            if child == 0:
                become(order)
                return list(order["words"])
            print(child, flush=True)
            code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
            draft = Path(f"{order['code']}.draft")
            draft.write_text(str(code), encoding="ascii")
            draft.rename(order["code"])
            os._exit(0)
    os._exit(0)


def become(order: Mapping[str, Any]) -> None:
    """Make this process what was ordered: where it is, what it knows of the world, and where it writes."""
    os.chdir(order["folder"])
    os.environ.clear()
    os.environ.update(order["environment"])
    for number, place in enumerate((os.devnull, order["out"], order["err"])):
        file = os.open(place, os.O_RDWR)
        os.dup2(file, number)
        os.close(file)
    if "CLOCK_FILE" in os.environ:
        jump_with(Path(os.environ["CLOCK_FILE"]))


def jump_with(file: Path) -> None:
    """Let the time of day be wrong by as many seconds as a file says."""
    right = time.time_ns
    time.time_ns = lambda: right() + int(file.read_text(encoding="ascii") or 0) * 10**9


if __name__ == "__main__":
    load_kernels()
    gc.freeze()  # what is here already is not copied when a child looks for its garbage
    main(wait_for_orders())
