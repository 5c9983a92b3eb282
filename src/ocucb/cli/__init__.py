"""The command `ocucb`. It runs only with the extra "lab" or "service"; without it, one line says so."""

from __future__ import annotations

import atexit
import gc
import sys
import warnings
from collections.abc import Sequence
from concurrent.futures import BrokenExecutor
from typing import Any

from ocucb.cli.interrupts import INTERRUPTED
from ocucb.errors import GuaranteeWarning, OcucbError

FAILED = 2
SERVED = ("serve", "replay", "keys")
EXTRAS = {
    "lab": {"cyclopts", "matplotlib", "plotly", "rich", "scipy", "tomli_w", "xarray", "zarr"},
    "service": {
        "alembic",
        "cyclopts",
        "fastapi",
        "httptools",
        "jinja2",
        "prometheus_client",
        "psycopg",
        "pydantic",
        "python_multipart",
        "rich",
        "sqlalchemy",
        "starlette",
        "swagger_ui_bundle",
        "uvicorn",
        "uvloop",
    },
    "client": {"httpx"},
}


def main(tokens: Sequence[str] | None = None) -> None:
    """Run the command and leave with its exit code: 0, 1 if a log is wrong, 2 after an error, 130 after Ctrl-C."""
    with warnings.catch_warnings():
        warnings.simplefilter("always", GuaranteeWarning)
        warnings.showwarning = _notes()
        code = exit_code(sys.argv[1:] if tokens is None else tokens)
    atexit.register(gc.freeze)  # or Python looks for garbage in all that was imported: a fifth of a short command
    sys.exit(code)


def exit_code(tokens: Sequence[str]) -> int:
    """Run the command and return its exit code. An error that a user can make is one line."""
    try:
        from ocucb.cli.app import call  # here, for it needs what may not be installed

        return call(tokens)
    except OcucbError as problem:
        return _fail(str(problem))
    except ImportError as problem:
        missing = _missing(problem, served=bool(tokens) and tokens[0] in SERVED)
        if missing is None:
            raise
        package, extra = missing
        return _fail(f'this command needs {package}, which is not installed; pip install "ocucb[{extra}]"')
    except BrokenExecutor as problem:
        return _fail(f"a worker broke down, and the same command goes on from what is done: {problem}")
    except OSError as problem:
        where = "" if problem.filename is None else f": {problem.filename}"
        return _fail(f"{problem.strerror or problem}{where}")
    except KeyboardInterrupt:
        return INTERRUPTED


def _missing(problem: ImportError, served: bool) -> tuple[str, str] | None:
    """Return which package is not installed, and the extra that has it, if that is the problem or its cause."""
    extras = ("service", "client", "lab") if served else ("lab", "service", "client")
    for error in (problem, problem.__cause__):
        name = (error.name or "").partition(".")[0] if isinstance(error, ModuleNotFoundError) else ""
        for extra in extras:
            if name in EXTRAS[extra]:
                return name, extra
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
