"""Each page also as Markdown beside its HTML, and llms.txt, the list of them with a line for each.

What a directive makes of the package is written out there; docstrings of modules as Python shows them.
"""

from __future__ import annotations

import pydoc
import re
from pathlib import Path
from typing import Any

import http_reference
import package_reference

WRITTEN_OUT = {
    "http-answers": http_reference.answers,
    "http-reference": http_reference.markdown,
    "command-reference": package_reference.command_lines,
    "noise-reference": package_reference.noise_lines,
    "error-codes": package_reference.error_lines,
    "policy-list": package_reference.policy_lines,
}
DIRECTIVE = re.compile(r"^:::\{([a-z-]+)\}\n:::$", flags=re.MULTILINE)
MODULE = re.compile(r"^:::\{module-(summary|reference|docstring)\} (\S+)\n:::$", re.MULTILINE)
FRONT_MATTER = re.compile(r"\A---\n.*?\n---\n", flags=re.DOTALL)


def write_pages(app: Any, problem: Exception | None) -> None:
    """Write every page, and list it by its title and its first sentence."""
    if problem is not None or app.builder.format != "html":
        return
    target, lines = Path(app.outdir), ["# ocucb", "", "Choose among options online and learn as you go.", ""]
    for name in sorted(app.env.found_docs):
        page = target / f"{name}.md"
        page.parent.mkdir(parents=True, exist_ok=True)
        text = Path(app.env.doc2path(name)).read_text(encoding="utf-8")
        page.write_text(write_out(text), encoding="utf-8")
        about = first_sentence(text)
        lines.append(f"- [{app.env.titles[name].astext()}]({name}.md){f': {about}' if about else ''}")
    (target / "llms.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")


def write_out(text: str) -> str:
    """Return a page with what its directives make of the package in their place."""
    text = DIRECTIVE.sub(
        lambda found: "\n".join(WRITTEN_OUT[found[1]]()) if found[1] in WRITTEN_OUT else found[0], text
    )
    return MODULE.sub(lambda found: _module(found[2], found[1]), text)


def _module(name: str, wanted: str) -> str:
    """Return what Python says of a module: all of it, which begins with its summary, or its docstring."""
    if wanted == "summary":
        return ""
    found = pydoc.locate(name)
    told = pydoc.plain(pydoc.render_doc(found)) if wanted == "reference" else pydoc.getdoc(found)
    return f"```text\n{told}\n```"


def first_sentence(text: str) -> str:
    """Return the first sentence of a page, without its links."""
    for paragraph in re.split(r"\n\n+", FRONT_MATTER.sub("", text)):
        if paragraph and paragraph[0] not in "#`:|-<![":
            plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", " ".join(paragraph.split()))
            return re.split(r"(?<=[.?:])\s", plain, maxsplit=1)[0].rstrip(":")
    return ""


def setup(app: Any) -> dict[str, bool]:
    """Write them at the end."""
    app.connect("build-finished", write_pages)
    return {"parallel_read_safe": True}
