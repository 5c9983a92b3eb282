"""Print a table, and keep it in benchmarks/results/."""

from __future__ import annotations

from pathlib import Path

RESULTS = Path(__file__).parent / "results"


def write(name: str, about: str, header: list[str], rows: list[list[str]]) -> None:
    """Print a Markdown table and write it to results/<name>.md under its description."""
    widths = [max(map(len, column)) for column in zip(header, *rows, strict=True)]
    lines = [
        "| " + " | ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True)) + " |"
        for row in [header, ["-" * width for width in widths], *rows]
    ]
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / f"{name}.md").write_text(f"# {name}\n\n{about.strip()}\n\n" + "\n".join(lines) + "\n", encoding="utf-8")
    print("\n".join(lines))
