"""Executes notebooks where they lie, several at a time: `python execute_notebooks.py one.ipynb another.ipynb`.

Each has a kernel of its own, a copy of one process that has imported what takes longest. Nothing of the lab is imported
before: a notebook must do that itself.
"""

from __future__ import annotations

import asyncio
import gc
import multiprocessing
import os
import sys
import tempfile
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import matplotlib.backends.backend_agg  # for the copies, as the next ones; pyplot must be
import matplotlib.figure  # noqa: F401  # imported by a kernel
import nbclient
import nbformat
import xarray  # noqa: F401
import zarr  # noqa: F401
from ipykernel.kernelapp import IPKernelApp
from jupyter_client.manager import AsyncKernelManager

import ocucb

PER_CELL_SECONDS = 300
FORKING = multiprocessing.get_context("fork")


class Copy:
    """A copy of this process that becomes a kernel when it is told to; its manager takes it for a subprocess.Popen."""

    stdin = stdout = stderr = None

    def __init__(self) -> None:
        told, self._tell = FORKING.Pipe(duplex=False)
        self._process = FORKING.Process(target=_become_kernel, args=(told,))
        self._process.start()

    def become_kernel(self, arguments: list[str], folder: str) -> None:
        """Let it serve as a kernel in a folder, until it is told to stop or this process ends."""
        self._tell.send((folder, [*arguments, f"--IPKernelApp.parent_handle={os.getpid()}"]))

    def poll(self) -> int | None:
        """Return its exit code, or None while it runs."""
        return self._process.exitcode

    def wait(self) -> int | None:
        """Wait for its end."""
        self._process.join()
        return self._process.exitcode

    def send_signal(self, number: int) -> None:
        """Send it a signal."""
        if self._process.pid is not None and self._process.is_alive():
            os.kill(self._process.pid, number)

    def kill(self) -> None:
        """End it at once."""
        self._process.kill()

    def terminate(self) -> None:
        """Ask it to end."""
        self._process.terminate()


def _become_kernel(told: Connection) -> None:
    folder, arguments = told.recv()
    os.chdir(folder)
    IPKernelApp.launch_instance(argv=arguments)


class CopiedKernel(AsyncKernelManager):
    """Starts a copy in place of a new process."""

    def __init__(self, copy: Copy) -> None:
        super().__init__(kernel_name="python3")
        self._copy = copy

    async def _async_launch_kernel(self, kernel_cmd: list[str], **kw: Any) -> None:
        self._copy.become_kernel(kernel_cmd[3:], kw["cwd"])
        self.provisioner.process = self._copy
        self._reconcile_connection_info(self.provisioner.connection_info)


def load_compiled() -> None:
    """Let the copies have what bandits are made of."""
    for noise in (ocucb.Gaussian(), ocucb.Bernoulli()):
        bandit = ocucb.Bandit(ocucb.OCUCBn(), arms=2, noise=noise)
        bandit.learn(bandit.choose(), 1)


async def execute_all(files: list[Path], copies: list[Copy]) -> None:
    """Execute as many notebooks at a time as there are cores."""
    free = asyncio.Semaphore(os.cpu_count() or 1)
    await asyncio.gather(*(execute(file, copy, free) for file, copy in zip(files, copies, strict=True)))


async def execute(file: Path, copy: Copy, free: asyncio.Semaphore) -> None:
    """Execute a notebook in an empty folder, and write it with its outputs."""
    notebook = nbformat.read(file, as_version=4)
    async with free:
        with tempfile.TemporaryDirectory() as folder:
            client = nbclient.NotebookClient(
                notebook, CopiedKernel(copy), timeout=PER_CELL_SECONDS, record_timing=False
            )
            await client.async_execute(cleanup_kc=True, cwd=folder)
    nbformat.write(notebook, file)


if __name__ == "__main__":
    names = sys.argv[1:]
    load_compiled()
    gc.freeze()  # what is frozen is not copied when a child collects its garbage
    made = [Copy() for _ in names]  # while this process has one thread
    try:
        asyncio.run(execute_all([Path(name) for name in names], made))
    finally:
        for copy in made:
            copy.kill()
