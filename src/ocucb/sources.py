"""Which files of the package a file rests on, so that a compiled function is made anew when one of them is edited."""

from __future__ import annotations

import hashlib
import re
from functools import cache
from pathlib import Path

PACKAGE = Path(__file__).parent
IMPORTS = re.compile(r"^ *(?:from +(ocucb[\w.]*) +import +(\([^)]*\)|[^\n]*)|import +(ocucb[\w.]*))", re.MULTILINE)


def stamp(file: Path) -> str:
    """Return a digest of when a file, or one that it imports, was last changed, and how large they are."""
    facts = [
        (str(one.relative_to(PACKAGE)), one.stat().st_mtime_ns, one.stat().st_size) for one in sorted(closure(file))
    ]
    return hashlib.sha256(repr(facts).encode()).hexdigest()


def closure(file: Path) -> set[Path]:
    """Return a file of the package and all files of the package that it imports, directly or not."""
    known: set[Path] = set()
    new = {file}
    while new:
        known |= new
        new = {found for one in new for found in imported(one)} - known
    return known


@cache
def imported(file: Path) -> frozenset[Path]:
    """Return the files of the package that a file imports by name."""
    found = set()
    for module, names, plain in IMPORTS.findall(file.read_text(encoding="utf-8")):
        parts = (module or plain).split(".")[1:]
        found.add(_file(parts))
        found |= {_file([*parts, name]) for name in re.findall(r"\w+", names)}
    return frozenset(one for one in found if one is not None)


def _file(parts: list[str]) -> Path | None:
    """Return the file of a module, or None if this is a name inside one."""
    place = PACKAGE.joinpath(*parts)
    for candidate in (place / "__init__.py", place.with_suffix(".py")):
        if candidate.is_file():
            return candidate
    return None
