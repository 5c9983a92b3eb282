"""The figure of the author's four studies at full size, from what `benchmarks/gpu_studies.py` measured.

python -m benchmarks.gpu_studies_figure     # writes docs/images/studies.png
"""

from __future__ import annotations

import json
from pathlib import Path

from matplotlib.figure import Figure

from benchmarks.table import RESULTS
from ocucb.lab.figure_style import figure_style, line_style, set_scales

PANELS = {
    "equal-gaps-2": ("2 arms, n = 5,000", "gap"),
    "equal-gaps-10": ("10 arms, n = 5,000", "gap"),
    "equal-gaps-100": ("100 arms, n = 5,000", "gap"),
    "mixed-gaps": ("10 arms, mixed gaps", "horizon n"),
}


def main() -> None:
    """Draw and write."""
    means = json.loads((RESULTS / "gpu_studies.json").read_text())
    with figure_style():
        figure = Figure(figsize=(7.5, 6.4), layout="constrained")
        for axes, (study, (title, label)) in zip(figure.subplots(2, 2).flat, PANELS.items(), strict=True):
            policies = [name.partition("/")[2] for name in means if name.startswith(f"{study}/")]
            for number, policy in enumerate(policies):
                rows, style = means[f"{study}/{policy}"], {**line_style(number), "marker": "", "linewidth": 1.4}
                axes.plot([row[0] for row in rows], [row[1] for row in rows], label=policy, **style)
            axes.set(title=title, xlabel=label, ylabel="mean regret")
            axes.set_ylim(bottom=0.0)
            axes.set_xlim(rows[0][0], rows[-1][0])
            set_scales(axes, "log" if study == "mixed-gaps" else "linear", "linear")
        handles, labels = axes.get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside lower center", ncols=3, frameon=False)
        figure.savefig(Path(__file__).parent.parent / "docs/images/studies.png", dpi=170)


if __name__ == "__main__":
    main()
