"""`ocucb paper`: verdicts, the page, checks that break down, Ctrl-C."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

import sample_claims
from cli.command import Done, ocucb, on_terminal
from ocucb.paper import table

PAPER = """
import sys
import ocucb.paper.table, sample_claims
from ocucb.cli import main
ocucb.paper.table.CLAIMS = tuple(getattr(sample_claims, name) for name in sys.argv[1].split(","))
main(["paper", *sys.argv[2:]])
"""


def paper(monkeypatch: pytest.MonkeyPatch, claims: str, *words: str, at: Path, code: int = 0) -> Done:
    """Execute made-up claims, in threads: other processes know the paper's alone."""
    monkeypatch.setattr(table, "CLAIMS", tuple(getattr(sample_claims, name) for name in claims.split(",")))
    return ocucb("paper", "--executor", "threads:2", *words, at=at, code=code)


def test_paper_prints_verdicts_and_leaves_a_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    done = [
        paper(monkeypatch, "DICE,ODD", "--output", str(tmp_path / folder), at=tmp_path) for folder in ("one", "two")
    ]
    *tables, _, _ = shown = done[0].stdout.splitlines()
    assert tables[0] == " 1  Dice"
    assert [re.split(r"\s{2,}", line.strip())[:2] for line in tables if re.match(r"\s{4}\w", line)] == [
        ["mean-of-dice", "holds"],
        ["endless", "not decidable"],
        ["cubes", "fails as printed"],
        ["squares", "holds"],
    ]
    assert "The sides differ for 38 of 39 values of n." in done[0].stdout
    assert shown[-2] == "4 checks: 0 proved here, 2 hold, 1 fails as printed, 1 not decidable at this size"
    assert shown[-1] == str(tmp_path / "one" / "paper.html")
    *steps, last = done[0].stderr.splitlines()
    assert len(steps) == 4
    assert re.fullmatch(r"1/4 checks: [12]-[a-z-]+ [a-z ]+, [\d.]+ seconds", steps[0])
    assert re.fullmatch(r"executed 4 checks in [\d.]+ seconds", last)
    assert (tmp_path / "one" / "paper.html").read_bytes() == (tmp_path / "two" / "paper.html").read_bytes()


def test_paper_in_processes(tmp_path: Path) -> None:
    done = ocucb("paper", "--claim", "10", "10", "--claim", "10", "--seed", "5", "--output", "here", at=tmp_path)
    assert [line for line in done.stdout.splitlines() if re.match(r"[ 1]\d  ", line)] == ["10  The technical lemma"]
    assert done.stdout.endswith("here/paper.html\n")
    page = (tmp_path / "here" / "paper.html").read_text(encoding="utf-8")
    assert "(claim 10 alone), at quick size, with seed 5." in page


def test_paper_with_a_check_that_breaks_down(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    done = paper(monkeypatch, "BROKEN,ODD", at=tmp_path, code=2)
    assert re.search(
        r"\nocucb: error: 1 of 3 checks did not finish; 4-broken: ZeroDivisionError: there is no finding at quick size "
        r"\(sample_claims.py, line \d+\)\n$",
        done.stderr,
    )
    assert re.search(r"broken +did not finish +ZeroDivisionError", done.stdout)
    assert (
        "3 checks: 0 proved here, 1 holds, 1 fails as printed, 0 not decidable at this size, 1 did not finish"
        in done.stdout
    )
    assert "ZeroDivisionError" in (tmp_path / "ocucb-paper" / "paper.html").read_text(encoding="utf-8")


def test_paper_on_a_terminal_stops_at_once(tmp_path: Path) -> None:
    command = [sys.executable, "-W", "error", "-c", PAPER, "DICE,SLOW", "--executor", "threads:2"]
    code, out, frames = on_terminal(command, tmp_path, interrupt=lambda shown: b"2/3" in shown)
    assert (code, out) == (130, "")
    assert re.search(r"1-[a-z-]+ +[━╸╺ ]+ 2/3 checks 0:00:0\d", frames)
    assert frames.endswith("stopped: 2 of 3 checks were done; no page\r\n")
    assert "Traceback" not in frames
    assert not (tmp_path / "ocucb-paper" / "paper.html").exists()
