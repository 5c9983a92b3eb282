"""Compiling for a GPU by several processes at once: a kernel takes seconds of one core, and a study has dozens.

What they compile is kept on disk, where this process finds it. A process that fails, because it cannot import what
stands in somebody's script, leaves its work to this one, which then says what is wrong.
"""

from __future__ import annotations

import pickle
import subprocess
import sys
from collections.abc import Sequence
from contextlib import suppress
from typing import IO, cast

from ocucb.compiled.cuda import free_bytes
from ocucb.lab.runners.local import cores
from ocucb.lab.shard import Shard

BYTES_PER_PROCESS = 2**30  # of the GPU's memory, of which a process takes some 0.5 by being there

COMPILE = """
import pickle, sys
from ocucb.lab.gpu_shards import compile_for
for shard in pickle.load(sys.stdin.buffer):
    compile_for(shard)
"""


def compile_in_processes(shards: Sequence[Shard]) -> None:
    """Compile what each of these shards needs, if that is more than one can do as fast alone."""
    count = min(len(shards), cores(), max(1, free_bytes() // BYTES_PER_PROCESS))
    if count < 2:
        return
    quiet = subprocess.DEVNULL
    begun = [
        subprocess.Popen([sys.executable, "-c", COMPILE], stdin=subprocess.PIPE, stdout=quiet, stderr=quiet)  # noqa: S603
        for _ in range(count)
    ]
    try:
        for place, process in enumerate(begun):
            with suppress(OSError), cast(IO[bytes], process.stdin) as given:  # it may have ended already
                given.write(pickle.dumps(shards[place::count]))
        for process in begun:
            process.wait()
    finally:
        for process in begun:
            process.kill()
            process.wait()
