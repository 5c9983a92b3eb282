"""Programs that tests need beside Python's packages: from Debian, installed when missing, where that is allowed."""

from __future__ import annotations

import fcntl
import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path


def programs(**packages: str) -> None:
    """Make sure that programs are there, each given with the package that has it; RuntimeError if that cannot be."""

    def there() -> bool:
        return all(map(find, packages))

    if not there():
        install(*packages.values(), unless=there)
    if missing := [name for name in packages if not find(name)]:
        needed = " ".join(packages[name] for name in missing)
        raise RuntimeError(f"tests need {', '.join(missing)}, found none; install it (apt-get install {needed})")


def find(name: str) -> str | None:
    """Return where a program is; administrators' folders are not on everyone's path."""
    return shutil.which(name, path=f"{os.environ.get('PATH', os.defpath)}:/usr/sbin:/sbin")


def install(*packages: str, unless: Callable[[], bool]) -> None:
    """Install Debian packages, if this is Debian and we are root. One process at a time: tests may run in several."""
    if os.geteuid() != 0 or not shutil.which("apt-get"):
        return
    with (Path(tempfile.gettempdir()) / "ocucb-install.lock").open("w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if unless():
            return
        quiet = {**os.environ, "DEBIAN_FRONTEND": "noninteractive", "RUNLEVEL": "1"}  # no servers are started
        for command in (["update"], ["install", "--yes", "--no-install-recommends", *packages]):
            subprocess.run(["apt-get", "--quiet", *command], env=quiet, check=True, capture_output=True, timeout=900)
