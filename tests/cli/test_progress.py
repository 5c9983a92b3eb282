"""How far experiments have come, and how fast."""

from __future__ import annotations

import pytest

from ocucb.cli.progress import Pace, clock
from ocucb.lab import Experiment, Progress, mixed_gaps
from ocucb.policies import POLICIES


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
