"""Every fault in the lists still has its place, and the script tells those that are found from those that are not."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tools import faults
from tools.faults import Fault, read_faults

ROOT = Path(__file__).parents[2]
FAULTS = read_faults()


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: re.sub(r"\W+", "-", fault.name))
def test_every_fault_can_be_planted(fault: Fault) -> None:
    text = fault.planted((ROOT / fault.file).read_text(encoding="utf-8"))
    if fault.file.endswith(".py"):
        ast.parse(text)
    assert fault.tests


def test_the_tests_that_must_find_them_exist() -> None:
    """By name and parameters: of one that is not there pytest would say so only when faults are planted."""
    tests = sorted({test for fault in FAULTS for test in fault.tests})
    command = [sys.executable, "-m", "pytest", "--collect-only", "-qq", "-p", "no:cacheprovider", *tests]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_names_of_faults_are_different() -> None:
    assert len({fault.name for fault in FAULTS}) == len(FAULTS)


@pytest.mark.parametrize(("old", "new"), [("absent", "x"), ("twice", "x"), ("once", "once")])
def test_a_fault_without_its_place_is_an_error(old: str, new: str) -> None:
    with pytest.raises(ValueError, match="there must be one"):
        Fault("a fault", "file", old, new, ("test",)).planted("once twice twice")


LIST = """
[[fault]]
name = "adds one too many"
file = "src/sums.py"
old = "a + b"
new = "a + b + 1"
tests = ["test_sums.py"]

[[fault]]
name = "negative numbers are lost"
file = "src/sums.py"
old = "a + b"
new = "abs(a) + abs(b)"
tests = ["test_sums.py"]

[[fault]]
name = "memory is overwritten"
file = "src/sums.py"
old = "return a + b"
new = "import os; os.abort()"
tests = ["test_sums.py"]

[[fault]]
name = "no Python"
file = "src/sums.py"
old = "def"
new = "fed"
tests = ["test_sums.py"]
"""


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "sums.py").write_text("def total(a, b):\n    return a + b\n", encoding="utf-8")
    test = "from sums import total\n\n\ndef test_total():\n    assert total(2, 3) == 5\n"
    (tmp_path / "test_sums.py").write_text(test, encoding="utf-8")
    (tmp_path / "lists").mkdir()
    (tmp_path / "lists" / "sums.toml").write_text(LIST, encoding="utf-8")
    subprocess.run(["git", "init", "--quiet"], cwd=tmp_path, check=True)
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")  # which take longer than these tests
    monkeypatch.setattr(faults, "ROOT", tmp_path)
    monkeypatch.setattr(faults, "read_faults", lambda: read_faults(tmp_path / "lists"))
    return tmp_path


def test_what_is_found_and_what_is_not(project: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert faults.main(["--jobs", "1"]) == 1
    said = capfd.readouterr().out
    assert "found   src/sums.py: adds one too many" in said
    assert "found   src/sums.py: memory is overwritten" in said
    assert "MISSED  src/sums.py: negative numbers are lost" in said
    assert "MISSED  src/sums.py: no Python\nthe tests did not run" in said
    assert "2 of 4 faults found, 50%; wanted: 95%" in said
    assert "abs" not in (project / "src" / "sums.py").read_text(encoding="utf-8")
    assert faults.main(["--jobs", "1", "too many"]) == 0
    assert faults.main(["no such fault"]) == 2


def test_tests_that_fail_anyway_prove_nothing(project: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (project / "src" / "sums.py").write_text("def total(a, b):\n    return 0 * (a + b)\n", encoding="utf-8")
    assert faults.main(["--jobs", "1"]) == 2
    assert "the tests fail without a fault" in capfd.readouterr().err
