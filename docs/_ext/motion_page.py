"""The moving picture that `ocucb explain` writes, beside the pages of the site."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ocucb.explain import write_page


def write_picture(app: Any, problem: Exception | None) -> None:
    """Write it into the site."""
    if problem is None and app.builder.format == "html":
        write_page(Path(app.outdir) / "explain.html")


def setup(app: Any) -> dict[str, bool]:
    """Write it at the end."""
    app.connect("build-finished", write_picture)
    return {"parallel_read_safe": True}
