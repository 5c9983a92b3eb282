"""The past of an experiment in pieces: against counts made the plain way."""

from __future__ import annotations

import random
from collections import Counter

import pytest

from ocucb.labels import Label
from ocucb.service import history as module
from ocucb.service.experiment_state import ExperimentState
from ocucb.service.history import MAX_ARMS_PER_SPAN, MAX_SPANS, History
from ocucb.service.requests import AddArm, Inspect
from ocucb.service.text import decode, encode
from service.helpers import Node, folded_state, live_state


@pytest.mark.parametrize("decisions", [0, 1, 239, 240, 241, 480, 481, 5000])
def test_spans_are_equal_pieces_of_all_that_happened(decisions: int) -> None:
    history, draw = History(), random.Random(3)
    arms = [draw.choice("abcde") for _ in range(decisions)]
    for number, arm in enumerate(arms):
        history.decide(arm, number)
        if number % 3 == 0:
            history.reward(1.0)
    spans = history.spans()
    assert len(spans) <= MAX_SPANS
    assert sum(span.decisions for span in spans) == decisions
    assert sum(span.rewards for span in spans) == sum(span.total for span in spans) == (decisions + 2) // 3
    assert len({span.decisions for span in spans[:-1]}) <= 1
    begin = 0
    for span in spans:
        assert span.at == begin
        assert Counter(arms[begin : begin + span.decisions]) == span.pulls
        begin += span.decisions
    assert decisions < MAX_SPANS or len(spans) > MAX_SPANS / 2 - 1


def test_many_arms_are_the_most_frequent_and_the_rest() -> None:
    history = History()
    for number in range(10_000):
        history.decide("often" if number % 2 else number % 997, number)
    spans = history.spans()
    for span in spans:
        assert len(span.pulls) <= MAX_ARMS_PER_SPAN
        assert sum(span.pulls.values()) + span.others == span.decisions
        assert span.pulls.get("often", 0) == span.decisions // 2
    assert any(span.others for span in spans)


@pytest.mark.parametrize("decisions", [0, 1, 700])
def test_saved_and_gone_on_with(decisions: int) -> None:
    one, draw = History(), random.Random(4)
    arms: list[Label] = [1, "1", 2]
    for number in range(decisions):
        one.decide(draw.choice(arms), number)
        one.reward(draw.random())
    two = History.from_dict(one.to_dict())
    for history in (one, two):
        for number in range(400):
            history.decide(number % 50, number)
            history.reward(0.1)
    assert one.to_dict() == two.to_dict()
    assert one.spans() == two.spans()


def test_a_node_has_the_history_of_its_log(node: Node, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MAX_SPANS", 8)
    node.create()
    node.ask(AddArm("colours", "black", metadata={"hex": "#000"}))
    node.play(50)
    view = node.ask(Inspect("colours"))
    assert sum(span.decisions for span in view.history) == sum(span.rewards for span in view.history) == 50
    assert sum(sum(span.pulls.values()) for span in view.history) == sum(view.pulls)
    assert view.added == {"black": {"hex": "#000"}}
    state = live_state(node)
    assert state == folded_state(node.store) == ExperimentState.from_dict(1, decode(encode(state))).to_dict()
