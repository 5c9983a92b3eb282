"""Which files of the package a file rests on, so that a compiled function is made anew when one of them is edited."""

from __future__ import annotations

import hashlib
import re
from functools import cache
from pathlib import Path

PACKAGE = Path(__file__).parent
IMPORTS = re.compile(r"^ *(?:from +(ocucb[\w.]*) +import +(\([^)]*\)|[^\n]*)|import +(ocucb[\w.]*))", re.MULTILINE)


@cache
def digest_of_sources(file: Path) -> str:
    """Return a digest of a file and of those that it imports: the same wherever and whenever they were installed."""
    facts = sorted((_place(one), _digest_of_text(one)) for one in files_below(file))
    return hashlib.sha256(repr(facts).encode()).hexdigest()


def files_below(file: Path) -> set[Path]:
    """Return a file and all files of the package that it imports, directly or not."""
    known: set[Path] = set()
    new = {file}
    while new:
        known |= new
        new = {found for one in new for found in imported_files(one)} - known
    return known


@cache
def imported_files(file: Path) -> frozenset[Path]:
    """Return the files of the package that a file imports by name."""
    found = set()
    for module, names, plain in IMPORTS.findall(text_of(file)):
        parts = tuple((module or plain).split(".")[1:])
        found.add(_file_of_module(parts))
        found |= {_file_of_module((*parts, name)) for name in re.findall(r"\w+", names)}
    return frozenset(one for one in found if one is not None)


@cache  # as the next ones: each file is asked for by dozens of others, whenever the package is imported
def _place(file: Path) -> str:
    """Return where a file of the package stands in it; of another only its name."""
    return str(file.relative_to(PACKAGE)) if file.is_relative_to(PACKAGE) else file.name


@cache
def text_of(file: Path) -> str:
    """Return what a file holds."""
    return file.read_text(encoding="utf-8")


@cache
def _digest_of_text(file: Path) -> str:
    return hashlib.sha256(text_of(file).encode()).hexdigest()


@cache
def _file_of_module(parts: tuple[str, ...]) -> Path | None:
    """Return the file of a module, or None if this is a name inside one."""
    place = PACKAGE.joinpath(*parts)
    for candidate in (place / "__init__.py", place.with_suffix(".py")):
        if candidate.is_file():
            return candidate
    return None
