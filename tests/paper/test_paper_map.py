"""The map of the paper: its places, the functions that compute them, the checks that execute them; all of them real."""

from __future__ import annotations

import importlib
import re
from pathlib import Path
from typing import NamedTuple

import pytest

from ocucb.paper.execute import name_of
from ocucb.paper.table import CLAIMS

ROOT = Path(__file__).parents[2]
MAP = (ROOT / "docs" / "paper.md").read_text(encoding="utf-8")
PLACES = (ROOT / "tests" / "data" / "paper_places.txt").read_text(encoding="utf-8").splitlines()
CHECKS = {name_of(claim, check): check for claim in CLAIMS for check in claim.checks}
NOT = "Not executed:"


class Row(NamedTuple):
    """A line of the map."""

    place: str
    says: str
    functions: list[str]
    checks: list[str]


def rows() -> list[Row]:
    """The lines of the map: `place` | what it says | `functions` | `checks`."""
    found = []
    for line in MAP.splitlines():
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        place = re.fullmatch(r"`(.+)`", cells[0])
        if line.startswith("|") and place:
            assert len(cells) == 4, line
            functions, checks = (re.findall(r"`([^`]+)`", cell) for cell in cells[2:])
            found.append(Row(place[1], cells[1], functions, checks))
    return found


ROWS = rows()


def exists(name: str) -> bool:
    """Whether a dotted name is that of a module or of something in one."""
    module, _, attribute = name.rpartition(".")
    try:
        return hasattr(importlib.import_module(module), attribute)
    except ModuleNotFoundError:
        return False


def test_every_place_of_the_paper_is_in_the_map_once_and_in_order() -> None:
    assert [row.place for row in ROWS] == PLACES
    assert len(set(PLACES)) == len(PLACES)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.place)
def test_what_a_place_names_is_real(row: Row) -> None:
    assert row.says
    for function in row.functions:
        assert function.startswith("ocucb.")
        assert exists(function), function
    assert set(row.checks) <= set(CHECKS)
    assert row.functions or row.checks or NOT in row.says


@pytest.mark.parametrize("name", CHECKS)
def test_a_check_stands_at_each_of_its_places(name: str) -> None:
    places = CHECKS[name].places
    assert places
    for place in places:
        assert place in PLACES, f"{place} is not in paper_places.txt"
        assert name in next(row.checks for row in ROWS if row.place == place), f"{name} is missing at {place}"


def test_a_function_that_is_made_up_would_be_found() -> None:
    assert not exists("ocucb.theory.nothing")
    assert not exists("ocucb.nothing.nothing")
    assert exists("ocucb.theory.effective_arms")
