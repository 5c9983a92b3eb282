"""Each page also as Markdown beside its HTML, and llms.txt, the list of them with a line for each."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any


def write_pages(app: Any, problem: Exception | None) -> None:
    """Copy every page, and list it by its title."""
    if problem is not None or app.builder.format != "html":
        return
    target, lines = Path(app.outdir), ["# ocucb", "", "Choose among options online and learn as you go.", ""]
    for name in sorted(app.env.found_docs):
        page = target / f"{name}.md"
        page.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(app.env.doc2path(name), page)
        lines.append(f"- [{app.env.titles[name].astext()}]({name}.md)")
    (target / "llms.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")


def setup(app: Any) -> dict[str, bool]:
    """Write them at the end."""
    app.connect("build-finished", write_pages)
    return {"parallel_read_safe": True}
