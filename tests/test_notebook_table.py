"""What a notebook shows of bandits, verdicts and problems: tables, with labels as text and a limit to their length."""

from __future__ import annotations

from ocucb import Bandit, OCUCBn
from ocucb.lab import mixed_gaps, worst_case
from ocucb.notebook_table import MAX_ROWS


def test_a_bandit_shows_the_arms_that_were_pulled_most() -> None:
    bandit = Bandit(OCUCBn(), arms=["<b>", *map(str, range(100))])
    for _ in range(150):
        bandit.learn(bandit.choose(), 0.5)
    bandit.learn(bandit.choose(), 7.0)
    page = bandit._repr_html_()
    assert "<b>" not in page
    assert page.count("<tr>") == MAX_ROWS + 2
    assert f"and {101 - MAX_ROWS} more" in page
    assert "OCUCBn" in page
    assert "∞" in Bandit(OCUCBn(), arms=2)._repr_html_()


def test_a_verdict_shows_the_best_arm_or_that_there_is_none() -> None:
    bandit = Bandit(OCUCBn(), arms=["good", "bad"])
    assert "none yet" in bandit.best()._repr_html_()
    bandit.learn_many(["good"] * 200 + ["bad"] * 200, [3.0] * 200 + [0.0] * 200)
    page = bandit.best()._repr_html_()
    assert "<td>best</td><td>good</td>" in page
    assert "<td>ruled out</td><td>bad</td>" in page


def test_a_problem_shows_means_and_gaps() -> None:
    page = mixed_gaps()._repr_html_()
    assert "<td>9</td><td>−1</td><td>1</td>" in page
    assert "more" not in page
    assert "and 70 more" in worst_case(100, 0.1)._repr_html_()
