"""One moving picture of the idea: OCUCB-n beside UCB and MOSS on means that a reader drags, a page without network."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

PARTS = ("page.css", "policies.js", "simulation.js", "drawing.js", "controls.js")


def write_page(path: Path) -> None:
    """Write the page, with its style and its code inside."""
    here = files("ocucb.explain")
    page = here.joinpath("page.html").read_text(encoding="utf-8")
    for part in PARTS:
        page = page.replace(f"{{{{{part}}}}}", here.joinpath(part).read_text(encoding="utf-8"))
    path.write_text(page, encoding="utf-8")
