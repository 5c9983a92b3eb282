"""The compiled side: caches that notice every edit, and calls through addresses."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import ocucb

STAMP = """
from ocucb.selection import steps
print(steps.choose._cache._impl.locator.get_source_stamp(), steps.__file__)
"""


def stamp(source: Path) -> list[str]:
    environment = {**os.environ, "PYTHONPATH": str(source)}
    output = subprocess.run([sys.executable, "-c", STAMP], env=environment, capture_output=True, text=True, check=True)
    return output.stdout.split()


def test_an_edit_in_any_file_makes_every_cached_kernel_stale(tmp_path: Path) -> None:
    shutil.copytree(Path(ocucb.__file__).parent, tmp_path / "ocucb", ignore=shutil.ignore_patterns("__pycache__"))
    before, where = stamp(tmp_path)
    assert Path(where).is_relative_to(tmp_path)
    assert stamp(tmp_path)[0] == before
    with (tmp_path / "ocucb" / "selection" / "state.py").open("a", encoding="utf-8") as file:
        file.write("# another layout\n")
    assert stamp(tmp_path)[0] != before


def test_other_packages_keep_their_own_stamps(tmp_path: Path) -> None:
    """Only ocucb's own functions are stamped by its sources."""
    (tmp_path / "theirs.py").write_text("import numba\n@numba.njit(cache=True)\ndef f(x):\n    return x\n")
    code = "import ocucb, theirs; print(type(theirs.f._cache._impl.locator).__name__)"
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
    output = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    assert not output.stdout.startswith("Ocucb")
