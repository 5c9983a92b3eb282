"""What the page says of which arm is best, and of shares."""

from __future__ import annotations

from pathlib import Path

from ocucb import Bernoulli
from ocucb.service.requests import Decide, ImportLog, Inspect, SetWinnerRule
from ocucb.service.web.page.arms import Sorting
from ocucb.service.web.page.summary import ExperimentSummary
from service.helpers import Node


def test_a_winner_is_said_and_intervals_are_right_at_all_times(tmp_path: Path) -> None:
    node = Node(f"sqlite:///{tmp_path / 'page.db'}")
    node.create(noise=Bernoulli(), shares=(("red", 0.1),))
    summary = ExperimentSummary(node.ask(Inspect("colours")))
    assert summary.verdict == ("No winner yet.", "3 arms may be the best.")
    assert ("Shares", "red 10 %") in summary.facts
    node.ask(ImportLog("colours", (("red", 1.0), ("green", 1.0), ("blue", 0.0), ("red", 0.0)) * 9))
    summary = ExperimentSummary(node.ask(Inspect("colours")))
    assert summary.verdict[0] == "No winner yet."
    assert summary.verdict[1].startswith("2 arms may be the best; 1 ruled out. About ")
    assert summary.open_arms == {"red", "green"}
    rows = {row.arm: row for row in summary.arms.page(Sorting()).rows}
    low, high = (float(end.replace("−", "-")) for end in rows["red"].interval.split(" to "))
    assert low < 0.29 < 0.71 < high  # wider than Wilson's, which is 0.29 to 0.71
    assert summary.intervals_note.startswith("Intervals are right at all times at once")
    node.ask(ImportLog("colours", (("red", 1.0), ("green", 1.0), ("blue", 0.0), ("red", 0.0)) * 200))
    assert ExperimentSummary(node.ask(Inspect("colours"))).verdict[0] == "green is the best arm."
    node.ask(SetWinnerRule("colours", 0.99))
    assert ("Winner", "alone is played once it is certain at 99 %") in ExperimentSummary(
        node.ask(Inspect("colours"))
    ).facts
    node.ask(Decide("colours"))
    assert ExperimentSummary(node.ask(Inspect("colours"))).verdict == (
        "green has won and is the only arm played.",
        "It was certain at 99 %.",
    )
    node.close()
