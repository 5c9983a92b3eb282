"""The figures of the gallery, each by the command that its page shows; at most minutes in all on an idle machine.

Commands write into a folder under .cache/gallery, where the same command again goes on or shows what it has; their
figures are kept small in docs/images/gallery. Three are drawn here, of what other commands have measured.

    python -m benchmarks.gallery
    python -m benchmarks.gallery NAME
"""

from __future__ import annotations

import csv
import shlex
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure
from PIL import Image

from ocucb.lab import Result
from ocucb.lab.figure_style import blank_figure, figure_style, line_style, save_figure
from ocucb.lab.plots import final_regret_figure

ROOT = Path(__file__).parent.parent
FOLDER = ROOT / ".cache" / "gallery"
IMAGES = ROOT / "docs" / "images" / "gallery"
COLOURS = 64
WIDTH = 5.0  # inches

DRIFT = (
    'compare --problem "switching(10, 0.5, 2000, 5)" --horizon 10000 --runs 200 --policy ocucb-n '
    '--policy "ocucb-n with window(1000)" --policy "ocucb-n with discount(0.999)" --policy "ucb with window(1000)" '
    "--policy thompson-sampling --output drift"
)
COMMANDS = {  # what is played, and the figure that the command draws
    "time": ("compare --runs 400 --horizon 10000 --output time", "regret.png"),
    "gap": ("run equal-gaps-10 --output gap", "regret.png"),
    "arms": ("run docs/gallery/arms.toml --output arms", "regret.png"),
    "delay": ("run docs/gallery/delay.toml --output delay", "regret.png"),
    "drift": (DRIFT, "regret.png"),
    "verdicts": ("identify --output verdicts", "verdicts.png"),
}


def main(names: list[str]) -> None:
    """Make the figures, all or those named."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    IMAGES.mkdir(parents=True, exist_ok=True)
    for name in names or [*COMMANDS, *DRAWN]:
        if name in COMMANDS:
            command, figure = COMMANDS[name]
            play(command)
            shrink(FOLDER / name / figure, name)
        else:
            draft = FOLDER / f"{name}.png"
            save_figure(DRAWN[name](), draft)
            shrink(draft, name)


def play(command: str) -> None:
    """Run a command in the folder; a study is found from there."""
    words = command.replace("docs/gallery", str(ROOT / "docs" / "gallery"))
    subprocess.run([sys.executable, "-m", "ocucb.cli", *shlex.split(words)], cwd=FOLDER, check=True)


def shrink(figure: Path, name: str) -> None:
    """Keep a figure with few colours."""
    with Image.open(figure) as image:
        image.convert("RGB").quantize(COLOURS).save(IMAGES / f"{name}.png", optimize=True)


def worst_case() -> Figure:
    """Draw the largest regret over all gaps, of the study of the gap."""
    play(COMMANDS["gap"][0])
    with (FOLDER / "gap" / "table.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    policies = list(dict.fromkeys(row["policy"] for row in rows))
    worst = [max((row for row in rows if row["policy"] == one), key=lambda row: float(row["mean"])) for one in policies]
    with figure_style():
        figure, axes = blank_figure(WIDTH, 0.45)
        for place, row in enumerate(worst):
            mean, half = float(row["mean"]), (float(row["high"]) - float(row["low"])) / 2.0
            axes.barh(place, mean, xerr=half, height=0.6, color=line_style(place)["color"], alpha=0.8)
            axes.text(mean + 2.0 * half, place, f"  at gap {float(row['gap']):g}", va="center", fontsize=7)
        axes.set_yticks(range(len(worst)), policies)
        axes.invert_yaxis()
        axes.set_xlim(0.0, 1.25 * max(float(row["mean"]) for row in worst))
        axes.set_xlabel("largest regret over 15 gaps, ten arms, n = 5,000")
    return figure


def distribution() -> Figure:
    """Draw how regret is distributed over runs, of the comparison over time."""
    play(COMMANDS["time"][0])
    result = Result.load(FOLDER / "time" / "results.zarr")
    return final_regret_figure(result.dataset, result.experiment.problems[0], width=WIDTH)


def gpu() -> Figure:
    """Draw the speed of a GPU, of the table that `python -m benchmarks.gpu` has written."""
    text = (ROOT / "benchmarks" / "results" / "gpu.md").read_text(encoding="utf-8")
    cells = [[cell.strip() for cell in line.split("|")[1:-1]] for line in text.splitlines() if line.startswith("|")]
    rows = [dict(zip(cells[0], row, strict=True)) for row in cells[2:]]
    rows = [row for row in rows if row["noise"] == "gaussian" and row["n"] in ("10,000", "1,000,000")]
    with figure_style():
        figure, axes = blank_figure(WIDTH, 0.55)
        speeds = np.array([float(row["steps/s"]) for row in rows])
        colours = [line_style(row["policy"] != "ocucb-n")["color"] for row in rows]
        axes.barh(range(len(rows)), speeds, height=0.6, color=colours, alpha=0.8)
        for place, speed in enumerate(speeds):
            axes.text(speed * 1.1, place, f"{speed / 1e9:.2g}", va="center", fontsize=7)
        axes.set_yticks(range(len(rows)), [f"{row['policy']}, {row['K']} arms, n = {row['n']}" for row in rows])
        axes.invert_yaxis()
        axes.set_xscale("log")
        axes.set_xlim(right=10.0 * speeds.max())
        axes.xaxis.set_major_formatter(lambda value, _: f"{value / 1e9:g}")
        axes.set_xlabel("billions of simulated rounds per second on one H200")
    return figure


DRAWN: dict[str, Callable[[], Figure]] = {"worst_case": worst_case, "distribution": distribution, "gpu": gpu}

if __name__ == "__main__":
    main(sys.argv[1:])
