"""The command, as a person uses it: results, files, errors of one line, Ctrl-C."""

from __future__ import annotations

import csv
import io
import math
import os
import re
import signal
import subprocess
import sys
import termios
import time
from pathlib import Path

import pytest
from rich.console import Console

from ocucb import GuaranteeWarning, __version__, cli
from ocucb.cli.app import COMMANDS
from ocucb.cli.bounds import scale_of
from ocucb.cli.compare import POLICIES as COMPARED
from ocucb.cli.options import read_problems
from ocucb.cli.progress import Pace, clock
from ocucb.cli.tables import sweep_tables, with_error
from ocucb.lab.experiment import Experiment
from ocucb.lab.problem import mixed_gaps
from ocucb.lab.result import Store
from ocucb.lab.simulate import Progress
from ocucb.lab.statistics import Row, summary
from ocucb.lab.study import Sweep
from ocucb.noise import Bernoulli, Bounded, Gaussian, Poisson
from ocucb.policies import POLICIES
from ocucb.theory import asymptotic_slope, effective_arms, finite_time_sum, lai_robbins_slope, lower_bound

COMMAND = [sys.executable, "-W", "error", "-m", "ocucb.cli"]
SMALL = ("--horizon", "300", "--runs", "20")
FILES = {"results.zarr", "experiment.toml", "table.csv", "regret.png", "regret.pdf", "report.html", ".made"}


def ocucb(*words: str, at: Path, code: int = 0) -> subprocess.CompletedProcess[str]:
    done = subprocess.run([*COMMAND, *words], cwd=at, capture_output=True, text=True, check=False)
    assert "Traceback" not in done.stderr
    assert done.returncode == code, done.stderr
    return done


def table(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8") as file:
        return list(csv.DictReader(file))


def lines(text: str) -> dict[str, list[str]]:
    """Return the lines of a printed table by their first word."""
    return {words[0]: words[1:] for words in map(str.split, text.splitlines()) if words}


@pytest.fixture(scope="module")
def compared(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, subprocess.CompletedProcess[str]]:
    """Return the folder where `ocucb compare` ran, small, and what it said."""
    at = tmp_path_factory.mktemp("compared")
    return at, ocucb("compare", *SMALL, at=at)


def test_compare_prints_a_table(compared: tuple[Path, subprocess.CompletedProcess[str]]) -> None:
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


def test_compare_leaves_files(compared: tuple[Path, subprocess.CompletedProcess[str]]) -> None:
    at, done = compared
    home = at / "ocucb-compare"
    assert {path.name for path in home.iterdir()} == FILES
    for name in FILES - {".made"}:
        assert f"ocucb-compare/{name}" in done.stdout.splitlines()
    assert (home / "regret.png").read_bytes().startswith(b"\x89PNG")
    assert (home / "regret.pdf").read_bytes().startswith(b"%PDF")
    assert "</html>" in (home / "report.html").read_text(encoding="utf-8")
    experiment = Experiment.from_toml((home / "experiment.toml").read_text(encoding="utf-8"))
    assert (experiment.problems, experiment.horizon, experiment.runs) == ((mixed_gaps(),), 300, 20)


def test_compare_is_what_the_library_says(compared: tuple[Path, subprocess.CompletedProcess[str]]) -> None:
    home = compared[0] / "ocucb-compare"
    experiment = Experiment.from_toml((home / "experiment.toml").read_text(encoding="utf-8"))
    expected = summary(Store.open(home / "results.zarr").dataset(), experiment)
    assert [float(row["mean"]) for row in table(home / "table.csv")] == [row.mean for row in expected]


def test_again_plays_and_draws_nothing(compared: tuple[Path, subprocess.CompletedProcess[str]]) -> None:
    at, first = compared
    files = [path for path in (at / "ocucb-compare").rglob("*") if path.is_file()]
    before = {path: path.stat().st_mtime_ns for path in files}
    again = ocucb("compare", *SMALL, at=at)
    assert again.stdout == first.stdout
    assert again.stderr == "ocucb-compare has all runs already; nothing was played\n"
    assert {path: path.stat().st_mtime_ns for path in files} == before


def test_a_file_that_was_deleted_is_made_again(compared: tuple[Path, subprocess.CompletedProcess[str]]) -> None:
    at, _ = compared
    (at / "ocucb-compare" / "regret.pdf").unlink()
    ocucb("compare", *SMALL, at=at)
    assert {path.name for path in (at / "ocucb-compare").iterdir()} == FILES


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
    assert {path.name for path in (tmp_path / "ocucb-compare").iterdir()} == FILES - {
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
    done = ocucb(*words, "--executor", "processes:2", at=tmp_path)
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


WRONG = [
    ("compare --horizn 3", "Unknown option: --horizn. Did you mean --horizon? See ocucb compare --help"),
    ("compare stray", "Unused Tokens: .* See ocucb compare --help"),
    ("comparee", 'Unknown command "comparee". Did you mean "compare"?'),
    ("compare --policy ocub-n", "policy must be one of .* got 'ocub-n'; did you mean 'ocucb-n'?"),
    ("compare --policy ucb(beta=2)", "parameters of ucb are alpha, got 'beta'"),
    ("compare --policy ucb(alpha=-2)", "alpha must be greater than 0, got -2"),
    ("compare --policy ucb(", "a policy must be a name"),
    ("compare --policy gittins", "horizon must be 10000 or less for the exact index, got 100000"),
    ("compare --policy ucb --policy ucb", "labels of policies must all be different, got 'ucb' twice"),
    ("compare --problem worst_cas", "problem must be one of .* did you mean 'worst_case'?"),
    ("compare --problem worst_case(1)", "arms must be 2 or more"),
    ("compare --noise gausian", "noise must be one of .* did you mean 'gaussian'?"),
    ("compare --noise gaussian(scale=0)", "scale must be greater than 0"),
    ("compare --means nonsense", "means must be numbers as in 0.5,0.4,0.4, got 'nonsense'"),
    ("compare --means 0.5", "means must name at least two arms, got 1"),
    ("compare --means 0.5,nan", "means must be a finite number, got nan"),
    ("compare --means 0.5,1.5 --noise bernoulli", "must lie between 0 and 1, got 1.5"),
    ("compare --means 1,2 --means 3,4", "Parameter --means specified multiple times. See"),
    ("compare --horizon 1.5", "must be a whole number such as 1000 or 1e5, got '1.5'"),
    ("compare --horizon inf", "must be a whole number such as 1000 or 1e5, got 'inf'"),
    ("compare --horizon -5", "horizon must be 2 or more, got -5"),
    ("compare --horizon 5", "horizon must be at least the number of arms, 10 of mixed_gaps, got 5"),
    ("compare --runs 1", "runs must be 2 or more, got 1"),
    ("compare --runs 9 --precision 0.1", "one of runs and precision must be given, got both"),
    ("compare --precision 2", "precision must be between 0 and 1, got 2"),
    ("compare --seed -1", "seed must be a whole number, 0 or more"),
    ("compare --executor cloud", "executor must be one of threads, .* got 'cloud'"),
    ("compare --output file", "output must be a folder, got file, which is or lies in a file"),
    ("compare --output file/folder", "output must be a folder, got file/folder, which is or lies in a file"),
    ("compare --output /proc/nowhere", "No such file or directory: /proc/nowhere"),
    ("run", "run needs a study, got none; give a TOML file, or a name from ocucb run --list"),
    ("run mixed-gap", "study must be a TOML file or one of .* did you mean 'mixed-gaps'?"),
    ("run nowhere.toml", "No such file or directory: nowhere.toml"),
    ("run .", "Is a directory: ."),
    ("run empty.toml", "empty.toml: a study must have problems, got only nothing"),
    ("run torn.toml", "torn.toml: a study must be TOML, but it breaks off"),
    ("run binary.toml", "binary.toml must be a TOML file"),
    ("run types.toml", "types.toml: horizon must be a whole number, got 'long'"),
    ("run mixed-gaps --size huge", 'Invalid value "huge" for --size'),
    ("policies ucbb", "policy must be one of .* did you mean 'ucb'?"),
    ("bounds --means 1,a", "means must be numbers"),
    ("bounds --eta 0.5", "eta must be 1 or more, got 0.5"),
    ("bounds --rho 2", "rho must be between 0 and 1, got 2"),
    ("bounds --horizon 1", "horizon must be 2 or more, got 1; the bounds divide by log"),
    ("paper --claim 16", "claim must be one of 1, 2, 3, .* 14, 15, got 16"),
    ("paper --claim 1 -2", "claim must be one of 1, 2, 3, .* got -2"),
    ("paper --claim one", 'Invalid value for --claim: unable to convert "one" into int. See ocucb paper --help'),
    ("paper --seed -1", "seed must be 0 or more, got -1"),
    ("paper --seed 0.5", "must be a whole number such as 1000 or 1e5, got '0.5'"),
    ("paper --executor cloud", "executor must be one of threads, .* got 'cloud'"),
    ("paper --output file", "output must be a folder, got file, which is or lies in a file"),
]


@pytest.fixture
def bad_files(tmp_path: Path) -> Path:
    """Return a folder with files that are not what they should be."""
    (tmp_path / "file").write_text("a file")
    (tmp_path / "empty.toml").write_text("")
    (tmp_path / "torn.toml").write_text("problems = [")
    (tmp_path / "binary.toml").write_bytes(b"\xff\x00\xfe")
    (tmp_path / "types.toml").write_text('problems = 3\npolicies = "ucb"\nhorizon = "long"\nruns = 1\n')
    return tmp_path


def words_of(line: str) -> list[str]:
    return re.findall(r"[^\s(]+(?:\([^)]*\)?)?", line)


@pytest.mark.parametrize(("line", "message"), WRONG)
def test_an_error_is_one_line(
    line: str,
    message: str,
    bad_files: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(bad_files)
    assert cli.exit_code(words_of(line)) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert re.match(f"ocucb: error: .*{message.replace('?', '[?]')}", err)
    assert err.count("\n") == 1


def test_an_error_is_one_line_for_a_person_too(bad_files: Path) -> None:
    for line in ("compare --horizn 3", "compare --policy ocub-n", "compare --output file", "run types.toml"):
        done = ocucb(*words_of(line), at=bad_files, code=2)
        assert done.stdout == ""
        assert re.fullmatch(r"ocucb: error: [^\n]+\n", done.stderr)
    assert {path.name for path in bad_files.iterdir()} == {
        "file",
        "empty.toml",
        "torn.toml",
        "binary.toml",
        "types.toml",
    }


@pytest.mark.parametrize("package", ["cyclopts", "rich", "xarray", "zarr", "tomli_w", "matplotlib", "plotly"])
def test_without_the_extra(package: str, tmp_path: Path) -> None:
    code = f"import sys; sys.modules[{package!r}] = None; from ocucb.cli import main; main(sys.argv[1:])"
    words = ["compare", "--horizon", "50", "--runs", "2", "--policy", "ucb"]
    done = subprocess.run(
        [sys.executable, "-c", code, *words], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    last = done.stderr.splitlines()[-1]
    assert last == f'ocucb: error: this command needs {package}, which is not installed; pip install "ocucb[lab]"'
    assert "Traceback" not in done.stderr


def test_a_closed_pipe_is_silent(tmp_path: Path) -> None:
    with subprocess.Popen(
        [*COMMAND, "policies"], cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as child:
        assert child.stdout is not None
        assert child.stderr is not None
        child.stdout.close()
        assert child.stderr.read() == ""
    assert child.returncode == 1


def chunks(at: Path) -> int:
    return len(list((at / "ocucb-compare" / "results.zarr" / "regret").glob("c/*/*/*/0")))


@pytest.mark.parametrize("executor", ["threads:2", "processes:2"])
def test_interrupt(executor: str, tmp_path: Path) -> None:
    words = ["compare", "--policy", "ocucb-n", "--policy", "ucb", "--horizon", "20000", "--runs", "2000"]
    words += ["--no-report", "--executor", executor]
    stopped, whole = tmp_path / "stopped", tmp_path / "whole"
    stopped.mkdir()
    whole.mkdir()
    with subprocess.Popen(
        [*COMMAND, *words], cwd=stopped, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as child:
        while chunks(stopped) < 2:
            assert child.poll() is None, child.stderr and child.stderr.read()
            time.sleep(0.01)
        child.send_signal(signal.SIGINT)
        out, err = child.communicate(timeout=60)
    assert (child.returncode, out) == (130, "")
    assert "Traceback" not in err
    said = re.search(r"stopped: ([\d,]+) of 4,000 runs are done; the same command continues it\n$", err)
    assert said is not None, err
    done = int(said[1].replace(",", ""))
    assert 0 < done < 4000
    again = ocucb(*words, at=stopped)
    found = re.search(r"found ([\d,]+) runs, playing the rest", again.stderr)
    assert found is not None
    assert int(found[1].replace(",", "")) >= done  # a shard may be kept just before it is counted
    once = ocucb(*words, at=whole)
    assert again.stdout == once.stdout
    for name in ("table.csv", "experiment.toml"):
        assert (stopped / "ocucb-compare" / name).read_bytes() == (whole / "ocucb-compare" / name).read_bytes()


def test_live_bar_on_a_terminal(tmp_path: Path) -> None:
    terminal, end = os.openpty()
    termios.tcsetwinsize(end, (40, 100))
    words = ["compare", *SMALL, "--no-report"]
    with subprocess.Popen([*COMMAND, *words], cwd=tmp_path, stdout=subprocess.PIPE, stderr=end) as child:
        os.close(end)
        shown = b""
        while True:
            try:
                shown += os.read(terminal, 4096)
            except OSError:  # how Linux says that the other end is closed
                break
    os.close(terminal)
    assert child.returncode == 0
    frames = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", shown.decode())
    last = [frame for frame in re.split(r"[\r\n]+", frames) if "left" in frame][-1]
    assert re.fullmatch(r"[a-z+-]+ +━+ 120/120 runs [\d.]+ M steps/s 0:00 left", last.strip())
    assert max(map(len, re.split(r"[\r\n]+", frames))) <= 100


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


def test_run_a_sweep_of_horizons(tmp_path: Path) -> None:
    text = STUDY.replace("horizon = 100\n", "").replace("{gap}", "0.5").replace('"gap"', '"horizon"')
    (tmp_path / "long.toml").write_text(text.replace("0.1, 0.25, 0.5", "50, 100"), encoding="utf-8")
    ocucb("run", "long.toml", "--size", "full", "--output", "here", at=tmp_path)
    names = {path.name for path in (tmp_path / "here").iterdir()}
    assert names >= {"report-horizon=50.html", "report-horizon=100.html", "regret.png"}


def test_run_without_a_sweep_is_compare(
    compared: tuple[Path, subprocess.CompletedProcess[str]], tmp_path: Path
) -> None:
    at, done = compared
    same = ocucb("run", str(at / "ocucb-compare" / "experiment.toml"), "--output", "ocucb-compare", at=tmp_path)
    assert same.stdout == done.stdout
    for name in FILES - {"results.zarr", "report.html"}:  # results and report say when they were made
        assert (tmp_path / "ocucb-compare" / name).read_bytes() == (at / "ocucb-compare" / name).read_bytes()


def test_a_sweep_of_many_policies_shows_them_all() -> None:
    labels = [f"policy {i}" for i in range(9)]
    rows = [Row("mixed_gaps", label, 9, 100.0 + i, *[1.0] * 10) for i, label in enumerate(labels)]
    sweep = Sweep("gap", "gap", "linear", {})
    for width in (40, 80, 200):
        screen = Console(width=width, record=True, file=io.StringIO())
        screen.print(*sweep_tables(sweep, "mixed_gaps", [(0.1, rows), (0.2, rows)], width), sep="\n")
        text = screen.export_text()
        assert all(label in text for label in labels)
        assert text.count("108 ± 0") == 2


def test_list_of_studies(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.exit_code(["run", "--list"]) == 0
    assert list(lines(capsys.readouterr().out))[3:7] == [
        "equal-gaps-10",
        "equal-gaps-100",
        "equal-gaps-2",
        "mixed-gaps",
    ]


def test_policies(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.exit_code(["policies"]) == 0
    found = lines(capsys.readouterr().out)
    assert set(POLICIES) <= set(found)
    assert found["thompson-sampling"][-1] == "scan"
    assert found["ocucb"][-2:] == ["horizon", "lazy"]
    assert found["ocucb-n"][-3:] == ["effective", "arms", "lazy"]
    assert "eta=1.1" in found


@pytest.mark.parametrize("name", POLICIES)
def test_one_policy(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.exit_code(["policies", name]) == 0
    out = capsys.readouterr().out
    assert out.startswith(f"{name}  ocucb.{POLICIES[name].__name__}\n")
    use = re.search(r'ocucb compare --policy "(.*)"', out)
    assert use is not None
    assert use[1].startswith(name)


def numbers(text: str) -> list[float]:
    """Return the values in the table of bounds."""
    rows = [line for line in text.splitlines() if re.match(r"Theorem 1, |Lai–Robbins, |Appendix A, ", line)]
    return [float(re.split(r"\s{2,}", line)[1]) for line in rows]


def test_bounds(capsys: pytest.CaptureFixture[str]) -> None:
    means, n, rho, eta = [0.9, 0.6, 0.6, 0.1], 20_000, 0.75, 1.5
    words = ["bounds", "--means", "0.9,0.6,0.6,0.1", "--horizon", "20_000", "--rho", "0.75", "--eta", "1.5"]
    assert cli.exit_code(words) == 0
    out = capsys.readouterr().out
    assert numbers(out) == pytest.approx(
        [
            float(finite_time_sum(means, n, rho)),
            asymptotic_slope(means, eta),
            lai_robbins_slope(means, Gaussian()),
            float(lower_bound(means, n)),
        ],
        rel=1e-5,
    )
    effective = effective_arms(means, rho)
    assert [float(word) for word in lines(out)["1–2"]] == pytest.approx([0.6, 0.3, float(effective[1])], rel=1e-5)
    assert "its condition holds" in " ".join(out.split())


def test_bounds_of_other_noise(capsys: pytest.CaptureFixture[str]) -> None:
    means = [0.9, 0.6]
    assert cli.exit_code(["bounds", "--means", "0.9,0.6", "--noise", "bernoulli", "--horizon", "10"]) == 0
    out = capsys.readouterr().out
    found = re.search(r"Theorem 1, slope +(\S+)", out)
    assert found is not None
    assert float(found[1]) == pytest.approx(2 * 1.1 * 0.25 / 0.3, rel=1e-5)
    least = re.search(r"Lai–Robbins, slope +(\S+)", out)
    assert least is not None
    assert float(least[1]) == pytest.approx(lai_robbins_slope(means, Bernoulli()), rel=1e-5)
    assert re.search(r"Appendix A, sum +– +is for Gaussian noise", out)
    assert cli.exit_code(["bounds", "--means", "3,2", "--noise", "poisson"]) == 0
    assert "needs subgaussian noise, which poisson is not" in capsys.readouterr().out
    assert cli.exit_code(["bounds", "--means", "3,2.9", "--horizon", "10"]) == 0
    assert "its condition does not hold" in " ".join(capsys.readouterr().out.split())


def test_scale_of_noise() -> None:
    assert scale_of(Gaussian(0.3)) == 0.3
    assert scale_of(Bernoulli()) == 0.5
    assert scale_of(Bounded(-1.0, 3.0)) == 2.0
    assert scale_of(Poisson()) is None


def test_version(tmp_path: Path) -> None:
    assert ocucb("--version", at=tmp_path).stdout == f"{__version__}\n"


def test_help(capsys: pytest.CaptureFixture[str]) -> None:
    for words in ([], ["--help"]):
        assert cli.exit_code(words) == 0
        found = lines(capsys.readouterr().out.replace("│", ""))
        assert all(name in found for name in COMMANDS)
    for name in COMMANDS:
        assert cli.exit_code([name, "--help"]) == 0
        assert "Parameters" in capsys.readouterr().out


def test_help_loads_nothing_heavy(tmp_path: Path) -> None:
    code = (
        "import sys, ocucb.cli; ocucb.cli.exit_code(['--help']); "
        "print([name for name in ('matplotlib', 'xarray', 'zarr', 'plotly') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"


@pytest.mark.parametrize("name", COMMANDS)
def test_help_says_what_the_command_says(name: str) -> None:
    module = __import__(f"ocucb.cli.{name}", fromlist=[name])
    assert getattr(module, name).__doc__.splitlines()[0] == COMMANDS[name]


def test_names_of_means() -> None:
    assert [problem.name for problem in read_problems("0.5 0.25", [], None)] == ["means 0.5, 0.25"]
    assert [problem.name for problem in read_problems("1,2,3,4,5,6,7", ["mixed_gaps"], None)] == [
        "7 means",
        "mixed_gaps",
    ]


def test_with_error() -> None:
    assert with_error(1234.5678, 3.21) == "1,234.6 ± 3.2"
    assert with_error(1234.5678, 321.0) == "1,235 ± 321"
    assert with_error(-0.012341, 0.00021, "+") == "−0.01234 ± 0.00021"
    assert with_error(5.0, 0.0, "+") == "+5 ± 0"
    assert with_error(math.nan, math.nan) == "–"


def test_clock() -> None:
    assert [clock(seconds) for seconds in (0.4, 59.6, 3599, 3600, 100_000)] == [
        "0:00",
        "1:00",
        "59:59",
        "1:00:00",
        "27:46:40",
    ]


def event(done: int, planned: int, found: int, horizon: int) -> Progress:
    return Progress("ucb", "mixed_gaps", done, planned, found, done * horizon, planned * horizon)


def test_pace() -> None:
    """Two experiments of 100 runs, of 1,000 and of 10,000 rounds; the first had 40 runs already."""
    experiments = [
        Experiment((mixed_gaps(),), (("u", POLICIES["ucb"]()),), horizon, runs=100) for horizon in (1000, 10_000)
    ]
    pace = Pace(experiments, now=0.0)
    assert pace.words(1.0) == ("", "", "")
    pace.begin()
    pace.note(event(60, 100, 40, 1000), now=20.0)
    assert pace.words(20.0) == ("60/200 runs", "0.001 M steps/s", "17:20 left")  # 20,000 steps in 20 s; 1,040,000 left
    pace.note(event(100, 100, 40, 1000), now=24.0)
    pace.end(100)
    assert pace.words(24.0) == ("100/200 runs", "0.01 M steps/s", "1:40 left")  # since the first shard: 40,000 in 4 s
    pace.begin()
    pace.note(event(50, 100, 0, 10_000), now=28.0)
    assert (pace.runs_done, pace.runs_planned) == (150, 200)
    assert (pace.steps_played, pace.steps_left) == (560_000, 500_000)
    assert pace.rate(30.0) == pytest.approx(540_000 / 10.0)


PAPER = """
import sys
import ocucb.paper.table, sample_claims
from ocucb.cli import main
ocucb.paper.table.CLAIMS = tuple(getattr(sample_claims, name) for name in sys.argv[1].split(","))
main(["paper", *sys.argv[2:]])
"""


def paper(claims: str, *words: str) -> list[str]:
    """Return the command that executes made-up claims, in threads: other processes know the paper's alone."""
    return [sys.executable, "-W", "error", "-c", PAPER, claims, "--executor", "threads:2", *words]


def environment() -> dict[str, str]:
    """Return variables with which a child finds the made-up claims."""
    paths = [str(Path(__file__).parent), *filter(None, [os.environ.get("PYTHONPATH")])]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(paths)}


def test_paper_prints_verdicts_and_leaves_a_page(tmp_path: Path) -> None:
    done = [
        subprocess.run(
            paper("DICE,ODD", "--output", str(tmp_path / folder)),
            env=environment(),
            capture_output=True,
            text=True,
            check=True,
        )
        for folder in ("one", "two")
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
    assert shown[-2] == "4 checks: 2 hold, 1 fails as printed, 1 not decidable at this size"
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


def test_paper_with_a_check_that_breaks_down(tmp_path: Path) -> None:
    done = subprocess.run(
        paper("BROKEN,ODD"), cwd=tmp_path, env=environment(), capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    assert "Traceback" not in done.stderr
    assert re.search(
        r"\nocucb: error: 1 of 3 checks did not finish; 4-broken: ZeroDivisionError: there is no finding at quick size "
        r"\(sample_claims.py, line \d+\)\n$",
        done.stderr,
    )
    assert re.search(r"broken +did not finish +ZeroDivisionError", done.stdout)
    assert "3 checks: 1 holds, 1 fails as printed, 0 not decidable at this size, 1 did not finish" in done.stdout
    assert "ZeroDivisionError" in (tmp_path / "ocucb-paper" / "paper.html").read_text(encoding="utf-8")


def test_paper_on_a_terminal_stops_at_once(tmp_path: Path) -> None:
    terminal, end = os.openpty()
    termios.tcsetwinsize(end, (40, 100))
    with subprocess.Popen(
        paper("DICE,SLOW"), cwd=tmp_path, env=environment(), stdout=subprocess.PIPE, stderr=end, text=True
    ) as child:
        os.close(end)
        shown, stopped = b"", False
        while True:
            try:
                shown += os.read(terminal, 4096)
            except OSError:  # how Linux says that the other end is closed
                break
            if b"2/3" in shown and not stopped:
                child.send_signal(signal.SIGINT)
                stopped = True
        out, _ = child.communicate(timeout=20)
    os.close(terminal)
    assert (child.returncode, out) == (130, "")
    frames = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", shown.decode())
    assert re.search(r"1-[a-z-]+ +[━╸╺ ]+ 2/3 checks 0:00:0\d", frames)
    assert frames.endswith("stopped: 2 of 3 checks were done; no page\r\n")
    assert "Traceback" not in frames
    assert not (tmp_path / "ocucb-paper" / "paper.html").exists()
