"""Links to files outside of this folder, which have no page on the site, lead to the repository."""

from __future__ import annotations

import re
from typing import Any

FILES = "https://github.com/ocucb/ocucb/blob/main/"


def lead_to_repository(app: Any, name: str, text: list[str]) -> None:
    """Replace ](../file), or as many ../ as lead out of the folder of the documentation."""
    upwards = re.escape("../" * (name.count("/") + 1))
    text[0] = re.sub(rf"\]\({upwards}", f"]({FILES}", text[0])


def setup(app: Any) -> dict[str, bool]:
    """Do it before a page is parsed."""
    app.connect("source-read", lead_to_repository)
    return {"parallel_read_safe": True}
