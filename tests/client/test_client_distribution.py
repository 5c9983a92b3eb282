"""The client as a distribution of its own: httpx and nothing else.

tests/test_packaging_install.py installs it where nothing else is, and benchmarks/client_import.py measures its import.
"""

from __future__ import annotations

import ast
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import ocucb_client

ROOT = Path(__file__).parent.parent.parent
PACKAGE = ROOT / "client" / "src" / "ocucb_client"


def project(folder: Path) -> dict[str, Any]:
    data: dict[str, Any] = tomllib.loads((folder / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return data


def imported(module: Path) -> set[str]:
    """Return the top-level packages that a module imports, wherever in it."""
    found = set[str]()
    for node in ast.walk(ast.parse(module.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{module}: imports are absolute"
            found.add(str(node.module).partition(".")[0])
    return found


def test_httpx_is_all_it_imports_and_all_it_asks_for() -> None:
    modules = [module for module in PACKAGE.rglob("*.py") if module.name != "openfeature.py"]  # which is an extra
    others = set[str]().union(*map(imported, modules)) - set(sys.stdlib_module_names)
    assert others == {"httpx", "ocucb_client"}
    assert len(modules) > 10
    assert [one.rstrip("<>=.0123456789") for one in project(ROOT / "client")["dependencies"]] == ["httpx"]
    assert list(project(ROOT / "client")["optional-dependencies"]) == ["openfeature"]


def test_it_says_of_itself_what_ocucb_says() -> None:
    own, other = project(ROOT / "client"), project(ROOT)
    for name in ("requires-python", "license", "license-files", "authors"):
        assert own[name] == other[name], name
    versions = [[one for one in data["classifiers"] if "Python :: 3" in one] for data in (own, other)]
    assert versions[0] == versions[1]
    assert all(url.startswith(other["urls"]["Repository"]) for url in own["urls"].values())
    assert ocucb_client.__version__ == other["version"]
    assert (PACKAGE / "py.typed").is_file()
    assert (ROOT / "client" / "LICENSE").read_text("utf-8") == (ROOT / "LICENSE").read_text("utf-8")


def test_the_loop_is_imported_when_it_is_asked_for() -> None:
    """A client for threads needs no asyncio, which takes as long to import as httpx."""
    code = """
import sys, ocucb_client
print("asyncio" in sys.modules)
ocucb_client.AsyncClient
print("asyncio" in sys.modules, hasattr(ocucb_client, "nothing"))
"""
    done = subprocess.run([sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "True", "False"]
