"""Print a table, and keep it in benchmarks/results/."""

from __future__ import annotations

from pathlib import Path

RESULTS = Path(__file__).parent / "results"


def write(name: str, about: str, header: list[str], rows: list[list[str]]) -> None:
    """Print a Markdown table and write it to results/<name>.md under its description."""
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / f"{name}.md").write_text(f"# {name}\n\n{about.strip()}\n\n{_table(header, rows)}\n", encoding="utf-8")


def append(name: str, header: list[str], rows: list[list[str]]) -> None:
    """Print one more table and write it below the others of results/<name>.md."""
    with (RESULTS / f"{name}.md").open("a", encoding="utf-8") as file:
        file.write(f"\n{_table(header, rows)}\n")


def _table(header: list[str], rows: list[list[str]]) -> str:
    """Print a Markdown table, and return it."""
    widths = [max(map(len, column)) for column in zip(header, *rows, strict=True)]
    lines = [
        "| " + " | ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True)) + " |"
        for row in [header, ["-" * width for width in widths], *rows]
    ]
    print("\n".join(lines))
    return "\n".join(lines)
