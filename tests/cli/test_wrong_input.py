"""An error that a person can make is one line, and so is a package that is not installed."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from cli.command import error, words_of
from ocucb import cli
from service.server import COMMAND

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
    (
        "compare --data nowhere.csv",
        "there is no file nowhere.csv; give a CSV or Parquet file with columns arm, reward and",
    ),
    ("compare --data nowhere.parquet", "there is no file nowhere.parquet; give a CSV or Parquet file with columns arm"),
    (
        "identify --data nowhere.csv",
        "there is no file nowhere.csv; give a CSV or Parquet file with columns arm, reward and",
    ),
    ("run", "run needs a study, got none; give a TOML file, or a name from ocucb run --list"),
    ("run mixed-gap", "study must be a TOML file or one of .* did you mean 'mixed-gaps'?"),
    ("run nowhere.toml", "there is no file nowhere.toml; give a TOML file, or a name from ocucb run --list"),
    ("run .", "Is a directory: ."),
    ("run empty.toml", "empty.toml: a study must have problems, got nothing"),
    ("run torn.toml", "torn.toml: a study must be TOML, but it breaks off"),
    ("run binary.toml", "binary.toml must be a TOML file"),
    ("run types.toml", "types.toml: horizon must be a whole number, got 'long'"),
    ("run mixed-gaps --size huge", 'Invalid value "huge" for --size'),
    ("policies ucbb", "policy must be one of .* did you mean 'ucb'?"),
    ("bounds --means 1,a", "means must be numbers"),
    ("bounds --eta 0.5", "eta must be 1 or more, got 0.5"),
    ("bounds --rho 2", "rho must be between 0 and 1, got 2"),
    ("bounds --horizon 1", "horizon must be 2 or more, got 1; the bounds divide by log"),
    ("paper --claim 19", "claim must be one of 1, 2, 3, .* 17, 18, got 19"),
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
        error(*words_of(line), at=bad_files)
    done = subprocess.run(
        [*COMMAND, "compare", "--horizn", "3"], cwd=bad_files, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert re.fullmatch(r"ocucb: error: [^\n]+\n", done.stderr)
    assert {path.name for path in bad_files.iterdir()} == {
        "file",
        "empty.toml",
        "torn.toml",
        "binary.toml",
        "types.toml",
    }


def test_a_closed_pipe_is_silent(tmp_path: Path) -> None:
    with subprocess.Popen(
        [*COMMAND, "policies"], cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as child:
        assert child.stdout is not None
        assert child.stderr is not None
        child.stdout.close()
        assert child.stderr.read() == ""
    assert child.returncode == 1
