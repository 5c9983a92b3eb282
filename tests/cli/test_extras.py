"""Each command says which extra it needs, and needs no other."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from ocucb import cli
from service.server import environment

SMALL = ("compare", "--horizon", "50", "--runs", "2", "--policy", "ucb")
OF_LAB = ["cyclopts", "rich", "xarray", "zarr", "tomli_w", "matplotlib", "plotly"]
MISSING = [
    (["serve"], "cyclopts", "service"),
    (["serve"], "uvicorn", "service"),
    (["serve"], "fastapi", "service"),
    (["serve", "--demo"], "httpx", "client"),
    (["replay", "x"], "sqlalchemy", "service"),
    (["keys", "list"], "rich", "service"),
    (["policies"], "rich", "lab"),
    ([], "cyclopts", "lab"),
]
CASES = [(words, package) for words, package, _ in MISSING] + [([*SMALL], package) for package in OF_LAB]

# A process that has imported the core, which takes longest, and leaves the rest to a child for each case. A large
# package that one case is without is imported after it, once for all children that follow.
FORKS = """
import gc, importlib, json, os, sys
import ocucb.cli

cases = json.loads(sys.argv[1])
for place, (words, package) in enumerate(cases):
    assert package not in sys.modules, package
    gc.freeze()  # what is here already is not copied when a child looks for its garbage
    child = os.fork()
    if child == 0:
        os.mkdir(str(place))
        os.chdir(str(place))
        os.dup2(os.open("err", os.O_WRONLY | os.O_CREAT), 2)
        sys.modules[package] = None
        ocucb.cli.main(words)
    with open(f"{place}.code", "w") as file:
        file.write(str(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])))
    if package in ("xarray", "zarr", "matplotlib"):
        importlib.import_module(package)
"""


@pytest.fixture(scope="module")
def without(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[int, str]]:
    """Return the exit code and the errors of every case: a command where a package is not installed."""
    at = tmp_path_factory.mktemp("without")
    subprocess.run(
        [sys.executable, "-c", FORKS, json.dumps(CASES)],
        cwd=at,
        env=environment(),
        stdout=subprocess.DEVNULL,
        check=True,
    )
    return {
        json.dumps(case): (int((at / f"{place}.code").read_text()), (at / str(place) / "err").read_text())
        for place, case in enumerate(CASES)
    }


@pytest.mark.parametrize("package", [package for package in OF_LAB if package != "xarray"])
def test_without_the_extra_of_the_lab(package: str, without: dict[str, tuple[int, str]]) -> None:
    code, said = without[json.dumps(([*SMALL], package))]
    assert code == 2
    last = said.splitlines()[-1]
    assert last == f'ocucb: error: this command needs {package}, which is not installed; pip install "ocucb[lab]"'
    assert "Traceback" not in said


@pytest.mark.parametrize(("words", "package", "extra"), MISSING)
def test_without_the_extra(words: list[str], package: str, extra: str, without: dict[str, tuple[int, str]]) -> None:
    code, said = without[json.dumps((words, package))]
    assert code == 2
    assert said == (
        f'ocucb: error: this command needs {package}, which is not installed; pip install "ocucb[{extra}]"\n'
    )


def test_the_service_needs_nothing_of_the_lab(folder: Path) -> None:
    lab = sorted(cli.EXTRAS["lab"] - cli.EXTRAS["service"])
    code = (
        f"import sys; sys.modules.update(dict.fromkeys({lab})); from ocucb.cli import exit_code; "
        "sys.exit(any(exit_code(words.split()) for words in ('replay --all', 'keys list', 'serve --help', "
        "'compile greedy --noise gaussian')))"
    )
    subprocess.run([sys.executable, "-c", code], cwd=folder, env=environment(), stdout=subprocess.DEVNULL, check=True)


def test_a_comparison_needs_no_xarray(without: dict[str, tuple[int, str]]) -> None:
    """Only `Result.dataset` does, which no command asks for."""
    assert without[json.dumps(([*SMALL], "xarray"))][0] == 0
