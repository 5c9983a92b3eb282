"""Runs with their tapes: the lab's choices against the printed index, and the compiled loops against the theory."""

from __future__ import annotations

import numpy as np
import pytest

from ocucb.lab.problem import linear_gaps, worst_case
from ocucb.lab.shard import Shard, play
from ocucb.paper.runs import Run, RunSetting, arm_tape, optimism_times, optimistic_prefixes, settings, worst_runs
from ocucb.policies import OCUCBn
from ocucb.theory.optimists import optimists
from ocucb.theory.stopping import optimism_time

SETTING = RunSetting(linear_gaps(5), 1.5, 0.75, 400)
POLICY = OCUCBn(1.5, 0.75)


@pytest.fixture(scope="module")
def run() -> Run:
    return next(worst_runs(SETTING, POLICY, seed=3, played=20, kept=1))


def test_the_printed_index_makes_the_choices_of_the_lab(run: Run) -> None:
    np.testing.assert_array_equal(run.indices.argmax(axis=1), run.choices[5:])
    assert run.rounds[0] == 6
    assert run.rounds[-1] == 400


def test_with_t_for_t_log_t_too() -> None:
    setting = RunSetting(linear_gaps(5), 1.5, 0.5, 400, shrink=True)
    run = next(worst_runs(setting, setting.policy, seed=3, played=20, kept=1))
    np.testing.assert_array_equal(run.indices.argmax(axis=1), run.choices[5:])
    gaps = np.array(setting.problem.gaps)
    times = optimism_times(setting, setting.policy, -gaps / 2.0, seed=3, runs=20)
    chosen = [
        play(Shard(setting.problem, setting.policy, 400, (400,), 3, k, 1, trace=400)).choices[0] for k in range(20)
    ]
    (k,) = [k for k in range(20) if (chosen[k] == run.choices).all()]
    largest = run.indices.max(axis=1)
    assert times[k].tolist() == [optimism_time(largest, 0.0, float(gap), first=6) for gap in gaps]


def test_pulls_and_averages_are_those_before_the_round(run: Run) -> None:
    for row, t in enumerate(run.rounds.tolist()):
        before = run.choices[: t - 1]
        np.testing.assert_array_equal(run.pulls[row], np.bincount(before, minlength=5))
    last = run.pulls[-1]
    np.testing.assert_array_equal(run.averages[-1], [run.tape[arm, last[arm] - 1] for arm in range(5)])
    assert run.total.sum() == 400


def test_the_runs_kept_have_the_largest_regret() -> None:
    regret = play(Shard(SETTING.problem, POLICY, 400, (400,), 3, 0, 20)).regret[:, 0]
    kept = [float(run.total @ np.array(SETTING.problem.gaps)) for run in worst_runs(SETTING, POLICY, 3, 20, 4)]
    np.testing.assert_allclose(kept, np.sort(regret)[::-1][:4])


def test_optimistic_prefixes_are_those_of_the_tape() -> None:
    stays = optimistic_prefixes(6, 200, 1.1, seed=5, runs=8)
    for run in range(8):
        tape = np.array([arm_tape(arm, 0.0, 200, 5, run) for arm in range(6)])
        expected = optimists(tape, np.zeros(6), 1.1)
        assert (stays[run, 2:] == 200).tolist() == expected[2:].tolist()
    first = optimistic_prefixes(6, 200, 1.1, seed=5, runs=8, enough=True)
    for row, full in zip(first == 200, stays == 200, strict=True):
        assert row[2:].argmax() == full[2:].argmax()


def test_shared_noise_makes_all_arms_alike() -> None:
    stays = optimistic_prefixes(5, 100, 1.1, seed=5, runs=8, shared=True)
    assert (stays == stays[:, :1]).all()


def test_optimism_times_are_those_of_the_indices() -> None:
    setting = RunSetting(worst_case(3, 0.5), 1.1, 0.5, 300)
    gaps = np.array([0.0, 0.05, 0.5])
    times = optimism_times(setting, OCUCBn(1.1, 0.5), -gaps / 2.0, seed=7, runs=40)
    assert (times > 1).any()
    for row in range(40):
        choices = play(Shard(setting.problem, OCUCBn(1.1, 0.5), 300, (300,), 7, row, 1, trace=300)).choices[0]
        tape = np.array([arm_tape(arm, mean, 300, 7, row) for arm, mean in enumerate(setting.problem.means)])
        largest = Run(setting, choices, tape).indices.max(axis=1)
        assert times[row].tolist() == [optimism_time(largest, 0.0, gap, first=4) for gap in gaps.tolist()]


def test_the_settings_are_sorted_best_arm_first() -> None:
    for setting in settings(100):
        assert (np.diff(setting.problem.means) <= 0.0).all()
