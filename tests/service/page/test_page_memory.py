"""What the page says of an experiment that forgets, and of its latest decisions."""

from __future__ import annotations

from pathlib import Path

from ocucb import Bernoulli, Discount, EpsilonGreedy, ThompsonSampling, Window
from ocucb.service.requests import Inspect, Reward, SetStatus
from ocucb.service.web.page.arms import Sorting
from ocucb.service.web.page.latest import read_latest
from ocucb.service.web.page.summary import ExperimentSummary, describe_memory
from service.helpers import ManualClock, Node


def test_remembered_means_and_no_verdict(tmp_path: Path) -> None:
    node = Node(f"sqlite:///{tmp_path / 'page.db'}")
    node.create(noise=Bernoulli(), memory=Window(4))
    for arm, reward in (("red", 1.0), ("green", 1.0), ("blue", 0.0), ("blue", 1.0), ("green", 1.0)):
        node.ask(Reward(node.decide(among=(arm,)).id, reward))
    summary = ExperimentSummary(node.ask(Inspect("colours")))
    assert ("Memory", "the last 4 decisions") in summary.facts
    assert summary.verdict[0] == "No verdict."
    assert summary.panels[2].chart is None
    assert "no intervals" in summary.intervals_note
    assert [column.head for column in summary.arms.titles][3:5] == ["Remembered", "Remembered mean"]
    rows = {row.arm: row for row in summary.arms.page(Sorting("remembered")).rows}
    assert list(rows) == ["green", "blue", "red"]
    assert [(row.pulls, row.remembered, row.mean, row.interval, row.plot) for row in rows.values()] == [
        ("2", "2", "1.000", "", None),
        ("2", "2", "0.500", "", None),
        ("1", "0", "–", "", None),
    ]
    node.close()
    assert describe_memory(Discount(0.99)) == "fades by 0.99 per decision, about 100"


def test_the_latest_decisions_and_their_probabilities(tmp_path: Path) -> None:
    clock = ManualClock()
    node = Node(f"sqlite:///{tmp_path / 'page.db'}", now=clock)
    node.create(policy=EpsilonGreedy(0.5), noise=Bernoulli(), shares=(("blue", 0.2),))
    assert read_latest(node.store, "colours", 1) == ()
    made = [node.decide() for _ in range(10)]
    node.ask(Reward(made[-1].id, 1.0))
    clock.advance(61)
    before = node.ask(Inspect("colours", arms=False)).seq
    node.decide()
    found = read_latest(node.store, "colours", before)
    assert len(found) == 8
    assert (found[0].time, found[0].date) == ("22:13:20", "14 Nov 2023, 22:13 UTC")
    assert (found[0].arm, found[0].outcome, found[1].outcome) == (made[-1].arm, "1", "pending")
    assert [one.probability for one in found] == [f"{100 * (one.probability or 0):.0f} %" for one in made[:1:-1]]
    node.create("drawn", policy=ThompsonSampling(), noise=Bernoulli())
    for _ in range(5):
        node.ask(Reward(node.decide("drawn").id, 1.0))
    node.ask(SetStatus("drawn", "archived"))
    seq = node.ask(Inspect("drawn", arms=False)).seq
    assert [one.probability for one in read_latest(node.store, "drawn", seq)] == ["–", "–", "100 %", "100 %", "100 %"]
    node.close()
