"""Tables that show themselves in a notebook."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from html import escape

MAX_ROWS = 30  # more than that are counted, not shown


def html_table(captions: Sequence[str], header: Sequence[str], rows: Iterable[Sequence[str]], more: int = 0) -> str:
    """Return a table; `more` is how many rows are left out."""
    head = "".join(f"<th>{escape(cell)}</th>" for cell in header)
    body = "".join(f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in row)}</tr>" for row in rows)
    if more > 0:
        body += f'<tr><td colspan="{len(header)}">and {more:,} more</td></tr>'
    caption = f"<caption>{'<br>'.join(map(escape, captions))}</caption>"
    return f"<table>{caption}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def cell(value: float) -> str:
    """Return a number as a cell shows it.

    >>> [cell(value) for value in (0.123456, 1234.0, float("inf"), float("nan"))]
    ['0.1235', '1234', '∞', '–']
    """
    if math.isnan(value):
        return "–"
    return ("∞" if value > 0 else "−∞") if math.isinf(value) else f"{value:.4g}".replace("-", "−")
