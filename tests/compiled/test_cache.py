"""Compiled code on disk: stale after an edit, and only then."""

from __future__ import annotations

import ast
import os
import shutil
import subprocess
import sys
from pathlib import Path

import ocucb
from ocucb.sources import files_below

STAMP = """
from ocucb.selection import operations
print(operations.choose._cache._impl.locator.get_source_stamp(), operations.__file__)
"""


def stamp(source: Path) -> list[str]:
    environment = {**os.environ, "PYTHONPATH": str(source)}
    output = subprocess.run([sys.executable, "-c", STAMP], env=environment, capture_output=True, text=True, check=True)
    return output.stdout.split()


def test_an_edit_makes_the_kernels_that_rest_on_it_stale(tmp_path: Path) -> None:
    shutil.copytree(Path(ocucb.__file__).parent, tmp_path / "ocucb", ignore=shutil.ignore_patterns("__pycache__"))
    before, where = stamp(tmp_path)
    assert Path(where).is_relative_to(tmp_path)
    for untouched in ("lab/report.py", "bandit.py"):
        with (tmp_path / "ocucb" / untouched).open("a", encoding="utf-8") as file:
            file.write("# not a word about kernels\n")
    assert stamp(tmp_path)[0] == before
    for layout in ("selection/state.py", "compiled/pointers.py", "policies/policy.py"):
        with (tmp_path / "ocucb" / layout).open("a", encoding="utf-8") as file:
            file.write("# another layout\n")
        before, after = stamp(tmp_path)[0], before
        assert before != after


def test_a_copy_made_at_another_time_is_no_edit(tmp_path: Path) -> None:
    """Images and archives round or reset the times of files; what was compiled while they were made stays good."""
    shutil.copytree(Path(ocucb.__file__).parent, tmp_path / "ocucb", ignore=shutil.ignore_patterns("__pycache__"))
    before, _ = stamp(tmp_path)
    for file in tmp_path.rglob("*.py"):
        os.utime(file, (1.0, 1.0))
    assert stamp(tmp_path)[0] == before


def test_the_imports_found_by_text_are_those_python_finds() -> None:
    for name, module in list(sys.modules.items()):
        if name.startswith("ocucb.") and module.__file__ is not None:
            file = Path(module.__file__)
            tree = ast.walk(ast.parse(file.read_text(encoding="utf-8")))
            named = {one.module for one in tree if isinstance(one, ast.ImportFrom) and one.module}
            ours = {sys.modules[one].__file__ for one in named if one.split(".")[0] == "ocucb" and one in sys.modules}
            assert {Path(one) for one in ours if one} <= files_below(file)


OWN = """
from ocucb.compiled import kernel
from ocucb.selection.order import power


@kernel
def own(x: float) -> float:
    return power(x, 0.5)
"""


def test_a_kernel_of_ones_own_is_stale_with_what_it_imports(tmp_path: Path) -> None:
    """A test that calls kernels from one of its own would go on testing what they once were."""
    (tmp_path / "own.py").write_text(OWN)
    shutil.copytree(Path(ocucb.__file__).parent, tmp_path / "ocucb", ignore=shutil.ignore_patterns("__pycache__"))
    code = "import own; print(own.own._cache._impl.locator.get_source_stamp())"

    def stamp_of_own() -> str:
        environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
        done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
        return done.stdout

    before = stamp_of_own()
    assert stamp_of_own() == before
    with (tmp_path / "ocucb" / "selection" / "order.py").open("a", encoding="utf-8") as file:
        file.write("# another sum\n")
    assert stamp_of_own() != before


def test_other_packages_keep_their_own_stamps(tmp_path: Path) -> None:
    """Only ocucb's own functions are stamped by its sources."""
    (tmp_path / "theirs.py").write_text("import numba\n@numba.njit(cache=True)\ndef f(x):\n    return x\n")
    code = "import ocucb, theirs; print(type(theirs.f._cache._impl.locator).__name__)"
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
    output = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    assert not output.stdout.startswith("Ocucb")


MADE = """
import numpy as np
from ocucb.compiled import CACHE_USE, DRAWS, address, kernel
from ocucb.lab.tape import drawing
from ocucb.noise import Bernoulli, Exponential

typed = {}
exec("from ocucb.noise.bernoulli import quantile as f\\ndef own(m, u, p):\\n    return u", typed)
for quantile in (Bernoulli().family().quantile, Exponential().family().quantile, kernel(typed["own"])):
    address(drawing(quantile), DRAWS)
print(sum(CACHE_USE.saved.values()), sum(CACHE_USE.loaded.values()))
"""


def test_a_loop_is_kept_for_each_kernel_that_it_closes_over(tmp_path: Path) -> None:
    """Made once for each of two families; the third was typed at a prompt and has no file by which to know it again."""
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}

    def saved_and_loaded() -> str:
        done = subprocess.run([sys.executable, "-c", MADE], env=environment, capture_output=True, text=True, check=True)
        return done.stdout.strip()

    assert saved_and_loaded() == "2 0"
    assert saved_and_loaded() == "0 2"
