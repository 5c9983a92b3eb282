"""`ocucb run`: studies, swept or not."""

from __future__ import annotations

from pathlib import Path

import pytest

from cli.command import COMPARE_FILES, Done, lines, ocucb, table
from ocucb import cli
from ocucb.cli import experiments

STUDY = """
title = "Gaps"
horizon = 100
runs = 6
problems = ["worst_case(3, {gap})"]
policies = ["ocucb-n", "ucb"]

[sweep]
parameter = "gap"
label = "gap Δ"
values = [0.1, 0.25, 0.5]
"""


def test_run_a_sweep(tmp_path: Path) -> None:
    (tmp_path / "gaps.toml").write_text(STUDY, encoding="utf-8")
    first = ocucb("run", "gaps.toml", at=tmp_path)
    home = tmp_path / "ocucb-gaps-quick"
    assert {path.name for path in home.iterdir()} == {
        "results",
        "table.csv",
        "regret.png",
        "regret.pdf",
        "report.html",
        ".made",
    }
    assert {path.name for path in (home / "results").iterdir()} == {f"gap={gap}.zarr" for gap in ("0.1", "0.25", "0.5")}
    rows = table(home / "table.csv")
    assert [(row["gap"], row["policy"]) for row in rows] == [
        (gap, policy) for gap in ("0.1", "0.25", "0.5") for policy in ("ocucb-n", "ucb")
    ]
    found = lines(first.stdout)
    assert [float(found["0.25"][i]) for i in (0, 3)] == pytest.approx(
        [float(row["mean"]) for row in rows[2:4]], abs=0.5
    )
    for gap in ("0.1", "0.25", "0.5"):
        assert f"worst_case(3, {gap})" in (home / "report.html").read_text(encoding="utf-8")
    again = ocucb("run", "gaps.toml", at=tmp_path)
    assert again.stdout == first.stdout
    assert again.stderr == "ocucb-gaps-quick has all runs already; nothing was played\n"
    (tmp_path / "gaps.toml").write_text(STUDY.replace("0.1, 0.25, 0.5", "0.1, 0.5"), encoding="utf-8")
    ocucb("run", "gaps.toml", at=tmp_path)
    assert {row["gap"] for row in table(home / "table.csv")} == {"0.1", "0.5"}  # nothing played, yet drawn anew


def test_run_a_sweep_of_horizons(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of which memory holds none: each is read from the disk for its report."""
    monkeypatch.setattr(experiments, "KEPT_BYTES", 0)
    text = STUDY.replace("horizon = 100\n", "").replace("{gap}", "0.5").replace('"gap"', '"horizon"')
    (tmp_path / "long.toml").write_text(text.replace("0.1, 0.25, 0.5", "50, 100"), encoding="utf-8")
    ocucb("run", "long.toml", "--size", "full", "--output", "here", at=tmp_path)
    names = {path.name for path in (tmp_path / "here").iterdir()}
    assert names >= {"report-horizon=50.html", "report-horizon=100.html", "regret.png"}


def test_run_without_a_sweep_is_compare(compared: tuple[Path, Done], tmp_path: Path) -> None:
    at, done = compared
    same = ocucb("run", str(at / "ocucb-compare" / "experiment.toml"), "--output", "ocucb-compare", at=tmp_path)
    assert same.stdout == done.stdout
    for name in COMPARE_FILES - {"results.zarr", "report.html"}:  # results and report say when they were made
        assert (tmp_path / "ocucb-compare" / name).read_bytes() == (at / "ocucb-compare" / name).read_bytes()


def test_list_of_studies(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.exit_code(["run", "--list"]) == 0
    assert list(lines(capsys.readouterr().out))[3:13] == [
        "equal-gaps-10",
        "equal-gaps-100",
        "equal-gaps-2",
        "league",
        "libbandit",
        "memories",
        "mixed-gaps",
        "scale-delay",
        "scale-every",
        "scale-nodes",
    ]
