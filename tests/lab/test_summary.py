"""The table of a result: numbers by hand, runs that were not played, and how it reads."""

from __future__ import annotations

import math

import numpy as np
import pytest

from ocucb.errors import ParameterError
from ocucb.lab.runs import best_arm_shares, difference_samples, pull_shares, regret_samples
from ocucb.lab.statistics import interval
from ocucb.lab.summary import summarize
from sample_results import made_up, played, study

NOT_RUN = math.nan


def test_only_checkpoints_can_be_asked_for() -> None:
    dataset = played(study(horizon=50, runs=2))
    with pytest.raises(ParameterError, match="t must be a checkpoint of the result, got 47; the last is 50"):
        regret_samples(dataset, "mixed_gaps", "UCB", t=47)


def test_paired_differences_use_the_runs_that_both_have() -> None:
    dataset, _ = made_up([[1.0, 2.0, 3.0, NOT_RUN], [2.0, NOT_RUN, 6.0, 100.0]], np.ones((2, 4, 2)), (0.0, -1.0))
    estimate = interval(difference_samples(dataset, "means", "policy 1", "policy 0", t=10))
    assert estimate.mean == pytest.approx(2.0)  # of 2 - 1 and 6 - 3
    assert estimate.standard_error == pytest.approx(1.0)


def test_paired_differences_are_known_better_than_means() -> None:
    dataset = played(study(horizon=300, runs=200))
    paired = interval(difference_samples(dataset, "mixed_gaps", "UCB", "OCUCB-n", t=300))
    one, other = (interval(regret_samples(dataset, "mixed_gaps", policy, t=300)) for policy in ("UCB", "OCUCB-n"))
    assert paired.mean == pytest.approx(float(one.mean - other.mean))
    assert paired.standard_error < 0.7 * math.hypot(float(one.standard_error), float(other.standard_error))


def test_best_arm_share_counts_every_optimal_arm() -> None:
    pulls = np.array([[[6, 1, 3], [2, 4, 4], [-1, -1, -1]]])
    dataset, experiment = made_up([[1.0, 2.0, NOT_RUN]], pulls, (0.5, 0.2, 0.5))
    problem = experiment.problems[0]
    estimate = interval(best_arm_shares(dataset, problem, "policy 0"))
    assert estimate.mean == pytest.approx((0.9 + 0.6) / 2)
    assert estimate.low < 0.6
    np.testing.assert_allclose(pull_shares(dataset, problem, "policy 0").mean(axis=0), [0.4, 0.25, 0.35])


def test_problems_with_fewer_arms_ignore_the_rest() -> None:
    experiment = study(horizon=100, runs=3)
    shares = pull_shares(played(experiment), experiment.problems[1], "UCB")
    assert shares.shape == (3, 4)
    np.testing.assert_allclose(shares.sum(axis=1), 1.0)


def test_summary_by_hand() -> None:
    pulls = np.array([[[8, 2], [6, 4], [7, 3]], [[5, 5], [5, 5], [-1, -1]]])
    dataset, experiment = made_up([[2.0, 4.0, 3.0], [5.0, 5.5, NOT_RUN]], pulls, (0.0, -1.0))
    reference, other = summarize(dataset, experiment)
    assert (reference.policy, reference.problem, reference.runs) == ("policy 0", "means", 3)
    assert reference.mean == reference.median == pytest.approx(3.0)
    assert reference.standard_error == pytest.approx(1 / math.sqrt(3))
    assert reference.best_arm_share == pytest.approx(0.7)
    assert [reference.q05, reference.q95] == pytest.approx([2.1, 3.9])
    assert math.isnan(reference.difference)
    assert math.isnan(reference.difference_low)
    assert [other.runs, other.mean, other.difference] == pytest.approx([2, 5.25, 2.25])
    assert other.difference_low < 2.25 < other.difference_high
    assert other.best_arm_share == pytest.approx(0.5)


def test_summary_covers_problems_and_policies_in_order_even_if_one_was_not_run() -> None:
    experiment = study(horizon=50, runs=4)
    dataset = played(experiment)
    dataset["regret"].to_numpy()[1, 2] = np.nan
    dataset["pulls"].to_numpy()[1, 2] = -1
    rows = summarize(dataset, experiment, "bca")
    labels = [label for label, _ in experiment.policies]
    assert [(row.problem, row.policy) for row in rows] == [
        (problem.name, label) for problem in experiment.problems for label in labels
    ]
    assert [row.runs for row in rows] == [4, 4, 4, 4, 4, 0]
    assert math.isnan(rows[-1].mean)
    assert math.isnan(rows[-1].best_arm_share)
    for row in rows[:-1]:
        assert row.low <= row.mean <= row.high
        assert row.mean == regret_samples(dataset, row.problem, row.policy, t=50).mean()


def test_statistics_do_not_depend_on_the_order_of_dimensions() -> None:
    experiment = study(horizon=50, runs=4)
    dataset = played(experiment)
    turned = dataset.transpose("t", "arm", "run", "policy", "problem")
    assert str(summarize(dataset, experiment)) == str(summarize(turned, experiment))


def test_it_reads_as_a_table() -> None:
    pulls = np.array([[[8, 2], [6, 4], [7, 3]], [[5, 5], [5, 5], [-1, -1]]])
    dataset, experiment = made_up([[2.0, 4.0, 3.0], [5.0, 5.5, NOT_RUN]], pulls, (0.0, -1.0))
    printed = str(summarize(dataset, experiment)).splitlines()
    assert printed[0] == "means"
    assert printed[2].split() == ["policy", "regret", "difference", "to", "policy", "0", "best", "arm"]
    assert printed[4] == "policy 0   3.0 ± 2.5                        –     70.0 %"
    assert printed[5].startswith("policy 1   5.2 ± 3.2")
    assert printed[-1].startswith("± is half a 95 % interval")


def test_in_a_notebook_labels_are_text() -> None:
    experiment = study(policies=[("<b>&", study().policies[0][1])], horizon=50, runs=3)
    page = summarize(played(experiment), experiment)._repr_html_()
    assert "<td>&lt;b&gt;&amp;</td>" in page
    assert page.count("<table>") == page.count("</table>") == 2
    assert page.count("<caption>mixed_gaps</caption>") == 1
