"""The command `ocucb`. It runs only with the extra "lab"; without it, one line says so."""

from __future__ import annotations

import importlib
import sys
import warnings
from collections.abc import Sequence
from concurrent.futures import BrokenExecutor
from typing import Any

from ocucb.errors import GuaranteeWarning, OcucbError

FAILED, INTERRUPTED = 2, 130
LAB = {"cyclopts", "matplotlib", "plotly", "rich", "scipy", "tomli_w", "xarray", "zarr"}


def main(tokens: Sequence[str] | None = None) -> None:
    """Run the command and leave with its exit code: 0, 2 after an error, 130 after Ctrl-C."""
    with warnings.catch_warnings():
        warnings.simplefilter("always", GuaranteeWarning)
        warnings.showwarning = _notes()
        code = exit_code(sys.argv[1:] if tokens is None else tokens)
    sys.exit(code)


def exit_code(tokens: Sequence[str]) -> int:
    """Run the command and return its exit code. An error that a user can make is one line."""
    try:
        importlib.import_module("ocucb.cli.app").call(tokens)  # late, for it needs what may not be installed
    except OcucbError as problem:
        return _fail(str(problem))
    except ImportError as problem:
        missing = _missing(problem)
        if missing is None:
            raise
        return _fail(f'this command needs {missing}, which is not installed; pip install "ocucb[lab]"')
    except BrokenExecutor as problem:
        return _fail(f"a worker broke down, and the same command goes on from what is done: {problem}")
    except OSError as problem:
        where = "" if problem.filename is None else f": {problem.filename}"
        return _fail(f"{problem.strerror or problem}{where}")
    except KeyboardInterrupt:
        return INTERRUPTED
    return 0


def _missing(problem: ImportError) -> str | None:
    """Return which package of the extra is not installed, if that is the problem or its cause."""
    for error in (problem, problem.__cause__):
        name = (error.name or "").partition(".")[0] if isinstance(error, ModuleNotFoundError) else ""
        if name in LAB:
            return name
    return None


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
