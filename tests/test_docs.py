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
from benchmarks import gallery
from ocucb.service.stores.log_rows import COLUMN_KINDS as ARCHIVE_COLUMNS
from ocucb.service.web.export_formats import COLUMNS as EXPORT_COLUMNS

ROOT = Path(__file__).parent.parent
GUIDES = [ROOT / "docs" / "new_policy.md", ROOT / "docs" / "new_noise.md"]
TOPICS = [
    page
    for page in sorted((ROOT / "docs").rglob("*.md"))
    if page not in GUIDES and page.parent.name != "policies" and "```python\n" in page.read_text(encoding="utf-8")
]
PAGES = [ROOT / "README.md", *TOPICS, *GUIDES, *sorted((ROOT / "docs" / "policies").glob("*.md"))]
MODULES = [found.name for found in pkgutil.walk_packages(ocucb.__path__, "ocucb.") if "__main__" not in found.name]


def blocks(page: Path) -> list[str]:
    """The code of a page, less what needs a service: tests/client/test_client_pages.py runs that."""
    found = re.findall(r"```python\n(.*?)```", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    return [block for block in found if not any(word in block for word in ("ocucb_client", "client.", "Client("))]


# Each script in a process of its own, all of them copies of one that has imported and loaded what takes longest. What
# is frozen is not copied when a child collects its garbage. Nothing of the lab is imported: a page must do that itself.
RUN_EACH = """
import gc, os, runpy, sys
import matplotlib.pyplot, ocucb, xarray, zarr

for noise in (ocucb.Gaussian(), ocucb.Bernoulli()):
    bandit = ocucb.Bandit(ocucb.OCUCBn(), arms=2, noise=noise)
    bandit.learn(bandit.choose(), 1)
gc.freeze()
for script in sys.argv[1:]:
    child = os.fork()
    if child == 0:
        os.chdir(os.path.dirname(script))
        output = os.open("output", os.O_WRONLY | os.O_CREAT)
        os.dup2(output, 1)
        os.dup2(output, 2)
        sys.argv = [script]
        sys.path[0] = os.path.dirname(script)
        runpy.run_path(script, run_name="__main__")
        gc.freeze()  # or garbage is looked for once more, in all that was imported
        sys.exit()
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
"""


@pytest.fixture(scope="module")
def exit_codes(tmp_path_factory: pytest.TempPathFactory) -> dict[Path, tuple[int, str]]:
    """Run all blocks of each page, one after another, as a file of a user's own."""
    scripts = []
    for page in PAGES:
        scripts.append(tmp_path_factory.mktemp(page.stem) / "example.py")
        scripts[-1].write_text("\n".join(blocks(page)), encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-c", RUN_EACH, *scripts], stdout=subprocess.PIPE, text=True, timeout=600, check=True
    )
    said = [(script.parent / "output").read_text(encoding="utf-8") for script in scripts]
    return dict(zip(PAGES, zip(map(int, done.stdout.split()), said, strict=True), strict=True))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_python_blocks_run_as_printed(page: Path, exit_codes: dict[Path, tuple[int, str]]) -> None:
    code, said = exit_codes[page]
    assert blocks(page) or page.stem in ("client", "production", "openfeature")
    assert code == 0, said


@pytest.mark.parametrize("page", GUIDES, ids=lambda page: page.stem)
def test_guides_say_what_their_examples_print(page: Path, exit_codes: dict[Path, tuple[int, str]]) -> None:
    _, said = exit_codes[page]
    assert said.strip()
    assert f"It prints `{said.strip()}`" in page.read_text(encoding="utf-8")


@pytest.mark.parametrize("name", ["mabwiser", "river", "smpybandits"])
def test_ours_prints_what_the_other_library_printed(name: str, exit_codes: dict[Path, tuple[int, str]]) -> None:
    """What that was is kept by `python -m benchmarks.migration`, which has run it."""
    _, said = exit_codes[ROOT / "docs" / "howto" / f"{name}.md"]
    kept = (ROOT / "benchmarks" / "results" / "migration.md").read_text(encoding="utf-8")
    lines = [line for line in said.splitlines() if line.startswith(("pulls ", "next ", "arms ", "some "))]
    rows = [row.split("|")[2].strip() for row in kept.splitlines() if name in row.lower()]
    assert lines == rows != []


def test_the_gallery_has_small_figures_each_with_the_command_that_makes_it() -> None:
    page = (ROOT / "docs" / "gallery.md").read_text(encoding="utf-8").replace(" \\\n  ", " ")
    for name in (*gallery.COMMANDS, *gallery.DRAWN):
        command = f"ocucb {gallery.COMMANDS[name][0]}" if name in gallery.COMMANDS else f"benchmarks.gallery {name}"
        assert f"{command}\n```\n\n![" in page
        assert page.split(f"{command}\n```\n\n![")[1].split("](")[1].startswith(f"images/gallery/{name}.png)")
    assert sum(file.stat().st_size for file in gallery.IMAGES.iterdir()) < 1_000_000


def test_the_page_about_formats_has_every_column() -> None:
    page = (ROOT / "docs" / "reference" / "formats.md").read_text(encoding="utf-8")
    exports, archives = page.split("## An archive of a log")
    for columns, text in ((EXPORT_COLUMNS, exports), (ARCHIVE_COLUMNS, archives)):
        assert all(f"`{column}`" in text for column in columns)


def test_the_family_of_the_guide_is_the_one_that_is_tested() -> None:
    file = ROOT / "tests" / "own_noise" / "geometric.py"
    assert blocks(ROOT / "docs" / "new_noise.md")[0] == file.read_text(encoding="utf-8")


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
    for module in (ROOT / "client" / "src" / "ocucb_client").glob("[a-z]*.py"):
        assert module.name in text, module
