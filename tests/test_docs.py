"""What the documents show is run here as printed."""

from __future__ import annotations

import doctest
import importlib
import pkgutil
import re
import subprocess
import sys
from pathlib import Path

import pytest

import ocucb

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", ROOT / "docs" / "new_policy.md", *sorted((ROOT / "docs" / "policies").glob("*.md"))]
MODULES = [found.name for found in pkgutil.walk_packages(ocucb.__path__, "ocucb.") if "__main__" not in found.name]


def blocks(page: Path) -> list[str]:
    """The code of a page, less what needs a service: tests/client/test_client_pages.py runs that."""
    found = re.findall(r"```python\n(.*?)```", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    return [block for block in found if "ocucb.client" not in block]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_python_blocks_run_as_printed(page: Path, tmp_path: Path) -> None:
    """All blocks of a page, one after another, as a file of a user's own."""
    script = tmp_path / "example.py"
    script.write_text("\n".join(blocks(page)), encoding="utf-8")
    result = subprocess.run(
        [sys.executable, script], cwd=tmp_path, capture_output=True, text=True, timeout=300, check=False
    )
    assert blocks(page)
    assert result.returncode == 0, result.stderr


def test_the_page_on_new_policies_says_what_its_example_prints(tmp_path: Path) -> None:
    page = ROOT / "docs" / "new_policy.md"
    script = tmp_path / "example.py"
    script.write_text(blocks(page)[0], encoding="utf-8")
    printed = subprocess.run([sys.executable, script], capture_output=True, text=True, timeout=300, check=True).stdout
    assert printed.strip()
    assert printed.strip() in page.read_text(encoding="utf-8")


@pytest.mark.parametrize("name", MODULES)
def test_doctests(name: str) -> None:
    module = importlib.import_module(name)
    assert module.__doc__
    names = {public: getattr(ocucb, public) for public in ocucb.__all__}
    assert doctest.testmod(module, extraglobs=names).failed == 0


def test_links_lead_somewhere() -> None:
    for page in [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]:
        for target in re.findall(r"\]\(([^)#]+)", page.read_text(encoding="utf-8")):
            if not target.startswith(("http:", "https:")):
                assert (page.parent / target).exists(), f"{page}: {target}"


def test_the_architecture_names_every_room() -> None:
    text = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    for module in (ROOT / "src" / "ocucb").glob("*.py"):
        assert module.name in text
    for room in ("selection", "theory", "lab", "paper", "service"):
        for module in (ROOT / "src" / "ocucb" / room).glob("[a-z]*.py"):
            assert module.name in text, module
