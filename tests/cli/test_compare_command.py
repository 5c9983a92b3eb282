"""`ocucb compare`, as a person uses it: results, files, Ctrl-C."""

from __future__ import annotations

import re
import signal
import subprocess
import time
from pathlib import Path

import pytest

from cli.command import COMPARE_FILES, SMALL, Done, lines, ocucb, on_terminal, table
from ocucb import GuaranteeWarning
from ocucb.cli.commands.compare import POLICIES as COMPARED
from ocucb.lab import Experiment, Result, mixed_gaps
from ocucb.noise import Gaussian
from service.server import COMMAND


def test_compare_prints_a_table(compared: tuple[Path, Done]) -> None:
    at, done = compared
    found = lines(done.stdout)
    rows = table(at / "ocucb-compare" / "table.csv")
    assert [row["policy"] for row in rows] == list(COMPARED)
    for row in rows:
        mean, plus_minus, half, *rest = found[row["policy"]]
        assert plus_minus == "±"
        assert float(mean) == pytest.approx(float(row["mean"]), abs=1.0)
        assert float(half) == pytest.approx((float(row["high"]) - float(row["low"])) / 2, rel=0.1)
        share = float(rest[-2])
        assert share == pytest.approx(100 * float(row["best_arm_share"]), abs=0.051)
        if row["policy"] != "ocucb-n":
            difference = float(rest[0].replace("−", "-"))
            assert difference == pytest.approx(float(row["difference"]), abs=1.0)
    assert found["ocucb-n"][3] == "–"
    assert "difference to ocucb-n" in done.stdout
    assert "n = 300, 20 runs of each policy, seed 0" in done.stdout


def test_compare_leaves_files(compared: tuple[Path, Done]) -> None:
    at, done = compared
    home = at / "ocucb-compare"
    assert {path.name for path in home.iterdir()} == COMPARE_FILES
    for name in COMPARE_FILES - {".made"}:
        assert f"ocucb-compare/{name}" in done.stdout.splitlines()
    assert (home / "regret.png").read_bytes().startswith(b"\x89PNG")
    assert (home / "regret.pdf").read_bytes().startswith(b"%PDF")
    assert "</html>" in (home / "report.html").read_text(encoding="utf-8")
    experiment = Experiment.from_toml((home / "experiment.toml").read_text(encoding="utf-8"))
    assert (experiment.problems, experiment.horizon, experiment.runs) == ((mixed_gaps(),), 300, 20)


def test_compare_is_what_the_library_says(compared: tuple[Path, Done]) -> None:
    home = compared[0] / "ocucb-compare"
    experiment = Experiment.from_toml((home / "experiment.toml").read_text(encoding="utf-8"))
    expected = Result.load(home / "results.zarr", experiment).summary()
    assert [float(row["mean"]) for row in table(home / "table.csv")] == [row.mean for row in expected]


def test_again_plays_and_draws_nothing(compared: tuple[Path, Done]) -> None:
    at, first = compared
    files = [path for path in (at / "ocucb-compare").rglob("*") if path.is_file()]
    before = {path: path.stat().st_mtime_ns for path in files}
    again = ocucb("compare", *SMALL, at=at)
    assert again.stdout == first.stdout
    assert again.stderr == "ocucb-compare has all runs already; nothing was played\n"
    assert {path: path.stat().st_mtime_ns for path in files} == before


def test_a_file_that_was_deleted_is_made_again(compared: tuple[Path, Done]) -> None:
    at, _ = compared
    (at / "ocucb-compare" / "regret.pdf").unlink()
    ocucb("compare", *SMALL, at=at)
    assert {path.name for path in (at / "ocucb-compare").iterdir()} == COMPARE_FILES


def test_another_experiment_is_refused_unless_overwritten(tmp_path: Path) -> None:
    words = ("compare", "--no-report", "--policy", "ucb", "--horizon", "50")
    ocucb(*words, "--runs", "4", at=tmp_path)
    done = ocucb(*words, "--runs", "5", at=tmp_path, code=2)
    assert re.fullmatch(
        r"ocucb: error: .*runs is 4 there and 5 here.* \(--output chooses, --overwrite deletes\)\n", done.stderr
    )
    ocucb(*words, "--runs", "5", "--overwrite", at=tmp_path)
    rows = table(tmp_path / "ocucb-compare" / "table.csv")
    assert [(row["policy"], row["runs"]) for row in rows] == [("ucb", "5")]
    assert {path.name for path in (tmp_path / "ocucb-compare").iterdir()} == COMPARE_FILES - {
        "regret.png",
        "regret.pdf",
        "report.html",
    }


def test_overwrite_deletes_nothing_foreign(tmp_path: Path) -> None:
    diary = tmp_path / "ocucb-compare" / "results.zarr" / "diary.txt"
    diary.parent.mkdir(parents=True)
    diary.write_text("dear")
    done = ocucb("compare", *SMALL, "--overwrite", at=tmp_path, code=2)
    assert "must hold results of ocucb to be overwritten, got something else" in done.stderr
    assert diary.read_text() == "dear"


def test_options(tmp_path: Path) -> None:
    words = ["compare", "--means", "-0.5,0.25", "--problem", "worst_case(3, 0.5)", "--problem", "moss_trap(4)"]
    words += ["--noise", "gaussian(scale=0.5)", "--policy", "ocucb-n(eta=1, rho=0.75)", "--policy", "moss(c=2)"]
    words += ["--horizon", "1e3", "--precision", "0.2", "--seed", "7", "--output", "here/there", "--no-report"]
    done = ocucb(*words, "--executor", "processes:1", at=tmp_path)
    assert done.stderr.startswith("note: eta = 1: Theorem 1 needs eta > 1")
    assert done.stderr.count("note:") == 1
    home = tmp_path / "here" / "there"
    with pytest.warns(GuaranteeWarning, match="eta = 1"):
        experiment = Experiment.from_toml((home / "experiment.toml").read_text(encoding="utf-8"))
    assert [problem.name for problem in experiment.problems] == [
        "means -0.5, 0.25",
        "worst_case(3, 0.5)",
        "moss_trap(4)",
    ]
    assert {problem.noise for problem in experiment.problems} == {Gaussian(0.5)}
    assert experiment.labels == ("ocucb-n(eta=1, rho=0.75)", "moss(c=2)")
    assert (experiment.horizon, experiment.precision, experiment.seed) == (1000, 0.2, 7)
    rows = table(home / "table.csv")
    assert len(rows) == 6
    assert all(float(row["standard_error"]) <= 0.2 * float(row["mean"]) for row in rows)
    assert "standard errors within" in done.stdout


def chunks(at: Path) -> int:
    return len(list((at / "ocucb-compare" / "results.zarr" / "regret").glob("c/*/*/*/0")))


LONG = ("compare", "--policy", "ocucb-n", "--policy", "ucb", "--horizon", "20000", "--runs", "1000", "--no-report")


@pytest.fixture(scope="module")
def uninterrupted(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Done]:
    """Return the folder where a longer comparison ran at one go, and what it said."""
    at = tmp_path_factory.mktemp("uninterrupted")
    return at, ocucb(*LONG, at=at)


@pytest.mark.parametrize("executor", ["threads:2", "processes:2"])
def test_interrupt(executor: str, uninterrupted: tuple[Path, Done], tmp_path: Path) -> None:
    whole, once = uninterrupted
    words = [*LONG, "--executor", executor]
    with subprocess.Popen(
        [*COMMAND, *words], cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as child:
        while chunks(tmp_path) < 2:
            assert child.poll() is None, child.stderr and child.stderr.read()
            time.sleep(0.01)
        child.send_signal(signal.SIGINT)
        out, err = child.communicate(timeout=60)
    assert (child.returncode, out) == (130, "")
    assert "Traceback" not in err
    said = re.search(r"stopped: ([\d,]+) of 2,000 runs are done; the same command continues it\n$", err)
    assert said is not None, err
    done = int(said[1].replace(",", ""))
    assert 0 < done < 2000
    again = ocucb(*words, at=tmp_path)
    found = re.search(r"found ([\d,]+) runs, playing the rest", again.stderr)
    assert found is not None
    assert int(found[1].replace(",", "")) >= done  # a shard may be kept just before it is counted
    assert again.stdout == once.stdout
    for name in ("table.csv", "experiment.toml"):
        assert (tmp_path / "ocucb-compare" / name).read_bytes() == (whole / "ocucb-compare" / name).read_bytes()


def test_live_bar_on_a_terminal(tmp_path: Path) -> None:
    code, _, frames = on_terminal([*COMMAND, "compare", *SMALL, "--no-report"], tmp_path)
    assert code == 0
    last = [frame for frame in re.split(r"[\r\n]+", frames) if "left" in frame][-1]
    assert re.fullmatch(r"[a-z+-]+ +━+ 120/120 runs [\d.]+ M steps/s 0:00 left", last.strip())
    assert max(map(len, re.split(r"[\r\n]+", frames))) <= 100
