"""In tables a number stays on one line with its error and its unit: "450 ± 20", "(5.0 to 5.6)", "4.7 ms"."""

from __future__ import annotations

import re
from typing import Any

from docutils import nodes

WITH_ERROR = re.compile(
    r"(?<=[\d%]) (?=±)|(?<=±) (?=\d)|(?<=\d) (?=to [\d.]+\))|(?<=\d to) (?=[\d.]+\))"
    r"|(?<=\d) (?=(?:ms|µs|ns|s|kB|KB|MB|MiB|GB)\b)"
)


def keep_together(app: Any, doctree: nodes.document) -> None:
    """Put a space that does not break between them."""
    for entry in doctree.findall(nodes.entry):
        for text in list(entry.findall(nodes.Text)):
            if WITH_ERROR.search(text):
                text.parent.replace(text, nodes.Text(WITH_ERROR.sub("\u00a0", text)))


def setup(app: Any) -> dict[str, bool]:
    """Do so when a page was read."""
    app.connect("doctree-read", keep_together)
    return {"parallel_read_safe": True}
