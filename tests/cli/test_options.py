"""What several commands take from the command line."""

from __future__ import annotations

from pathlib import Path

import pytest

from cli.command import error
from ocucb import cli
from ocucb.cli.options import read_problems


def test_names_of_means() -> None:
    assert [problem.name for problem in read_problems("0.5 0.25", [], None)] == ["means 0.5, 0.25"]
    assert [problem.name for problem in read_problems("1,2,3,4,5,6,7", ["mixed_gaps"], None)] == [
        "7 means",
        "mixed_gaps",
    ]


@pytest.mark.parametrize("text", ["20000", "20_000", "20,000", "2e4", "2E4", "20000.0"])
def test_whole_numbers_as_people_write_them(text: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.exit_code(["bounds", "--horizon", text]) == 0
    assert "n = 20,000" in capsys.readouterr().out


def test_what_is_no_whole_number(tmp_path: Path) -> None:
    for text in ("2e-4", "nan", "20.5", "many"):
        assert f"must be a whole number such as 1000 or 1e5, got '{text}'" in error(
            "bounds", "--horizon", text, at=tmp_path
        )
