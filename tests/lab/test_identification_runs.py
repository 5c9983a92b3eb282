"""Runs of an identification in a folder: what is there is not played again, whatever a crash left; and the report."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from ocucb import Bernoulli, StateError, TopTwo, Uniform
from ocucb.lab import Identification, Problem, identify
from ocucb.lab.identification_runs import delete_runs
from ocucb.lab.statistics import share_with_interval

EASY = Problem((0.9, 0.2), Bernoulli(), "<easy> & plain")
FEW = Identification(EASY, (("a", TopTwo()), ("b", Uniform())), 0.2, runs=3)


def played(experiment: Identification, folder: Path) -> tuple[int, object]:
    """Return how many runs were played, and all of them."""
    events: list[int] = []
    result = identify(experiment, "threads:1", lambda _, done, of: events.append(of - done), folder)
    return len(events), result.runs


def test_only_what_is_missing_is_played(tmp_path: Path) -> None:
    alone = identify(replace(FEW, runs=5), "threads:1").runs
    assert played(FEW, tmp_path) == (6, {label: runs[:3] for label, runs in alone.items()})
    assert played(FEW, tmp_path)[0] == 0
    assert played(replace(FEW, runs=5), tmp_path) == (4, alone)
    assert played(FEW, tmp_path)[0] == 0


def test_a_line_that_was_cut_off_is_played_again(tmp_path: Path) -> None:
    _, before = played(FEW, tmp_path)
    file = tmp_path / "runs.jsonl"
    head, *rest = file.read_text(encoding="utf-8").splitlines()
    damaged = [head, *rest[:3], "[0, 99999999999999999999, 1, 7]", '["x", 0, 1, 0]', "[0, 1]", rest[4][:-2]]
    file.write_text("\n".join(damaged), encoding="utf-8")
    count, after = played(FEW, tmp_path)
    assert (count, after) == (3, before)
    assert [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]  # whole again


def test_a_folder_of_something_else_is_refused(tmp_path: Path) -> None:
    played(FEW, tmp_path)
    for other in (
        replace(FEW, delta=0.3),
        replace(FEW, seed=1),
        replace(FEW, problem=Problem((0.8, 0.2), Bernoulli())),
    ):
        with pytest.raises(StateError, match="got those of another identification; choose another output"):
            identify(other, "threads:1", folder=tmp_path)
    (tmp_path / "runs.jsonl").write_text("a diary\n", encoding="utf-8")
    with pytest.raises(StateError, match="got something else"):
        identify(FEW, "threads:1", folder=tmp_path)
    with pytest.raises(StateError, match="must hold runs of ocucb to be overwritten, got something else"):
        delete_runs(tmp_path)


def test_runs_are_deleted_when_asked(tmp_path: Path) -> None:
    delete_runs(tmp_path)
    played(FEW, tmp_path)
    delete_runs(tmp_path)
    assert played(FEW, tmp_path)[0] == 6


@pytest.mark.parametrize("fixed", [False, True])
def test_the_report(tmp_path: Path, fixed: bool) -> None:
    experiment = replace(FEW, delta=None, rounds=20) if fixed else FEW
    result = identify(experiment, "threads:1")
    rows = result.summary()
    result.report(tmp_path / "report.html")
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "<h1>Verdicts on &lt;easy&gt; &amp; plain</h1>" in page
    assert "{{" not in page
    assert "data:image/svg+xml;base64," in page
    assert f"{rows[0].wrong} of {rows[0].runs}" in page
    assert ("rounds until a verdict" in page) != fixed
    assert ("20 rounds, 3 runs" in page) == fixed


def test_a_share_with_its_interval() -> None:
    """Clopper and Pearson's, by its definition: at each end a count as far off has probability 1/40."""
    estimate = share_with_interval(0, 10)
    assert (float(estimate.mean), float(estimate.low)) == (0.0, 0.0)
    assert (1.0 - float(estimate.high)) ** 10 == pytest.approx(0.025)
    estimate = share_with_interval(1, 4)
    low, high = float(estimate.low), float(estimate.high)
    assert 1.0 - (1.0 - low) ** 4 == pytest.approx(0.025)
    assert (1.0 - high) ** 4 + 4 * high * (1.0 - high) ** 3 == pytest.approx(0.025)
    assert float(share_with_interval(4, 4).high) == 1.0
