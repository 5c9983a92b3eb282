"""docs/errata.md: every entry names a test that exists, and every test of an erratum has its entry."""

from __future__ import annotations

import ast
import re
from collections import Counter
from pathlib import Path

ERRATA = Path(__file__).parents[2] / "docs" / "errata.md"
TESTS = Path(__file__).parent / "errata"
FIELDS = ("Place", "Printed", "Should be", "Why", "The result", "Test")


def entries() -> dict[str, str]:
    """Return the text of every entry by its name: a heading of the third level, or a row of a table."""
    text = ERRATA.read_text(encoding="utf-8")
    found = {}
    for part in re.split(r"^## ", text, flags=re.MULTILINE)[1:]:
        for section in re.split(r"^### ", part, flags=re.MULTILINE)[1:]:
            found[section.partition("\n")[0]] = section
        rows = re.findall(r"^\|.*\|$", part, flags=re.MULTILINE)
        found.update({row: row for row in rows[2:]})
    return found


def written() -> list[str]:
    """Return the names of all tests beside this file that show an erratum."""
    trees = [ast.parse(path.read_text(encoding="utf-8")) for path in sorted(TESTS.glob("test_*.py"))]
    names = [node.name for tree in trees for node in tree.body if isinstance(node, ast.FunctionDef)]
    return [name for name in names if name.startswith("test_")]


def test_every_entry_names_one_test_that_exists() -> None:
    tests = written()
    assert len(entries()) > 50
    for name, entry in entries().items():
        named = re.findall(r"`(test_\w+)`", entry)
        assert len(named) == 1, name
        assert named[0] in tests, name


def test_every_test_has_one_entry() -> None:
    named = Counter(re.findall(r"`(test_\w+)`", ERRATA.read_text(encoding="utf-8")))
    assert named == Counter(written())


def test_every_entry_is_complete() -> None:
    for name, entry in entries().items():
        if name.startswith("|"):
            cells = re.split(r"(?<!\\)\|", entry.strip("|"))
            assert len(cells) in (4, 5), name
            assert all(cell.strip() for cell in cells), name
        else:
            assert re.match(r"\d\.\d+ ", name), name
            assert [field for field in FIELDS if f"**{field}" in entry] == list(FIELDS), name
