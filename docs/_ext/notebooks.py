"""Each tutorial as a notebook, too, with a link to it at its head."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import jupytext  # type: ignore[import-untyped]


def link_notebook(app: Any, name: str, template: str, context: dict[str, Any], doctree: Any) -> None:
    """Put the link above a tutorial."""
    if name.startswith("tutorials/") and "body" in context:
        file = f"{name.rsplit('/', maxsplit=1)[-1]}.ipynb"
        context["body"] = f'<p><a href="{file}" download>Download this page as a notebook</a></p>\n{context["body"]}'


def write_notebooks(app: Any, problem: Exception | None) -> None:
    """Write the notebooks beside their pages."""
    if problem is not None or app.builder.format != "html":
        return
    for name in sorted(app.env.found_docs):
        if name.startswith("tutorials/"):
            notebook = jupytext.read(os.fspath(app.env.doc2path(name)), fmt="md:myst")
            jupytext.write(notebook, os.fspath(Path(app.outdir) / f"{name}.ipynb"))


def setup(app: Any) -> dict[str, bool]:
    """Link when a page is made, and write at the end."""
    app.connect("html-page-context", link_notebook)
    app.connect("build-finished", write_notebooks)
    return {"parallel_read_safe": True}
