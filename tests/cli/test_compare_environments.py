"""`ocucb compare` in environments that are not plain."""

from __future__ import annotations

from pathlib import Path

from cli.command import error, ocucb
from ocucb.lab import Experiment

SHORT = ("--horizon", "60", "--runs", "4", "--policy", "ocucb-n", "--policy", "ucb", "--no-report")


def test_compare_says_where_the_environment_is_not_what_policies_assume(tmp_path: Path) -> None:
    words = ["--problem", "random(3, beta, 2, 2)", "--noise", "bernoulli", "--assumed", "gaussian(0.5)"]
    done = ocucb("compare", *words, "--delay", "geometric(3, lost=0.1)", *SHORT, at=tmp_path)
    said = " ".join(done.stdout.split())
    assert "Bayesian regret: the means of each run are drawn from beta(2, 2)" in said
    assert "policies assume Gaussian(scale=0.5), but rewards are Bernoulli()" in said
    assert "rewards come late, 10 % of them never: geometric(3, lost=0.1) rounds" in said
    text = (tmp_path / "ocucb-compare" / "experiment.toml").read_text(encoding="utf-8")
    again = Experiment.from_toml(text).problems[0]
    assert (again.arms, again.noise.name, again.assumed_noise.name) == (3, "bernoulli", "gaussian")


def test_compare_on_data(tmp_path: Path) -> None:
    (tmp_path / "seen.csv").write_text("arm,reward,count\nold,0,3\nold,1,1\nnew,1,1\nnew,0,2\n", encoding="utf-8")
    done = ocucb("compare", "--data", "seen.csv", *SHORT, at=tmp_path)
    assert "rewards are drawn from seen.csv; policies assume Bernoulli()" in " ".join(done.stdout.split())


def test_wrong_environments(tmp_path: Path) -> None:
    assert "fixed, uniform, geometric, got 'soon'" in error("compare", "--delay", "soon", *SHORT, at=tmp_path)
    assert "there is no file none.csv; give a CSV" in error("compare", "--data", "none.csv", *SHORT, at=tmp_path)
    late = error("compare", "--delay", "fixed(60)", *SHORT, at=tmp_path)
    assert "must end before the horizon, 60, got fixed(60)" in late
