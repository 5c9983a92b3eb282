"""The command `ocucb`. It runs only with the extra "lab"; without it, one line says so."""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Sequence
from concurrent.futures import BrokenExecutor
from typing import Any

from ocucb.errors import GuaranteeWarning, OcucbError

FAILED, INTERRUPTED, PIPE_CLOSED = 2, 130, 141
LAB = {"cyclopts", "matplotlib", "plotly", "rich", "scipy", "tomli_w", "xarray", "zarr"}


def main(tokens: Sequence[str] | None = None) -> None:
    """Run the command and leave with its exit code: 0, 2 after an error, 130 after Ctrl-C."""
    with warnings.catch_warnings():
        warnings.simplefilter("always", GuaranteeWarning)
        warnings.showwarning = _notes()
        code = run(sys.argv[1:] if tokens is None else tokens)
    sys.exit(code)


def run(tokens: Sequence[str]) -> int:
    """Run the command and return its exit code. An error that a user can make is one line."""
    try:
        from ocucb.cli import app  # noqa: PLC0415  it needs what may not be installed

        app.call(tokens)
    except OcucbError as problem:
        return _fail(str(problem))
    except ModuleNotFoundError as problem:
        if problem.name is None or problem.name.partition(".")[0] not in LAB:
            raise
        return _fail(f'this command needs {problem.name}, which is not installed; pip install "ocucb[lab]"')
    except BrokenPipeError:  # someone closed what we print to, as head does
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return PIPE_CLOSED
    except BrokenExecutor as problem:
        return _fail(f"a worker broke down, and the same command goes on without it: {problem}")
    except OSError as problem:
        where = "" if problem.filename is None else f": {problem.filename}"
        return _fail(f"{problem.strerror or problem}{where}")
    except KeyboardInterrupt:
        return INTERRUPTED
    return 0


def _fail(message: str) -> int:
    print(f"ocucb: error: {' '.join(message.split())}", file=sys.stderr)
    return FAILED


def _notes() -> Any:
    """Return a way to show warnings: a lost guarantee as one line, said once, and any other as ever."""
    others = warnings.showwarning
    said = set()

    def show(message: Warning | str, category: type[Warning], *where: Any, **more: Any) -> None:
        if not issubclass(category, GuaranteeWarning):
            others(message, category, *where, **more)
        elif str(message) not in said:
            said.add(str(message))
            print(f"note: {message}", file=sys.stderr)

    return show
