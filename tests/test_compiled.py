"""The compiled side: caches that notice every edit, and calls through addresses."""

from __future__ import annotations

import ast
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np

import ocucb
from ocucb.compiled import Floats, bit_length, kernel, largest, lowest_bit, reaching
from ocucb.sources import closure

reaching_at, largest_at = reaching(16), largest(16)

STAMP = """
from ocucb.selection import steps
print(steps.choose._cache._impl.locator.get_source_stamp(), steps.__file__)
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
    for layout in ("selection/state.py", "compiled.py", "policies/policy.py"):
        with (tmp_path / "ocucb" / layout).open("a", encoding="utf-8") as file:
            file.write("# another layout\n")
        before, after = stamp(tmp_path)[0], before
        assert before != after


def test_the_imports_found_by_text_are_those_python_finds() -> None:
    for name, module in list(sys.modules.items()):
        if name.startswith("ocucb.") and module.__file__ is not None:
            file = Path(module.__file__)
            tree = ast.walk(ast.parse(file.read_text(encoding="utf-8")))
            named = {one.module for one in tree if isinstance(one, ast.ImportFrom) and one.module}
            ours = {sys.modules[one].__file__ for one in named if one.startswith("ocucb") and one in sys.modules}
            assert {Path(one) for one in ours if one} <= closure(file)


def test_other_packages_keep_their_own_stamps(tmp_path: Path) -> None:
    """Only ocucb's own functions are stamped by its sources."""
    (tmp_path / "theirs.py").write_text("import numba\n@numba.njit(cache=True)\ndef f(x):\n    return x\n")
    code = "import ocucb, theirs; print(type(theirs.f._cache._impl.locator).__name__)"
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
    output = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    assert not output.stdout.startswith("Ocucb")


@kernel
def _read(address: int, least: float, out: Floats) -> None:
    bits = reaching_at(address, least)
    out[0] = bits
    out[1] = lowest_bit(bits)
    out[2] = largest_at(address)
    out[3] = bit_length(bits)


def test_a_whole_node_is_read_at_once() -> None:
    random = np.random.default_rng(7)
    for _ in range(200):
        node = random.choice([-np.inf, -1.0, 0.0, 0.5, 2.0, np.inf], size=16)
        least = float(random.choice(node))
        out = np.zeros(4)
        _read(node.ctypes.data, least, out)
        expected = sum(1 << i for i in range(16) if node[i] >= least)
        assert out.tolist() == [expected, (expected & -expected).bit_length() - 1, node.max(), expected.bit_length()]
