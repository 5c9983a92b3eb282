"""A result: what was computed, handed on; loaded again; and what it shows of itself."""

from __future__ import annotations

import math
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import xarray as xr
import zarr

from lab.small_study import assert_same, small
from ocucb import UCB, LevelPolicy, OCUCBn, ParameterError, StateError
from ocucb.compiled import Parameters
from ocucb.lab import Experiment, Result, simulate, worst_case
from ocucb.lab.dataset import join_datasets
from ocucb.lab.result import join_results
from ocucb.lab.summary import summarize
from sample_results import empty, study


def patient(t: float, pulls: float, effective: float, arms: float, parameters: Parameters) -> float:
    return 2.0 * math.log(t)


@pytest.fixture(scope="module")
def result() -> Result:
    return simulate(study(horizon=200, runs=6))


def test_it_knows_its_experiment_and_its_dataset(result: Result) -> None:
    assert result.experiment == study(horizon=200, runs=6)
    assert result.dataset.sizes == {
        "problem": 2,
        "policy": 3,
        "run": 6,
        "t": len(result.experiment.checkpoints),
        "arm": 10,
    }
    assert Experiment.from_toml(result.dataset.attrs["experiment"]) == result.experiment


def test_summary_is_computed_once(result: Result) -> None:
    assert str(result.summary()) == str(summarize(result.dataset, result.experiment))
    assert result.summary() is result.summary()
    assert str(result.summary("bca")) == str(summarize(result.dataset, result.experiment, "bca"))
    assert result.summary("bca") != result.summary()


def test_it_shows_itself_as_its_table(result: Result) -> None:
    assert str(result) == str(result.summary())
    assert result._repr_html_() == result.summary()._repr_html_()
    assert result.plot("mixed_gaps")._repr_png_().startswith(b"\x89PNG")  # type: ignore[attr-defined]
    assert repr(result) == "<Result: OCUCB-n, UCB, Thompson sampling on mixed_gaps, worst_case(4, 0.5)>"


def test_a_figure_for_each_problem(result: Result) -> None:
    by_name, by_problem = result.plot("worst_case(4, 0.5)"), result.plot(result.experiment.problems[1], theory=False)
    assert [figure.axes[0].get_title() for figure in (by_name, by_problem)] == ["worst_case(4, 0.5)"] * 2
    assert len(by_problem.axes[0].get_lines()) == 3 < len(by_name.axes[0].get_lines())
    with pytest.raises(
        ParameterError, match=r"problem must be one of 'mixed_gaps', 'worst_case\(4, 0.5\)', got 'coins'"
    ):
        result.plot("coins")


def test_one_problem_need_not_be_named() -> None:
    alone = simulate(study([worst_case(3)], horizon=50, runs=2))
    assert alone.plot().axes[0].get_title() == "worst_case(3, 0.3)"


def test_report(result: Result, tmp_path: Path) -> None:
    result.report(tmp_path / "report.html")
    assert "Regret of 3 policies on 2 problems" in (tmp_path / "report.html").read_text(encoding="utf-8")


def test_a_line_of_the_frame_for_every_run_and_checkpoint(result: Result) -> None:
    frame = result.to_dataframe()
    assert list(frame.columns) == ["problem", "policy", "run", "t", "regret"]
    assert len(frame) == 2 * 3 * 6 * len(result.experiment.checkpoints)
    one = frame[(frame.problem == "mixed_gaps") & (frame.policy == "UCB") & (frame.run == 3) & (frame.t == 200)]
    assert one.regret.item() == result.dataset.regret.sel(problem="mixed_gaps", policy="UCB", run=3, t=200).item()


def test_runs_that_are_not_finished_are_not_in_the_frame() -> None:
    experiment = study(horizon=50, runs=2)
    dataset = empty(experiment)
    dataset["regret"].to_numpy()[0, 1, 1] = 5.0
    assert len(Result(experiment, dataset).to_dataframe()) == len(experiment.checkpoints)


def test_what_a_folder_keeps_is_loaded(tmp_path: Path) -> None:
    kept = simulate(small(), folder=tmp_path)
    for loaded in (Result.load(tmp_path), Result.load(str(tmp_path), small())):
        assert loaded.experiment == small()
        assert_same(loaded.dataset, kept.dataset)
        assert loaded.dataset.attrs == kept.dataset.attrs
    with pytest.raises(StateError, match="seed is 7 there and 8 here"):
        Result.load(tmp_path, replace(small(), seed=8))
    with pytest.raises(StateError, match="must hold results, got nothing"):
        Result.load(tmp_path / "none")


def test_a_policy_of_ones_own_is_loaded_with_its_experiment(tmp_path: Path) -> None:
    own = LevelPolicy("patient", patient, trend="rises")
    experiment = Experiment((worst_case(3),), (("ucb", UCB(4.0)), ("own", own)), 100, runs=4)
    kept = simulate(experiment, folder=tmp_path)
    assert_same(Result.load(tmp_path, experiment).dataset, kept.dataset)
    with pytest.raises(StateError, match=r"must be loaded with its experiment.*use Result\.load\(folder, experiment\)"):
        Result.load(tmp_path)


def test_nothing_is_read_back_from_the_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What was computed is handed on: chunks on disk are looked at only if they were there before."""
    read: list[object] = []
    get = zarr.Array.__getitem__

    def noted(array: zarr.Array[Any], selection: Any) -> Any:
        read.append(selection)
        return get(array, selection)

    monkeypatch.setattr(zarr.Array, "__getitem__", noted)
    simulate(small(), folder=tmp_path)
    assert read == []
    simulate(small(), folder=tmp_path)
    assert len(read) == 2 * 6  # regret and pulls of each policy on each problem, once


def test_without_a_folder_no_store_is_needed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ocucb.lab.store", None)
    assert simulate(study(horizon=50, runs=2)).dataset["finished"].to_numpy().tolist() == [[2, 2, 2], [2, 2, 2]]


def test_an_executor_may_be_named() -> None:
    experiment = study(horizon=50, runs=4)
    xr.testing.assert_equal(simulate(experiment, "threads:1").dataset, simulate(experiment).dataset)
    with pytest.raises(ParameterError, match="executor must be one of"):
        simulate(experiment, "thread")


def test_results_that_differ_in_problems_alone_are_joined() -> None:
    policies = (("n", OCUCBn()), ("u", UCB()))
    parts = [simulate(study([worst_case(arms)], policies, horizon=100, runs=3)) for arms in (2, 5)]
    joined = join_results(parts)
    assert [problem.arms for problem in joined.experiment.problems] == [2, 5]
    together = simulate(study([worst_case(2), worst_case(5)], policies, horizon=100, runs=3))
    assert_same(joined.dataset, together.dataset)
    assert repr(joined.summary()) == repr(together.summary())
    assert join_results(parts[:1]) is parts[0]
    assert join_datasets([parts[0].dataset]).sizes["problem"] == 1
