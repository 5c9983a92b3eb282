"""`ocucb identify`, as a person uses it."""

from __future__ import annotations

import signal
import subprocess
import time
from pathlib import Path

import pytest

from cli.command import error, lines, ocucb, table
from ocucb.cli import interrupts
from ocucb.cli.progress import IdentificationProgress
from service.server import COMMAND


def test_identify_prints_a_table_and_leaves_files(tmp_path: Path) -> None:
    words = ["--means", "0.9,0.4", "--noise", "bernoulli", "--policy", "top-two", "--policy", "uniform"]
    done = ocucb("identify", *words, "--runs", "5", "--delta", "0.1", at=tmp_path)
    rows = table(tmp_path / "ocucb-identify" / "table.csv")
    assert [row["policy"] for row in rows] == ["top-two", "uniform"]
    found = lines(done.stdout)
    assert float(found["top-two"][0].replace(",", "")) == float(f"{float(rows[0]['rounds']):.{_digits(found)}f}")
    assert "δ = 0.1" in done.stdout
    assert "T*(μ) log(1/δ) =" in " ".join(done.stdout.split())
    for name in ("verdicts.png", "verdicts.pdf", "table.csv", "runs.jsonl", "report.html"):
        assert f"ocucb-identify/{name}" in done.stdout
        assert (tmp_path / "ocucb-identify" / name).stat().st_size > 100
    again = ocucb("identify", *words, "--runs", "5", "--delta", "0.1", "--no-report", at=tmp_path)
    assert "ocucb-identify has all runs already; nothing was played" in again.stderr
    assert lines(again.stdout)["top-two"] == found["top-two"]
    other = ["identify", *words, "--runs", "5", "--delta", "0.2"]
    assert (
        "got those of another identification; choose another output (--output chooses, --overwrite deletes)"
        in error(*other, at=tmp_path)
    )
    assert "played 10 runs" in ocucb(*other, "--overwrite", "--no-report", at=tmp_path).stderr


def _digits(found: dict[str, list[str]]) -> int:
    return len(found["top-two"][0].partition(".")[2])


def test_identify_after_a_fixed_number_of_rounds(tmp_path: Path) -> None:
    done = ocucb("identify", "--rounds", "50", "--runs", "4", "--policy", "uniform", at=tmp_path)
    assert "50 rounds" in done.stdout
    assert "ocucb-identify/errors.png" in done.stdout
    assert "the verdict is the arm of the largest mean" in " ".join(done.stdout.split())


def test_a_stopped_identification_says_so_in_a_line_and_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = [
        "identify",
        "--means",
        "0.9,0.4",
        "--noise",
        "bernoulli",
        "--policy",
        "uniform",
        "--runs",
        "6",
        "--no-report",
    ]
    whole = ocucb(*words, "--output", "whole", at=tmp_path)

    def press(self: IdentificationProgress, label: str, done: int, of: int) -> None:
        note(self, label, done, of)
        if done == 3:
            raise KeyboardInterrupt  # as Ctrl-C does, where it is certain how many runs are done

    note = IdentificationProgress.note
    with monkeypatch.context() as patched:
        patched.setattr(IdentificationProgress, "note", press)
        patched.setattr(interrupts, "exit_if_local", lambda executor: None)  # which would end the tests
        stopped = ocucb(*words, "--executor", "threads:1", at=tmp_path, code=interrupts.INTERRUPTED)
    assert "\nstopped: 3 of 6 runs are done; the same command continues it\n" in stopped.stderr
    assert "Traceback" not in stopped.stderr
    done = ocucb(*words, at=tmp_path)
    assert "found 3 runs, playing the rest" in done.stderr
    assert lines(done.stdout)["uniform"] == lines(whole.stdout)["uniform"]


def test_wrong_input(tmp_path: Path) -> None:
    assert "delta must be between 0 and 1, and neither, got 1" in error("identify", "--delta", "1", at=tmp_path)
    two = error("identify", "--problem", "mixed_gaps", "--problem", "moss_trap", at=tmp_path)
    assert "identify takes one problem, got 2" in two
    assert "got both" in error("identify", "--delta", "0.1", "--rounds", "50", at=tmp_path)
    assert "bounds speak of fixed means" in error("bounds", "--problem", "random(3)", at=tmp_path)


@pytest.mark.parametrize("executor", ["threads:2", "processes:2"])
def test_ctrl_c_does_not_wait_for_runs_that_have_no_end(executor: str, tmp_path: Path) -> None:
    words = ["identify", "--means", "0.5,0.4999999", "--noise", "bernoulli", "--policy", "uniform"]
    endless = [*COMMAND, *words, "--max-rounds", "1000000000000", "--executor", executor]
    with subprocess.Popen(endless, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as child:
        while not (tmp_path / "ocucb-identify" / "runs.jsonl").exists():
            assert child.poll() is None, child.stderr and child.stderr.read()
            time.sleep(0.01)
        time.sleep(1.0)  # the first runs are being played, or compiled
        child.send_signal(signal.SIGINT)
        try:
            out, err = child.communicate(timeout=120)  # they would take weeks
        finally:
            child.kill()
    assert (child.returncode, out) == (interrupts.INTERRUPTED, "")
    assert "Traceback" not in err
    assert err.endswith("stopped: the same command continues it\n")
