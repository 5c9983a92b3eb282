"""Both distributions as users get them: built, installed where nothing else is, and their first example run there."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tarfile
import venv
import zipfile
from pathlib import Path

import pytest

from service.server import Server

ROOT = Path(__file__).parent.parent
FOLDERS = {"ocucb": ROOT, "ocucb-client": ROOT / "client"}
# What an installation brings with it. An application that only asks over HTTP must not install NumPy.
BROUGHT = {
    "ocucb": {"llvmlite", "numba", "numpy"},
    "ocucb-client": {"anyio", "certifi", "h11", "httpcore", "httpx", "idna", "typing_extensions"},
}
ADDRESS = "http://127.0.0.1:8000"


def run(*words: str | Path, folder: Path, **variables: str) -> str:
    """Run a command, with nothing of this environment's own in its variables; return what it prints."""
    own = ("PYTHON", "OCUCB_", "NUMBA_", "VIRTUAL_ENV")
    clean = {name: value for name, value in os.environ.items() if not name.startswith(own)}
    done = subprocess.run(
        [*map(str, words)],
        cwd=folder,
        env={**clean, **variables},
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert done.returncode == 0, f"{words}\n{done.stdout}{done.stderr}"
    return done.stdout


def build(source: Path, target: str, into: Path) -> Path:
    """Build a distribution file with this environment's hatchling; return it."""
    run(sys.executable, "-m", "hatchling", "build", "--target", target, "--directory", into, folder=source)
    return next(into.iterdir())


def make_environment(folder: Path) -> Path:
    """Make an environment with nothing in it; return its Python."""
    venv.create(folder, with_pip=False)
    return folder / "bin" / "python"


def install(python: Path, wheel: Path, folder: Path) -> None:
    """Install a wheel and what it needs: by uv, as the Makefile does, in a tenth of the time; or else by pip."""
    what = ("--constraint", ROOT / "constraints.txt", wheel)
    uv = Path(sys.executable).with_name("uv")
    try:
        run(uv, "pip", "install", "--python", python, *what, folder=folder)
    except (FileNotFoundError, AssertionError):
        run(sys.executable, "-m", "pip", "--python", python, "install", "--no-compile", *what, folder=folder)


def installed(python: Path, folder: Path) -> set[str]:
    """Return the distributions of an environment, by their plain names."""
    listing = "from importlib.metadata import distributions as all; print(*(one.metadata['Name'] for one in all()))"
    return {name.replace("-", "_") for name in run(python, "-c", listing, folder=folder).split()}


def first_example(name: str) -> str:
    text = (FOLDERS[name] / "README.md").read_text(encoding="utf-8")
    found = re.search(r"```python\n(.*?)```", text, flags=re.DOTALL)
    assert found is not None
    return found[1]


@pytest.mark.parametrize("name", FOLDERS)
def test_built_installed_and_run(name: str, tmp_path: Path) -> None:
    """The wheel is built from the source distribution, so that nothing is missing there either."""
    with tarfile.open(build(FOLDERS[name], "sdist", tmp_path / "sdist")) as archive:
        archive.extractall(tmp_path / "source", filter="data")
    wheel = build(next((tmp_path / "source").iterdir()), "wheel", tmp_path / "wheel")
    package = name.replace("-", "_")
    with zipfile.ZipFile(wheel) as contents:
        files = {file for file in contents.namelist() if file.startswith(f"{package}/")}
        (metadata,) = {file.partition("/")[0] for file in contents.namelist()} - {package}
        license_text = contents.read(f"{metadata}/licenses/LICENSE").decode()
    source = FOLDERS[name] / "src"
    assert files == {
        file.relative_to(source).as_posix()
        for file in (source / package).rglob("*")
        if file.is_file() and "__pycache__" not in file.parts
    }
    assert f"{package}/py.typed" in files
    assert license_text == (ROOT / "LICENSE").read_text(encoding="utf-8")

    python = make_environment(tmp_path / "environment")
    install(python, wheel, tmp_path)
    assert installed(python, tmp_path) == {package, *BROUGHT[name]}
    run_example(name, python, tmp_path)


def run_example(name: str, python: Path, folder: Path) -> None:
    """Run the first example of the README as a file of a user's own; the client's asks a service that we start."""
    script, code = folder / "example.py", first_example(name)
    if ADDRESS not in code:
        script.write_text(code, encoding="utf-8")
        run(python, "-W", "error", script, folder=folder)
        return
    (folder / "service").mkdir()
    with Server(folder / "service") as server:
        assert server.key is not None
        script.write_text(code.replace(ADDRESS, server.url), encoding="utf-8")
        run(python, "-W", "error", script, folder=folder, OCUCB_KEY=server.key)
