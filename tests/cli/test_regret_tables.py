"""Tables of regret."""

from __future__ import annotations

import io
import itertools
import math

from rich.console import Console

from ocucb import UCB
from ocucb.cli.regret_tables import comparison_table, sweep_tables
from ocucb.lab import Experiment, SummaryRow, Sweep, mixed_gaps
from ocucb.lab.summary import with_error


def test_a_sweep_of_many_policies_shows_them_all() -> None:
    labels = [f"policy {i}" for i in range(9)]
    rows = [SummaryRow("mixed_gaps", label, 9, 100.0 + i, *[1.0] * 10) for i, label in enumerate(labels)]
    sweep = Sweep("gap", "gap", "linear", {})
    for width in (40, 80, 200):
        screen = Console(width=width, record=True, file=io.StringIO())
        screen.print(*sweep_tables(sweep, "mixed_gaps", [(0.1, rows), (0.2, rows)], width), sep="\n")
        text = screen.export_text()
        assert all(label in text for label in labels)
        assert text.count("108 ± 0") == 2


def test_with_error() -> None:
    assert with_error(1234.5678, 3.21) == "1,234.6 ± 3.2"
    assert with_error(1234.5678, 321.0) == "1,235 ± 321"
    assert with_error(-0.012341, 0.00021, "+") == "−0.01234 ± 0.00021"
    assert with_error(5.0, 0.0, "+") == "+5 ± 0"
    assert with_error(math.nan, math.nan) == "–"


def row(policy: str, mean: float, difference: tuple[float, float, float]) -> SummaryRow:
    return SummaryRow("mixed_gaps", policy, 9, mean, 1.0, mean - 2.0, mean + 2.0, *difference, 0.5, mean, mean, mean)


def test_the_least_regret_is_bold_and_differences_that_are_sure_have_colours() -> None:
    nothing = (math.nan, math.nan, math.nan)
    rows = [
        row("first", 100.0, nothing),
        row("worse", 120.0, (20.0, 15.0, 25.0)),
        row("better", 90.0, (-10.0, -15.0, -5.0)),
        row("perhaps worse", 101.0, (1.0, -2.0, 4.0)),
        row("perhaps better", 99.0, (-1.0, -4.0, 2.0)),
    ]
    policies = tuple((one.policy, UCB()) for one in rows)
    experiment = Experiment((mixed_gaps(),), policies, horizon=100, runs=9)
    screen = Console(width=120, file=io.StringIO(), force_terminal=True, color_system="standard", _environ={})
    with screen.capture() as shown:
        screen.print(comparison_table(experiment.problems[0], rows, experiment))
    lines = {one.policy: line for line in shown.get().splitlines() for one in rows if line.startswith(f"{one.policy} ")}
    bold, red, green = "\x1b[1m", "\x1b[31m", "\x1b[32m"
    assert [name for name, line in lines.items() if bold in line] == ["better"]
    assert [name for name, line in lines.items() if red in line] == ["worse"]
    assert [name for name, line in lines.items() if green in line] == ["better"]
    assert "n = 100, 9 runs of each policy, seed 0" in shown.get()


def test_a_long_sweep_shows_both_ends_and_some_between() -> None:
    sweep = Sweep("gap", "gap", "linear", {})
    points = [(float(place), [row("ucb", 100.0 + place, (0.0, 0.0, 0.0))]) for place in range(1, 51)]
    screen = Console(width=120, record=True, file=io.StringIO())
    screen.print(*sweep_tables(sweep, "mixed_gaps", points, 120), sep="\n")
    text = screen.export_text()
    values = [int(words[0]) for words in map(str.split, text.splitlines()) if words and words[0].isdigit()]
    assert (len(values), values[0], values[-1]) == (20, 1, 50)
    assert {later - earlier for earlier, later in itertools.pairwise(values)} <= {2, 3}
    assert "20 of 50 values, all are in table.csv" in text
